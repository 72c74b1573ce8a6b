"""Alerts on routes whose rate has risen, with onset, growth, changes and the worst answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import Measure, claim_rate
from rt4chart_collector.core.alerts.alert import DRIFT_RULES, Alert, Severity
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    FailureGrowth,
    MeasuredRate,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.detect.drift.baseline import Baseline
from rt4chart_collector.detect.drift.finding import DriftFinding, DriftKey
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS
from rt4chart_collector.detect.drift.rise_parts import rise_parts
from rt4chart_collector.detect.drift.shares import shares_of
from rt4chart_collector.store.answers.answers import worst_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issue_figures import Growth, issue_growth
from rt4chart_collector.store.issues.issues import watched_issues
from rt4chart_collector.store.rates.ticks import Tick, answer_sums, route_ticks
from rt4chart_collector.store.rates.trends import deployment_changes

# Facts cost several queries per route: they are read again when they are this old, or the rise is
# a new one.
FRESH_NS = 600 * 10**9
# If more routes alert at once, only those with the most evidence do; the others follow later.
MAX_ALERTS = 50
# A route without an answer for a day has no current rate.
SILENT_NS = DAY_NS
CRITICAL_POINTS = 0.05
# The periods before the rise: a week for failures, a day for attributes of the deployment.
GROWTH_NS, CHANGES_NS = 7 * DAY_NS, DAY_NS
MAX_ROWS, MAX_ANSWERS, CLAIM_CHARS = 5, 10, 300
# Each iteration averages over the time since the last one's onset; it converges in one or two.
ONSET_ITERATIONS = 4

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _ReadFacts:
    """The facts of one rise and when they were read; `began_ns` identifies the rise."""

    read_ns: int
    began_ns: int
    facts: DriftFacts


class DriftAlerts:
    """Creates the drift alerts of a round. Facts are reused between rounds."""

    def __init__(self, client: Client) -> None:
        """Start without facts."""
        self._client = client
        self._read: dict[DriftKey, _ReadFacts] = {}

    def alerts(
        self, findings: Mapping[DriftKey, DriftFinding], verifier: str, now_ns: int
    ) -> list[Alert]:
        """One alert for each measure of a route that has drifted, at most `MAX_ALERTS`."""
        drifted = {
            key: finding
            for key, finding in findings.items()
            if finding.state == "page" and now_ns - finding.tick_ns < SILENT_NS
        }
        order = sorted(drifted, key=lambda key: (-drifted[key].page, key))[:MAX_ALERTS]
        self._read = {key: read for key, read in self._read.items() if key in drifted}
        return [_alert(key, self._facts(key, drifted[key], verifier, now_ns)) for key in order]

    def _facts(
        self, key: DriftKey, finding: DriftFinding, verifier: str, now_ns: int
    ) -> DriftFacts:
        """The facts of the rise; where they cannot be read, older ones or the finding alone."""
        began_ns = finding.began_ns or finding.tick_ns
        known = self._read.get(key)
        if known is not None and known.began_ns != began_ns:
            known = None
        if known is not None and 0 <= now_ns - known.read_ns < FRESH_NS:
            return known.facts
        service, route, measure = key
        try:
            facts = drift_facts(
                self._client,
                service=service,
                route=route,
                measure=measure,
                verifier=verifier,
                finding=finding,
                now_ns=now_ns,
            )
        except Exception as error:  # noqa: BLE001 - boundary: the alert is sent without facts too
            log.warning("the facts about a drift could not be read: %s", redacted_error(error))
            return known.facts if known is not None else minimal_facts(finding, measure, verifier)
        self._read[key] = _ReadFacts(now_ns, began_ns, facts)
        return facts


def _alert(key: DriftKey, facts: DriftFacts) -> Alert:
    service, route, measure = key
    before = facts.before.rate if facts.before else None
    after = facts.after.rate if facts.after else None
    severity, title = Severity.ERROR, f"Drift detected on {route or 'a route'}: "
    if before is not None and after is not None:
        title += f"{after:.1%} of claims are {measure}, up from {before:.1%}"
        if after - before >= CRITICAL_POINTS:
            severity = Severity.CRITICAL
    else:
        title += f"more claims are {measure} than before"
    rule = DRIFT_RULES[measure]
    return Alert(rule, severity, service, route, 0, title, facts, facts.since_ns or 0)


def drift_facts(
    client: Client,
    *,
    service: str,
    route: str,
    measure: Measure,
    verifier: str,
    finding: DriftFinding,
    now_ns: int,
) -> DriftFacts:
    """The facts about a rise. The number of rows and the length of texts are bounded."""
    until_ns = now_ns + TICK_NS
    detected_ns = finding.began_ns or finding.tick_ns
    scope = QueryScope(detected_ns, until_ns, verifier, service, route)
    ticks = [tick for found in route_ticks(client, scope, measure) for tick in found.ticks]
    usual = finding.baseline.share if finding.baseline else 0.0
    since_ns = onset(ticks, usual, since_ns=detected_ns)
    week = scope.of_time(since_ns - GROWTH_NS, until_ns)
    growth = issue_growth(client, week, at_ns=since_ns, limit=MAX_ROWS, measure=measure)
    risen = [tick for tick in ticks if tick.start_ns >= since_ns]
    return DriftFacts(
        measure=measure,
        since_ns=since_ns,
        before=rate_before(finding.baseline),
        after=rate_after(risen),
        parts=rise_parts(finding.baseline, risen) if finding.baseline else None,
        changed=_changed_values(client, scope, since_ns),
        issues=_grown_issues(client, growth),
        documents=tuple(
            FailureGrowth(document.id, None, document.before, document.after)
            for document in growth.documents
        ),
        worst_answers=_worst_answers(client, scope.of_time(since_ns, until_ns), measure),
        evidence=DriftEvidence(finding.page, finding.page_at),
        verifier=verifier,
        detectable_rise=finding.detectable,
    )


def minimal_facts(finding: DriftFinding, measure: Measure, verifier: str) -> DriftFacts:
    """The facts that the finding alone contains, if the store cannot be read."""
    return DriftFacts(
        measure=measure,
        since_ns=finding.began_ns or finding.tick_ns,
        before=rate_before(finding.baseline),
        evidence=DriftEvidence(finding.page, finding.page_at),
        verifier=verifier,
        detectable_rise=finding.detectable,
    )


def rate_before(baseline: Baseline | None) -> MeasuredRate:
    """The baseline's rate with its interval and its numbers."""
    if baseline is None:
        return MeasuredRate()
    rate = baseline.measured_rate
    return MeasuredRate(
        rate=rate.value,
        low=rate.low,
        high=rate.high,
        claims=baseline.claims,
        answers=baseline.answers,
        from_ns=baseline.since_ns,
    )


