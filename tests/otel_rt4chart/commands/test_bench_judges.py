"""Several judges over the same rows, published detectors among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.commands.bench_runs import run_digest
from otel_rt4chart.settings.application import JudgeSettings
from tests.endpoint_server import EndpointServer, error

BUNDLED = str(Path(__file__).parents[2] / "data/bench")
BOTH = ["bench", BUNDLED, "--judge", "rules,heuristic"]


def values(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON of a call that succeeds."""
    assert main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_several_judges_have_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    """With the line of flagging all; a judge of whole answers has no spans, and no zeros."""
    assert main(BOTH) == 0
    out = capsys.readouterr().out

    table = out.partition("minus rules")[0].splitlines()
    rows = {line.split()[0]: line for line in table if line}
    assert {"judges", "rules", "heuristic", "flag"} <= rows.keys()
    assert "no spans" in rows["heuristic"]
    assert "no spans" not in rows["rules"]
    assert "no spans: one verdict on the whole answer (holistic)" in out
    assert "minus rules" in out
    assert out.count("heuristic") >= 3  # also compared with the first, and its cost


def test_each_judge_has_its_answers_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The score of each, and the comparison with the first."""
    found = values(capsys, *BOTH)

    rules, heuristic = found["runs"]
    assert [rules["judge"][:6], heuristic["judge"]] == ["rules/", "heuristic/ai-evaluation/1"]
    assert all(0 <= one["score"] <= 1 and not one["claims"] for one in heuristic["answers"])
    assert heuristic["metrics"]["span F1"] is None
    assert heuristic["metrics"]["conflict F1"] is None
    assert set(found["against_first"]) == {"heuristic"}
    assert found["against_first"]["heuristic"]["differences"]["span F1"]["difference"] is None


def test_a_judge_of_whole_answers_alone_says_what_it_has_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No table of kinds, spans and evidence full of zeros."""
    assert main(["bench", BUNDLED, "--judge", "heuristic"]) == 0
    out = capsys.readouterr().out

    assert "holistic: a verdict on each answer, no spans" in out
    assert "not measured: one verdict on the whole answer" in out
    assert "conflict cases" not in out


def test_a_run_of_whole_answers_is_resumed_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its verdicts survive their file."""
    file = str(tmp_path / "run.jsonl")
    first = values(capsys, *BOTH, "--resume", file)
    again = values(capsys, *BOTH, "--resume", file)
    for name, one in (("a", first), ("b", values(capsys, *BOTH[:3], "heuristic"))):
        (tmp_path / name).write_text(json.dumps(one))
    main(["bench", "--compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"])
    compared = json.loads(capsys.readouterr().out)

    assert again == first
    assert compared["differences"]["span F1"]["difference"] is None
    assert compared["answers"] == len(first["runs"][0]["answers"])


def test_the_page_compares_the_judges(tmp_path: Path) -> None:
    """As on the terminal."""
    page = tmp_path / "page.html"
    main([*BOTH, "--html", str(page)])

    written = page.read_text()
    assert "no spans" in written
    assert "minus rules" in written


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*BOTH, "--ablate", "local"], "vary the pipeline of one judge"),
        (["bench", BUNDLED, "--judge", "heuristic", "--window", "5"], "vary the pipeline"),
        ([*BOTH, "--stages"], "read the claims of one judge's run"),
        (["bench", BUNDLED, "--judge", "rules,nobody"], "unknown judge 'nobody'"),
        (["bench", BUNDLED, "--judge", "rules,metaqa"], "--judge metaqa: it has no endpoint"),
        (["bench", BUNDLED, "--judge", ","], "--judge: expected the name of a judge"),
        (["bench", BUNDLED, "--judge", "heuristic", "--model", "x"], "expected a judge that calls"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is run."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    assert main(arguments) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert not told.out


def test_a_judge_that_gives_no_verdict_is_told_beside_one_that_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 1, with the reason and what to try."""
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    with EndpointServer([error(500, "down")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        status = main(["bench", BUNDLED, "--judge", "rules,metaqa", "--limit", "2"])

    told = capsys.readouterr()
    assert status == 1
    assert "the judge metaqa gave no verdict: gpt-4o-mini: 500" in told.err
    assert "rt4chart doctor --judge single" in told.err
    assert "rules" in told.out


@pytest.mark.parametrize(
    "changed",
    [
        {"embedding_model": "local"},
        {"claims_per_answer": 3},
        {"calls_per_answer": 3},
        {"window": 30},
        {"input_limit": 300},
        {"base_url": "http://other:1/v1"},
    ],
)
def test_verdicts_of_other_settings_are_not_taken_over(changed: dict[str, Any]) -> None:
    """The key of a file of verdicts has all settings that they depend on."""
    assert run_digest(JudgeSettings(**changed)) != run_digest(JudgeSettings())


@pytest.mark.parametrize(
    "changed",
    [{"timeout_s": 5.0}, {"concurrency": 1}, {"api_key": "k"}, {"cache": "f"}, {"onnx_threads": 2}],
)
def test_settings_without_effect_on_verdicts_keep_them(changed: dict[str, Any]) -> None:
    """What only takes time, or is secret."""
    assert run_digest(JudgeSettings(**changed)) == run_digest(JudgeSettings())


def test_a_file_of_verdicts_is_not_taken_over_with_another_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that were too large by the first limit are decided by the second."""
    call = ["bench", BUNDLED, "--judge", "rules", "--resume", str(tmp_path / "run.jsonl")]
    monkeypatch.setenv("RT4CHART_JUDGE_ANSWER_CHARACTERS", "5")
    small = values(capsys, *call)
    monkeypatch.delenv("RT4CHART_JUDGE_ANSWER_CHARACTERS")
    large = values(capsys, *call)

    assert small["overall"]["undecided"] == 6
    assert large["overall"]["undecided"] == 0
