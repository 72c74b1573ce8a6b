"""`rt4chart bench` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.judges import build
from otel_rt4chart.testing import ScriptedJudge
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from tests.endpoint_server import EndpointServer, error

BUNDLED = str(Path(__file__).parents[2] / "data/bench")


def test_bench_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The split is named; without a terminal there is no progress."""
    status = main(["bench", BUNDLED, "--judge", "local"])
    printed = capsys.readouterr()

    assert status == 0
    assert "split dev · 6 answers" in printed.out
    assert "flag all" in printed.out
    assert printed.err == ""


def test_bench_prints_json_with_the_flag_all_line(capsys: pytest.CaptureFixture[str]) -> None:
    """One object, and the plain contradictions among the bundled rows are found."""
    status = main(["bench", BUNDLED, "--split", "all", "--json"])
    values = json.loads(capsys.readouterr().out)

    assert status == 0
    assert values["judge"].startswith("local/")
    assert values["overall"]["answers"] == 8
    assert values["overall"]["flag_all"]["balanced_accuracy"] == 0.5
    assert values["overall"]["three_way"]["contradicted->contradicted"] == 3


def test_bench_takes_the_first_rows_only(capsys: pytest.CaptureFixture[str]) -> None:
    """`--limit` counts rows of the split."""
    main(["bench", BUNDLED, "--split", "train", "--limit", "1", "--json"])

    assert json.loads(capsys.readouterr().out)["overall"]["answers"] == 1


def test_stages_and_escalation_stand_beneath_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the order asked of them, and only where asked."""
    main(["bench", BUNDLED, "--stages", "--escalation"])
    both = capsys.readouterr().out
    main(["bench", BUNDLED])
    plain = capsys.readouterr().out

    assert both.index("flag all") < both.index("weakest stage:") < both.index("escalation under")
    assert "weakest stage:" not in plain
    assert "escalation under" not in plain


def test_stages_and_escalation_are_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the figures of the answers, with which they agree."""
    main(["bench", BUNDLED, "--stages", "--escalation", "--json"])
    values = json.loads(capsys.readouterr().out)

    told = values["stages"]["overall"]["answer_balanced_accuracy"]["value"]
    assert told == values["overall"]["answer"]["balanced_accuracy"]
    assert values["stages"]["overall"]["extraction"]["recall"] == {"value": 1.0, "n": 3}
    assert len(values["escalation"]["levels"]) == 6


def test_escalation_of_a_cascade_is_its_first_judges(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second judge is not asked for it: one that knows no claim is never reached."""
    cascade = CascadeJudge(RulesJudge(), ScriptedJudge({}), 0.0)
    monkeypatch.setitem(build.JUDGES, "cascade", lambda settings, endpoint: cascade)
    main(["bench", BUNDLED, "--judge", "rules", "--escalation", "--json"])
    local = json.loads(capsys.readouterr().out)
    main(["bench", BUNDLED, "--judge", "cascade", "--escalation", "--json"])

    assert json.loads(capsys.readouterr().out)["escalation"] == local["escalation"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere"], "rt4chart bench: expected a folder with source_info.jsonl"),
        ([BUNDLED, "--judge", "oracle"], "unknown judge 'oracle'"),
        ([BUNDLED, "--split", "test"], "--split: expected one of dev, train, got 'test'"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was expected, and what came."""
    status = main(["bench", *arguments])
    printed = capsys.readouterr()

    assert status == 2
    assert message in printed.err
    assert printed.out == ""


def test_a_limit_that_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """By the parser."""
    with pytest.raises(SystemExit) as stopped:
        main(["bench", BUNDLED, "--limit", "0"])

    assert stopped.value.code == 2
    assert "expected an integer from 1 to 1000000000" in capsys.readouterr().err


def test_a_judge_that_fails_is_told_with_its_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of undecided answers is no measurement: status 1."""
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    with EndpointServer([error(401, "no")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        status = main(["bench", BUNDLED, "--judge", "openai", "--model", "mine", "--limit", "2"])
        short = capsys.readouterr()
        stopped = main(["bench", BUNDLED, "--judge", "openai", "--json"])

    reason = "401: the key was refused; check OPENAI_API_KEY"
    assert (status, stopped) == (1, 1)
    assert f"undecided: 2 × mine: {reason}" in short.out
    assert f"the judge gave no verdict: mine: {reason}" in short.err
    told = capsys.readouterr()
    assert told.out == ""
    assert (
        f"stopped after 5 of 6 answers: 5 answers in a row got no verdict: gpt-4o-mini: {reason}"
        in (told.err)
    )
