"""`rt4chart verify` with a judge behind an endpoint, which may fail."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW
from tests.endpoint_server import Answer, EndpointServer, Script, Seen, error, hang, text
from tests.oracle import Oracle, Truth

ORACLE = Oracle(judge=lambda claim, sentences: Truth("entailed", ("heated",)))


@pytest.fixture(autouse=True)
def _no_second_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests need not wait for the client to try again."""
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "bad")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a factory
    """An endpoint that the settings name."""

    def make(script: Script | list[Answer]) -> EndpointServer:
        server = EndpointServer(script)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        return server

    return make


def verify(tmp_path: Path, count: int, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """The status and the rows for so many different answers."""
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [
        {"id": n, "contexts": [f"Pool {n} is heated."], "answer": f"Pool {n} is warm."}
        for n in range(count)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status = main(["verify", str(file), "--judge", "openai", "--out", str(out), *options])
    return status, [json.loads(row) for row in out.read_text().splitlines()]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (error(401, "no"), "gpt-4o-mini: 401: the key was refused; check OPENAI_API_KEY"),
        (error(404, "no model gpt-4o-mini"), "gpt-4o-mini: 404: "),
        (error(429, "slow down"), "gpt-4o-mini: 429: too many requests"),
        (error(500, "oops"), "gpt-4o-mini: 500: "),
        (Answer(None), "gpt-4o-mini: cannot be reached, or broke off"),
        (text("I cannot do that."), "the model's reply was not usable"),
    ],
)
def test_a_judge_that_fails_for_every_answer_is_status_1(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    serve: Any,  # noqa: ANN401
    answer: Answer,
    told: str,
) -> None:
    """The reason stands in the summary, with what to do."""
    with serve([answer]):
        status, rows = verify(tmp_path, 2)

    summary = capsys.readouterr().err
    assert status == 1
    assert [row["label"] for row in rows] == ["undecided", "undecided"]
    assert f"undecided: 2 × {told}" in summary
    assert "warning: over half of the claims are undecided" in summary
    assert "the judge gave no verdict: " in summary
    assert "`rt4chart doctor --judge openai`" in summary


def test_a_time_out_is_told_too(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    serve: Any,  # noqa: ANN401
) -> None:
    """As the setting that it was."""
    monkeypatch.setenv("RT4CHART_JUDGE_TIMEOUT_S", "0.1")
    with serve([hang(60)]):
        status, _ = verify(tmp_path, 1)

    assert status == 1
    assert "no reply within 0.1 s" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_dead_endpoint_is_not_asked_for_the_whole_file(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    serve: Any,  # noqa: ANN401
    jobs: str,
) -> None:
    """Every row comes out, those that were not verified with an error that says why."""
    with serve([error(401, "no")]) as server:
        status, rows = verify(tmp_path, 40, "--jobs", jobs)

    assert status == 1
    assert [row["id"] for row in rows] == list(range(40))
    assert all(row["label"] == "undecided" for row in rows[:MAX_FAILURES_IN_A_ROW])
    assert rows[-1]["error"].startswith("not verified: stopped: 5 answers in a row got no ")
    assert len(server.chats) <= MAX_FAILURES_IN_A_ROW + 2 * int(jobs)
    summary = capsys.readouterr().err
    assert "stopped: 5 answers in a row got no verdict: gpt-4o-mini: 401" in summary
    assert "RT4CHART_JUDGE_CACHE=FILE" in summary


def test_failures_among_verdicts_do_not_stop_a_run(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    serve: Any,  # noqa: ANN401
) -> None:
    """They are counted, and the status is about the whole."""

    def script(seen: Seen) -> Answer:
        return ORACLE(seen) if "3" in seen.user else error(500, "oops")

    with serve(script):
        status, rows = verify(tmp_path, 7)

    assert (status, rows[3]["label"]) == (0, "entailed")
    summary = capsys.readouterr().err
    assert "7 claims: 1 entailed (14%)" in summary
    assert "undecided: 6 × gpt-4o-mini: 500" in summary


def test_without_a_decided_claim_no_rate_is_low_enough(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    serve: Any,  # noqa: ANN401
) -> None:
    """What was not verified passes no gate."""
    with serve([error(500, "oops")]):
        status, _ = verify(tmp_path, 1, "--fail-over", "1")

    assert status == 1
    assert "--fail-over 1: no claim was decided" in capsys.readouterr().err


def test_several_answers_are_verified_at_once_in_the_files_order(
    tmp_path: Path,
    serve: Any,  # noqa: ANN401
) -> None:
    """As many as the setting allows: four calls of four answers wait for each other here."""
    together = Barrier(4)

    def script(seen: Seen) -> Answer:
        try:
            together.wait(60)
        except BrokenBarrierError:
            return error(500, "alone")
        return ORACLE(seen)

    with serve(script):
        status, rows = verify(tmp_path, 8, "--jobs", "4")

    assert status == 0
    assert [(row["id"], row["label"]) for row in rows] == [(n, "entailed") for n in range(8)]


def test_what_came_from_the_cache_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    serve: Any,  # noqa: ANN401
) -> None:
    """A second run asks nothing, and says so."""
    monkeypatch.setenv("RT4CHART_JUDGE_CACHE", str(tmp_path / "verdicts.db"))
    with serve(ORACLE) as server:
        verify(tmp_path, 1)
        asked = len(server.chats)
        capsys.readouterr()
        status, _ = verify(tmp_path, 1)

    assert (status, len(server.chats)) == (0, asked)
    assert (
        "0 calls, 0 prompt + 0 completion tokens, 0.0000 USD, 2 verdicts from the cache\n"
        in capsys.readouterr().err
    )


def test_the_model_may_be_named_and_a_doubtful_variable_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    serve: Any,  # noqa: ANN401
) -> None:
    """`--model` is what the variable would have been."""
    monkeypatch.setenv("RT4CHART_MODEL", "lost")
    with serve(ORACLE) as server:
        verify(tmp_path, 1, "--model", "mine")

    assert {one.body["model"] for one in server.chats} == {"mine"}
    assert "warning: RT4CHART_MODEL is not known" in capsys.readouterr().err
