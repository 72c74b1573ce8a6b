"""The commands on a stored database: what they do, and what they say."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main, resolve_command
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.pipeline.retry import outcome_of, revived_letter
from rt4chart_collector.store.answers.dead_letters import (
    DeadLetter,
    LetterState,
    dead_letters,
    due_letters,
    insert_letters,
)
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.pipeline.line import BAD, spans_from
from tests.rt4chart_collector.pipeline.test_retry import error
from tests.rt4chart_collector.records import NOON

Run = Callable[..., int]


@pytest.fixture
def run(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command on the test's database."""
    monkeypatch.delenv("RT4CHART_JUDGE", raising=False)
    return lambda *argv: main([*argv, "--dsn", dsn])


def dead(number: int, *, route: str = "support", now_ns: int | None = None) -> DeadLetter:
    """A dead letter of just now."""
    letter = outcome_of(error(InputError("malformed")), None).letter
    assert letter is not None
    now = time.time_ns() if now_ns is None else now_ns
    return replace(
        letter, trace_id=f"{number:032x}", route=route, last_ns=now, first_ns=now, version=now
    )


def test_replay_makes_dead_letters_due(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the time and the route that were asked for."""
    old = time.time_ns() - 25 * 3600 * 10**9
    insert_letters(client, [dead(1), dead(2, route="pay"), dead(3, now_ns=old)])

    assert run("replay", "--route", "pay") == 0

    (letter,) = due_letters(client, "v", time.time_ns(), 9)
    assert (letter.route, letter.attempts, letter.state) == ("pay", 0, LetterState.WAITING)
    assert len(dead_letters(client, since_ns=0)) == 2
    assert capsys.readouterr().out == (
        "1 × malformed, route pay, judge v\n"
        "1 dead letter back in the queue: a service with this judge retries them within seconds\n"
    )


def test_dry_run_changes_nothing(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what there is."""
    insert_letters(client, [dead(1), dead(2)])

    assert run("replay", "--dry-run", "--reason", "malformed") == 0
    assert run("replay", "--dry-run", "--reason", "too_long") == 0

    assert len(dead_letters(client, since_ns=0)) == 2
    assert capsys.readouterr().out == (
        "2 × malformed, route support, judge v\n"
        "2 dead letters; without --dry-run they go back to the queue\n"
        "no dead letters in that time\n"
    )


def test_letter_that_was_replayed_may_die_again(client: Client) -> None:
    """Each writing replaces the one before, in the same nanosecond too."""
    letter = dead(1)
    alive = revived_letter(letter, letter.version)
    insert_letters(client, [letter])
    insert_letters(client, [alive])
    insert_letters(client, [replace(alive, state=LetterState.DEAD, version=alive.version + 2)])
    insert_letters(client, [], settled=[replace(alive, version=alive.version + 2)])

    assert dead_letters(client, since_ns=0) == []
    assert due_letters(client, "v", 2**62, 9) == []


def recent(number: int, answer: str) -> list[SpanRecord]:
    """A trace of a minute ago."""
    late = time.time_ns() - 60 * 10**9 - NOON
    return [
        replace(span, start_ns=span.start_ns + late, end_ns=span.end_ns + late)
        for span in spans_from(number, answer)
    ]


def test_verify_from_store_compares_judges(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """One judge, then another over the same answers, then how far they agree."""
    for number in range(1, 5):
        insert_spans(client, recent(number, BAD))

    codes = [
        run("verify", "--from-store", "--judge", "rules", "--since", "1h", "--jobs", "1"),
        run("backfill", "--judge", "rules", "--since", "1h"),
    ]
    told = capsys.readouterr().err
    nothing = run("agreement")
    client.command(
        "INSERT INTO rt4chart_verifications "
        "SELECT * REPLACE ('other/1' AS VerifierId) FROM rt4chart_verifications FINAL"
    )
    run("agreement", "--json")

    words, _, found = capsys.readouterr().out.partition("\n")
    (pair,) = json.loads(found)
    assert (codes, nothing) == ([0, 0], 0)
    assert "4 answers, 0 with an error" in told
    assert "unfaithful rate 100.0% of 4 decided claims" in told
    assert "0 answers, 0 with an error" in told
    assert words.startswith("no answers in that time have verdicts of two judges")
    assert (pair["answers"], pair["share"], pair["kappa"]) == (4, 1.0, None)
    assert {pair["first"], pair["second"]} == {"other/1", Verifier(RulesJudge()).judge.id}


def test_database_without_the_service_s_tables_is_refused(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line that says how to make them."""
    client.command("DROP TABLE rt4chart_dead_letters")

    assert run("replay") == 2
    assert "has no table rt4chart_dead_letters: expected a database that" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["verify", "--from-store", "--limit", "3"], ["backfill", "--limit", "3"]),
        (["verify", "a.jsonl"], ["verify", "a.jsonl"]),
        (["bench", "--from-store"], ["bench", "--from-store"]),
        ([], []),
    ],
)
def test_option_that_means_another_command(written: list[str], expected: list[str]) -> None:
    """Only where it stands behind its own."""
    assert resolve_command(written) == expected


def test_words_that_are_no_text_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A byte of another encoding reaches Python as a lone surrogate, which no database takes."""
    assert main(["answers", "--filter", "caf\udce9"]) == 2

    assert capsys.readouterr().err == "rt4chart: expected words in UTF-8; got 'caf\\udce9'\n"
