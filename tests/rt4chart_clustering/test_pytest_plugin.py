"""The fixture `rt4chart_gate`, in a pytest of its own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.comparison.releases import HOUR, NEW, OLD, answered

pytest_plugins = ["pytester"]
CASE = {
    "id": "trial",
    "question": "How long is the trial?",
    "contexts": ["The free trial lasts 14 days."],
    "answer": "The free trial lasts 30 days.",
}
TESTS = """
def test_copied(rt4chart_gate):
    found = rt4chart_gate.assert_open("set.jsonl", lambda question, passages: passages[0])
    assert found.result.cases[0].decided == 1

def test_invented(rt4chart_gate):
    wrong = "The free trial lasts 30 days."
    rt4chart_gate.assert_open("set.jsonl", lambda question, passages: wrong)

def test_miscounted(rt4chart_gate):
    rt4chart_gate.assert_open("set.jsonl", lambda question, passages: passages[0], count="none")
"""


RELEASES = """
import os
WRONG = "The free trial lasts 30 days."

def test_stored(rt4chart_gate):
    gate = rt4chart_gate.assert_open
    gate("set.jsonl", lambda question, passages: WRONG, release="2.4.0", dsn=os.environ["RELEASED"])

def test_not_stored(rt4chart_gate, tmp_path):
    gate = rt4chart_gate.assert_open
    gate("set.jsonl", lambda question, passages: WRONG, release="2.4.0", dsn=f"chdb://{tmp_path}/no")
"""
# LangSmith's plugin costs every start of pytest a second.
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")


def test_the_gate_s_words_are_the_failure(pytester: pytest.Pytester) -> None:
    """An application that copies passes; one that invents fails with the rate and the claim.

    So does a gate that counts claims of no kind.
    """
    Path(pytester.path, "set.jsonl").write_text(json.dumps(CASE))
    pytester.makepyfile(TESTS)

    result = pytester.runpytest_subprocess("-q", "--rt4chart-judge", "rules", *PLUGINS)

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*failed: 100.0% of the claims are unfaithful or misleading, at most 5.0% is allowed*",
            "*InputError: count: expected unfaithful, misleading, either, got 'none'*",
        ]
    )


def test_a_release_leads_to_its_comparison(
    pytester: pytest.Pytester, client: Client, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report of a gate that fails has the command; without a database, stderr says so."""
    now_ns = time.time_ns()
    releases = [
        answered(at, name, start_ns=now_ns - (3 - at) * HOUR) for at, name in enumerate((OLD, NEW))
    ]
    insert_verdicts(client, releases)
    Path(pytester.path, "set.jsonl").write_text(json.dumps(CASE))
    pytester.makepyfile(RELEASES)
    monkeypatch.setenv("RELEASED", dsn)

    # In this process, which has the database open.
    result = pytester.runpytest_inprocess("-q", "--rt4chart-judge", "rules", *PLUGINS)

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines_random(
        [
            "*releases side by side: rt4chart compare --since 30d --measure either 2.3.0 2.4.0*",
            "rt4chart_gate: no comparison of releases: *",
        ]
    )