def rate_after(ticks: Sequence[Tick]) -> MeasuredRate:
    """The rate of these ticks with its interval and its numbers."""
    sums = answer_sums(bin_ for tick in ticks for bin_ in tick.bins)
    rate = claim_rate(sums)
    return MeasuredRate(
        rate=rate.value, low=rate.low, high=rate.high, claims=sums.claims, answers=sums.answers
    )


def _changed_values(client: Client, scope: QueryScope, at_ns: int) -> tuple[AttributeValue, ...]:
    period = scope.of_time(at_ns - CHANGES_NS, scope.until_ns)
    found = deployment_changes(client, period, at_ns=at_ns, limit=MAX_ROWS)
    return tuple(
        AttributeValue(row.attribute, row.value, row.before, row.after, row.first_ns)
        for row in found
    )


def _grown_issues(client: Client, growth: Growth) -> tuple[FailureGrowth, ...]:
    titles = {issue.id: issue.title for issue in watched_issues(client)} if growth.issues else {}
    return tuple(
        FailureGrowth(f"{issue.id:016x}", titles.get(issue.id, ""), issue.before, issue.after)
        for issue in growth.issues
    )


def _worst_answers(
    client: Client, scope: QueryScope, measure: Measure
) -> tuple[UnfaithfulAnswer, ...]:
    found = worst_answers(client, scope, limit=MAX_ANSWERS, chars=CLAIM_CHARS, measure=measure)
    return tuple(
        UnfaithfulAnswer(
            trace_id=row.trace_id,
            span_id=row.span_id,
            unfaithful=row.unfaithful,
            decided=row.decided,
            label=row.label,
            claim_index=row.index,
            claim=row.claim,
            misleading=row.misleading,
            status=row.status,
        )
        for row in found
    )


def onset(ticks: Sequence[Tick], usual: float, *, since_ns: int) -> int:
    """The start of the rise: the tick from which the shares exceed a middle value the most.

    The middle is between `usual`, the share of counted claims before, and the mean since the
    onset, so both are found together. The detector's own start, `since_ns`, is when its evidence
    began to climb, which is early where chance raised the rate a little just before.
    """
    late = sorted((tick for tick in ticks if tick.start_ns >= since_ns), key=lambda t: t.start_ns)
    found = since_ns
    for _ in range(ONSET_ITERATIONS):
        shares = shares_of(bin_ for t in late if t.start_ns >= found for bin_ in t.bins)
        if not shares.answers or shares.mean <= usual:
            return since_ns
        before, found = found, _largest_excess(late, (usual + shares.mean) / 2, since_ns)
        if found == before:
            break
    return found


def _largest_excess(ticks: Sequence[Tick], middle: float, default_ns: int) -> int:
    """The tick with the largest sum of excesses over the middle from it to the end."""
    best_ns, most, excess = default_ns, 0.0, 0.0
    for tick in reversed(ticks):
        shares = shares_of(tick.bins)
        excess += shares.weight * (shares.mean - middle)
        if excess > most:
            best_ns, most = tick.start_ns, excess
    return best_ns
