"""`rt4chart gate`, from files to exit status."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.comparison.releases import HOUR, NEW, OLD, answered

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


def test_a_release_leads_to_its_comparison_with_that_of_the_baseline(
    tmp_path: Path,
    client: Client,
    dsn: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command that the report names runs, and the page has the console's address."""
    monkeypatch.setenv("RT4CHART_ALERTS_CONSOLE", "https://c.example")
    monkeypatch.setenv("RT4CHART_DSN", dsn)
    kept = f"{tmp_path}/main.json"
    now_ns = time.time_ns()
    insert_verdicts(
        client,
        [
            answered(at, release, start_ns=now_ns - (3 - at) * HOUR)
            for at, release in enumerate((OLD, "2.3.5", NEW))
        ],
    )

    assert gate(tmp_path, GOOD, "--release", OLD, "--save", kept) == 0
    assert "No release before 2.3.0" in capsys.readouterr().err
    assert gate(tmp_path, GOOD, "--release", NEW, "--baseline", kept, "--json") == 0
    compared = json.loads(capsys.readouterr().out)["releases"]
    assert (compared["a"], compared["b"]) == (OLD, NEW)
    assert compared["url"].startswith("https://c.example/compare?by=release&a=2.3.0&b=2.4.0")
    assert main(shlex.split(compared["command"])[1:]) == 0
    assert "2.4.0" in capsys.readouterr().out
    assert gate(tmp_path, GOOD, "--release", NEW, "--markdown", f"{tmp_path}/m.md") == 0
    command = "rt4chart compare --since 30d --measure either 2.3.5 2.4.0"
    assert f"\nreleases side by side: {command}\n  https://" in capsys.readouterr().out
    assert f"`{command}`, [in the console](https://" in (tmp_path / "m.md").read_text()


def test_a_gate_without_a_comparison_decides_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no database, a note says so."""
    nowhere = f"{tmp_path}/nowhere"

    assert gate(tmp_path, GOOD, "--release", NEW, "--dsn", nowhere, "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["releases"] is None
    assert "rt4chart gate: no comparison of releases: " in said.err
    assert gate(tmp_path, BAD, "--release", NEW, "--dsn", nowhere) == 1
    assert "side by side" not in capsys.readouterr().out


@pytest.fixture
def cites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer must cite."""
    file = tmp_path / "criteria.toml"
    file.write_text('[[criteria]]\nname = "cites"\nkind = "must_cite"\n')
    monkeypatch.setenv("RT4CHART_CRITERIA", str(file))


@pytest.mark.usefixtures("cites")
def test_a_criterion_may_fail_on_a_share_of_the_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beyond it the gate fails; a criterion without a limit is only reported."""
    assert gate(tmp_path, GOOD) == 0
    assert "criterion cites: 1 of 1 answers fail (100.0%" in capsys.readouterr().out
    assert gate(tmp_path, GOOD, "--criterion", "cites=0.5") == 1
    assert "failed: cites: 1 of 1 answers fail" in capsys.readouterr().out
    assert (
        gate(
            tmp_path, f"{GOOD[:-1]} [kb-1].", "--criterion", "cites=0", "--max-rate", "1", "--json"
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["criteria"]["cites"]["failed"] == 0
    assert found["cases"][0]["criteria"] == {"cites": "pass"}


@pytest.mark.usefixtures("cites")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("length=0.1", "--criterion: expected one of cites; got 'length'"),
        ("cites", "expected NAME=SHARE"),
        ("cites=20", "20"),
    ],
)
def test_a_limit_on_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, told: str
) -> None:
    """It would let everything pass."""
    try:
        status: object = gate(tmp_path, GOOD, "--criterion", given)
    except SystemExit as ended:
        status = ended.code

    assert status == 2
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("cites")
def test_criteria_are_kept_with_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later run reads them with the baseline."""
    monkeypatch.chdir(tmp_path)

    assert gate(tmp_path, GOOD, "--save", "main", "--markdown", "m.md") == 0
    assert gate(tmp_path, GOOD, "--baseline", "main") == 0
    assert "| `cites` | 1 of 1 answers fail" in (tmp_path / "m.md").read_text()


def test_a_criterion_that_decided_nothing_fails_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence is no pass."""
    file = tmp_path / "criteria.toml"
    condition = "when_question = 'refund'"
    file.write_text(f'[[criteria]]\nname = "cites"\nkind = "must_cite"\n{condition}\n')
    monkeypatch.setenv("RT4CHART_CRITERIA", str(file))

    assert gate(tmp_path, GOOD, "--criterion", "cites=0.5") == 1
    assert "cites: no answer was decided, so there is no rate" in capsys.readouterr().out
