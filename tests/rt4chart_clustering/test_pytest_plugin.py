"""The fixture `rt4chart_gate`, in a pytest of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
"""


def test_the_gate_s_words_are_the_failure(pytester: pytest.Pytester) -> None:
    """An application that copies passes; one that invents fails with the rate and the claim."""
    Path(pytester.path, "set.jsonl").write_text(json.dumps(CASE))
    pytester.makepyfile(TESTS)

    # LangSmith's plugin costs every start of pytest a second.
    plugins = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")
    result = pytester.runpytest_subprocess("-q", "--rt4chart-judge", "rules", *plugins)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*failed: 100.0% of the claims are unfaithful or misleading, at most 5.0% is allowed*"]
    )
