"""What the monitor finds wrong with the verifying itself."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.judges.judge_failure import JudgeFailure
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import (
    BacklogFacts,
    JudgeFacts,
    NoDataFacts,
    UndecidedFacts,
)
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.monitor.health_alerts import health_alerts
from rt4chart_collector.pipeline.breaker import TEMPORARY_FAILURES, Breaker
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState, insert_letters
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.detect.monitor.world import DAY, HOUR, START
from tests.rt4chart_collector.records import SECOND, VERIFIER, verdict

NOW = START + HOUR
SETTINGS = MonitorSettings()


def found(client: Client, breaker: Breaker | None = None, **settings: float) -> list[Alert]:
    """The alerts an hour after the start."""
    return health_alerts(
        client,
        replace(SETTINGS, **settings),  # type: ignore[arg-type]
        verifier=VERIFIER,
        now_ns=NOW,
        breaker=breaker,
    )


def letter(number: int, state: LetterState = LetterState.WAITING) -> DeadLetter:
    """An answer that waits, or is given up since this hour."""
    return DeadLetter(
        start_ns=START,
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        service="shop",
        route="support",
        verifier=VERIFIER,
        state=state,
        reason="timeout",
        error_type="TimeoutError",
        attempts=1,
        first_ns=START,
        last_ns=START + HOUR // 2,
        next_ns=NOW,
        version=number,
    )


def test_a_share_of_undecided_claims_is_an_alert_of_its_route(client: Client) -> None:
    """With n; of few claims it is none."""
    half = (Label.UNDECIDED, Label.ENTAILED)
    insert_verdicts(client, [verdict(at, half, start_ns=START) for at in range(1, 41)])
    insert_verdicts(
        client, [verdict(at, half, start_ns=START, route="rare") for at in range(100, 110)]
    )

    (alert,) = found(client)

    assert (alert.rule, alert.route, alert.severity) == ("undecided", "support", "warning")
    assert alert.facts == UndecidedFacts(undecided_share=0.5, undecided=40, claims=80)
    assert found(client, undecided_share=0.6) == []


def test_a_judge_that_fails_often_or_is_paused(client: Client) -> None:
    """From a fifth of the hour's answers on, or where this process leaves it alone."""
    good = [verdict(at, start_ns=START) for at in range(1, 17)]
    bad = [
        verdict(at, start_ns=START, decision=Decision.ERROR, decided_ns=START + SECOND)
        for at in range(20, 24)
    ]
    insert_verdicts(client, [*good, *bad])
    paused = Breaker(VERIFIER, lambda: NOW)
    for _ in range(TEMPORARY_FAILURES):
        paused.note(JudgeFailure("timeout", "TimeoutError", True))

    assert found(client) == []
    (alert,) = found(client, paused)
    facts = JudgeFacts(verifier=VERIFIER, failed_share=0.2, failed=4, answers=20, paused="timeout")
    assert (alert.rule, alert.facts) == ("judge_failing", facts)
    insert_verdicts(
        client, [verdict(30, start_ns=START, decision=Decision.ERROR, decided_ns=START)]
    )
    (alert,) = found(client)
    assert alert.facts == JudgeFacts(verifier=VERIFIER, failed_share=5 / 21, failed=5, answers=21)


def test_a_backlog_is_what_waits_and_what_was_given_up_lately(client: Client) -> None:
    """Of the verifier in question."""
    insert_letters(client, [letter(1), letter(2), letter(3, LetterState.DEAD)])

    assert found(client) == []
    (alert,) = found(client, backlog_answers=3)

    assert alert.rule == "backlog"
    assert alert.facts == BacklogFacts(waiting=2, dead_last_hour=1, verifier=VERIFIER)


def test_a_backlog_is_also_of_who_judges_without_a_verdict(client: Client) -> None:
    """Of the process's own judge, and of one that failed in the last hour; of no former one."""
    letters = [replace(letter(at), verifier=name) for at, name in enumerate(("own", "b", "former"))]
    insert_letters(client, letters)
    failed = verdict(1, start_ns=START, decision=Decision.ERROR, decided_ns=START + SECOND)
    insert_verdicts(client, [replace(failed, verifier="b")])
    breaker = Breaker("own", lambda: NOW)

    (alert,) = found(client, breaker, backlog_answers=1)

    verifiers = ", ".join(sorted(("b", "own", VERIFIER)))
    facts = BacklogFacts(waiting=2, dead_last_hour=0, verifier=verifiers)
    assert (alert.rule, alert.facts) == ("backlog", facts)


def test_a_route_that_falls_silent_where_it_never_did(client: Client) -> None:
    """Against the same hour a week ago; where no route has an answer it is one alert."""
    week = START - 7 * DAY
    insert_verdicts(
        client,
        [verdict(at, start_ns=week + at * SECOND) for at in range(1, 31)]
        + [verdict(at, start_ns=week + at * SECOND, route="b") for at in range(101, 131)],
    )

    (all_silent,) = found(client)
    insert_verdicts(client, [verdict(500, start_ns=START, route="b")])
    (one,) = found(client)

    assert (all_silent.rule, all_silent.route, all_silent.severity) == ("no_data", "", "error")
    assert all_silent.facts == NoDataFacts(expected_answers=60, last_answer_ns=None)
    facts = NoDataFacts(expected_answers=30, last_answer_ns=None)
    assert (one.route, one.facts) == ("support", facts)
    assert found(client, no_data_answers=31) == []
