"""Alerts on verification itself: undecided claims, a backlog, a failing judge, no data."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    BacklogFacts,
    JudgeFacts,
    NoDataFacts,
    UndecidedFacts,
)
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.drift.policy import HOUR_NS
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.store.answers.dead_letters import letter_backlog
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.traffic import (
    VerifierCounts,
    coverage,
    silent_routes,
    verifier_counts,
)

# Shares of fewer claims or answers vary too much.
LEAST_CLAIMS, LEAST_FAILURES, FAILED_SHARE = 50, 5, 0.2
MAX_ALERTS = 50


def health_alerts(
    client: Client,
    settings: MonitorSettings,
    *,
    verifier: str,
    now_ns: int,
    breaker: Breaker | None = None,
) -> list[Alert]:
    """The problems of verification in the last hour.

    Undecided claims are those of `verifier`, whose rates are monitored. Failures are those of all
    active verifiers, because a new one may have no verdict yet. `breaker` is this process's.
    """
    known = verifier_counts(client, since_ns=now_ns - HOUR_NS, until_ns=now_ns)
    active = {counts.verifier for counts in known} | {verifier}
    if breaker is not None:
        active.add(breaker.judge)
    found = _undecided(client, settings, verifier, now_ns) if verifier else []
    found += _judge(known, breaker, now_ns)
    found += _backlog(client, settings, active - {""}, now_ns)
    return found + _no_data(client, settings, now_ns)


def _undecided(
    client: Client, settings: MonitorSettings, verifier: str, now_ns: int
) -> list[Alert]:
    known = coverage(client, QueryScope(now_ns - HOUR_NS, now_ns, verifier))
    found = []
    for (service, route), covered in sorted(known.items()):
        share = covered.undecided_share
        claims = covered.claims + covered.undecided
        if share is None or share < settings.undecided_share or claims < LEAST_CLAIMS:
            continue
        title = f"{route or 'A route'}: {share:.0%} of the last hour's claims are undecided"
        facts = UndecidedFacts(undecided_share=share, undecided=covered.undecided, claims=claims)
        found.append(
            Alert(Rule.UNDECIDED, Severity.WARNING, service, route, 0, title, facts, now_ns)
        )
    return found[:MAX_ALERTS]


def _judge(known: Sequence[VerifierCounts], breaker: Breaker | None, now_ns: int) -> list[Alert]:
    """An alert on the verifier with the most failures: an average could hide it."""
    failing = [
        counts
        for counts in known
        if counts.failed >= LEAST_FAILURES and counts.failed_share >= FAILED_SHARE
    ]
    worst = max(failing, key=lambda counts: (counts.failed, counts.verifier), default=None)
    judge, state = (breaker.judge, breaker.status) if breaker else ("", {})
    pause = state if state.get("paused") else None
    if pause is None and worst is None:
        return []
    paused = next((counts for counts in known if counts.verifier == judge), None)
    shown = worst or paused or VerifierCounts(judge, 0, 0)
    title = f"The judge failed on {shown.failed_share:.0%} of the last hour's answers"
    if pause is not None:
        title = f"The judge is paused: {pause.get('reason', 'it fails')}"
    facts = JudgeFacts(
        verifier=shown.verifier,
        failed_share=shown.failed_share,
        failed=shown.failed,
        answers=shown.failed + shown.verified,
        paused=None if pause is None else str(pause.get("reason", "")),
    )
    return [Alert(Rule.JUDGE_FAILING, Severity.ERROR, "", "", 0, title, facts, now_ns)]


def _backlog(
    client: Client, settings: MonitorSettings, verifiers: Collection[str], now_ns: int
) -> list[Alert]:
    waiting, dead = letter_backlog(client, verifiers, since_ns=now_ns - HOUR_NS)
    if waiting + dead < settings.backlog_answers:
        return []
    title = f"{waiting} answers wait for a retry, {dead} were given up in the last hour"
    facts = BacklogFacts(
        waiting=waiting, dead_last_hour=dead, verifier=", ".join(sorted(verifiers))
    )
    return [Alert(Rule.BACKLOG, Severity.WARNING, "", "", 0, title, facts, now_ns)]


def _no_data(client: Client, settings: MonitorSettings, now_ns: int) -> list[Alert]:
    silent, is_any = silent_routes(
        client, now_ns=now_ns, min_answers=settings.no_data_answers, limit=MAX_ALERTS
    )
    if silent and not is_any:
        # One alert: the pipeline is broken, not every route.
        title = "No answers on any route in the last hour"
        expected = sum(route.expected for route in silent)
        last = max(route.last_ns for route in silent)
        return [_silence(Severity.ERROR, "", "", title, expected, last)]
    return [
        _silence(
            Severity.WARNING,
            route.service,
            route.route,
            f"{route.route or 'A route'}: no answers in the last hour, {route.expected} a week ago",
            route.expected,
            route.last_ns,
        )
        for route in silent
    ]


def _silence(
    severity: Severity, service: str, route: str, title: str, expected: int, last_ns: int
) -> Alert:
    facts = NoDataFacts(expected_answers=expected, last_answer_ns=last_ns or None)
    return Alert(Rule.NO_DATA, severity, service, route, 0, title, facts, last_ns)
