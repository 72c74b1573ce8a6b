"""`rt4chart evalset` and the gate over what it released, on one database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import list_issues
from tests.rt4chart_clustering.evalset.made import NOON, stored, trace

ASKED = ("How long is the trial?", "What is the trial period?", "Trial length, please?")
SAID = (
    "The free trial lasts 30 days.",
    "Your free trial lasts 60 days in all.",
    "Up to 90 days is how long the free trial lasts for you.",
)


@pytest.fixture
def issue(client: Client, dsn: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of an issue of three answers, in the database that commands use."""
    monkeypatch.setenv("RT4CHART_DSN", dsn)
    pairs = enumerate(zip(ASKED, SAID, strict=True), start=1)
    stored(client, [trace(number, asked, said) for number, (asked, said) in pairs])
    group_failures(client, HashingEmbedder(), HdbscanGrouping(2), since_ns=0, now_ns=NOON + 10**9)
    (found,) = list_issues(client)
    return hex_id(found.id)


def test_failures_become_a_release_that_the_gate_holds(
    issue: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answers that caused it make the gate fail, faithful ones make it pass."""
    assert main(["evalset", "promote", issue, "--n", "2", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)["new"]
    assert len(names) == 2
    assert main(["evalset", "review", "regressions", "--approve", names[0], "--by", "jo"]) == 0
    assert main(["evalset", "review", "regressions", "--reject", "all", "--note", "odd"]) == 0
    assert "1 decided, 0 pending" in capsys.readouterr().out
    assert main(["evalset", "release", "regressions"]) == 0
    assert capsys.readouterr().out.startswith("regressions@1;")
    assert main(["evalset", "list"]) == 0
    assert "0 pending, 1 approved, 1 rejected, release 1" in capsys.readouterr().out
    assert main(["evalset", "export", "regressions@1", "--out", str(tmp_path)]) == 0
    assert main(["evalset", "export", "regressions@1", "--out", str(tmp_path)]) == 2
    assert "--force writes over it" in capsys.readouterr().err

    (case,) = map(json.loads, (tmp_path / "regressions-1.jsonl").read_text().splitlines())
    assert (case["id"], case["issue"]) == (names[0], issue)
    for answer, status in ((case["answer"], 1), ("The free trial lasts 14 days.", 0)):
        (tmp_path / "new.jsonl").write_text(json.dumps({"id": names[0], "answer": answer}))
        given = ("--evalset", "regressions", "--answers", f"{tmp_path}/new.jsonl")
        assert main(["gate", *given, "--judge", "rules"]) == status
    assert "passed: regressions@1, rules/" in capsys.readouterr().out


def test_promoting_again_changes_no_decision(
    issue: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case that was rejected does not come back."""
    assert main(["evalset", "promote", issue]) == 0
    assert main(["evalset", "review", "regressions", "--reject", "all"]) == 0
    assert main(["evalset", "promote", issue]) == 0

    assert "regressions: 0 new cases to review (3 were in the set" in capsys.readouterr().out
    assert main(["evalset", "show", "regressions", "--state", "pending", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["promote", "ISSUE", "--to", "a/b"], "expected the name of an eval set"),
        (["promote", "ISSUE", "--n", "0"], "--n: expected 1 or more, got 0"),
        (["promote", "ISSUE", "--by", "rt4chart"], "--by: expected a person's name"),
        (["promote", "ISSUE", "--by", " "], "--by: expected a person's name"),
        (["promote", "ffffffffffffffff"], "expected the id of an issue"),
        (["review", "regressions"], "expected a terminal for the questions"),
        (["review", "regressions", "--approve", "x"], "expected the id of a case of the set"),
        (["release", "regressions"], "expected at least one approved case, got none"),
        (["export", "regressions"], "'regressions' is no file and has no release"),
    ],
)
def test_wrong_use_is_told(
    issue: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was expected, and what to do."""
    given = [issue if word == "ISSUE" else word for word in words]

    assert main(["evalset", *given]) == 2
    assert message in capsys.readouterr().err
