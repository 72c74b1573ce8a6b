"""`rt4chart gate`, from files to exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.cli import main

PASSAGE = {"id": "kb-1", "text": "The free trial lasts 14 days. Refunds are paid within 30 days."}
CASE = {"id": "trial", "question": "How long is the trial?", "contexts": [PASSAGE]}
BAD, GOOD = "The free trial lasts 30 days.", "The free trial lasts 14 days."


def gate(folder: Path, answer: str, *options: str) -> int:
    """The exit status over one case, by the rules."""
    (folder / "set.jsonl").write_text(json.dumps(CASE | {"answer": BAD, "issue": "i1"}) + "\n")
    (folder / "new.jsonl").write_text(json.dumps({"id": "trial", "answer": answer}) + "\n")
    given = ("--evalset", f"{folder}/set.jsonl", "--answers", f"{folder}/new.jsonl")
    return main(["gate", *given, "--judge", "rules", *options])


def test_the_answer_that_made_the_case_fails_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A faithful one passes it."""
    assert gate(tmp_path, BAD) == 1
    assert (
        "failed: 100.0% of the claims are unfaithful or misleading, at most 5.0%"
        in capsys.readouterr().out
    )
    assert gate(tmp_path, GOOD) == 0
    assert capsys.readouterr().out.startswith("passed: set, rules/")


def test_a_run_is_kept_and_held_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name that it was saved under; the summaries are written beside."""
    monkeypatch.chdir(tmp_path)

    assert gate(tmp_path, GOOD, "--save", "main", "--markdown", "m.md") == 0
    status = gate(
        tmp_path, BAD, "--baseline", "main", "--max-rate", "1", "--markdown", "m.md", "--junit", "j"
    )

    assert status == 0
    assert "0.0% before, 100.0% now over 1 cases; 1 worse" in capsys.readouterr().out
    assert (tmp_path / "m.md").read_text().count("### ") == 2
    assert "testsuite" in (tmp_path / "j").read_text()


def test_json_is_one_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For machines."""
    assert gate(tmp_path, BAD, "--json") == 1
    assert json.loads(capsys.readouterr().out)["cases"][0]["unfaithful"] == 1


def test_wrong_use_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A baseline that is not there or is nested too deeply, a summary that cannot be written."""
    assert gate(tmp_path, GOOD, "--baseline", f"{tmp_path}/none.json") == 2
    (tmp_path / "deep.json").write_text("[" * 100_000)
    assert gate(tmp_path, GOOD, "--baseline", f"{tmp_path}/deep.json") == 2
    assert gate(tmp_path, GOOD, "--junit", f"{tmp_path}/no/where") == 2
    said = capsys.readouterr().err
    assert "expected a result that --save has written" in said
    assert "expected a file that can be written" in said
