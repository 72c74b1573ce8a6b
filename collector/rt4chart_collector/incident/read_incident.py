"""Reads what the store knows of a risen rate, for the alert's page and `rt4chart alerts show`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.incident.asked_before import AskedBefore, asked_before
from rt4chart_collector.incident.changes import (
    ChangeTime,
    DatedChange,
    FirstSeen,
    SteadyAttribute,
    UncomparedValues,
    dated_changes,
    first_seen,
    steady_attributes,
    uncompared_values,
)
from rt4chart_collector.incident.onset_range import OnsetRange, onset_range
from rt4chart_collector.incident.roll_back import RollBack, roll_back, roll_back_change
from rt4chart_collector.incident.span import (
    IncidentSpan,
    RateStep,
    incident_span,
    rate_steps,
)
from rt4chart_collector.store.alerts.drift_states import DriftRow, drift_of_route
from rt4chart_collector.store.answers.passage_use import PassageUse, passage_use
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.ticks import (
    TICK_NS,
    Bin,
    Tick,
    bins_of_value,
    route_ticks,
)
from rt4chart_collector.store.rates.trends import attribute_traffic

DAY_NS = 86_400 * 10**9
# How far before the rise values are dated, rates before are read, and questions are looked for.
WEEK_NS = 7 * DAY_NS
# Older evidence is out of date: the monitor writes every five minutes.
RECENT_NS = 3_600 * 10**9
PAIRS = 4


@dataclass(frozen=True, slots=True)
class RouteIncident:
    """A rise with everything around it.

    `began` is the interval of its beginning, both ends `since_ns` where it is not known. `changes`
    came at that time, `steady` attributes did not change, `uncompared` says which
    values nobody looked at; `seen` came into use within `span`, of
    which `steps` has the rates. `anchor_ns` is where a step begins. `evidence` is the detector's
    newest state, None without a recent one.
    """

    facts: DriftFacts
    since_ns: int
    end_ns: int
    span: IncidentSpan
    anchor_ns: int
    steps: tuple[RateStep, ...]
    began: OnsetRange
    changes: tuple[DatedChange, ...]
    steady: tuple[SteadyAttribute, ...]
    uncompared: tuple[UncomparedValues, ...]
    seen: tuple[FirstSeen, ...]
    passages: PassageUse
    roll_back: RollBack | None
    evidence: DriftRow | None


def read_incident(
    reads: ConcurrentReads, state: AlertState, *, now_ns: int
) -> RouteIncident | None:
    """The incident of an alert on a risen rate; None for other alerts."""
    alert, facts = state.alert, state.alert.facts
    if not isinstance(facts, DriftFacts):
        return None
    since_ns, until_ns, span = _times(state, now_ns)
    scope = _scope(alert, facts).of_time(span.begin_ns, span.until_ns + TICK_NS)
    wide = scope.of_time(since_ns - WEEK_NS, span.until_ns + TICK_NS)
    # That which takes longest first.
    used = reads.start(
        partial(passage_use, scope=wide.of_time(since_ns - DAY_NS, until_ns), at_ns=since_ns)
    )
    ticked = reads.start(partial(_ticks, scope=scope, facts=facts))
    attributes = reads.start(partial(attribute_traffic, scope=wide, at_ns=since_ns))
    evidence = reads.start(partial(_evidence, alert=alert, facts=facts, now_ns=now_ns))
    ticks, traffic = ticked.result(), attributes.result()
    began = _began(ticks, facts, span, since_ns, until_ns)
    changes = dated_changes(
        facts, traffic, since_ns=since_ns, began=began, read_since_ns=wide.since_ns
    )
    anchor_ns = _anchor(changes, since_ns)
    before = wide.of_time(wide.since_ns, since_ns)
    change = roll_back_change(changes)
    usual = reads.start(partial(_usual_bins, before=before, change=change, measure=facts.measure))
    risen = [tick for tick in ticks if since_ns <= tick.start_ns < until_ns]
    return RouteIncident(
        facts=facts,
        since_ns=since_ns,
        end_ns=state.resolved_ns,
        span=span,
        anchor_ns=anchor_ns,
        steps=tuple(rate_steps(ticks, span, anchor_ns=anchor_ns)),
        began=began,
        changes=changes,
        steady=steady_attributes(traffic, changes),
        uncompared=uncompared_values(traffic),
        seen=first_seen(traffic, begin_ns=span.begin_ns, until_ns=span.until_ns),
        passages=used.result(),
        roll_back=roll_back(change, traffic=traffic, before=usual.result(), risen=risen)
        if change
        else None,
        evidence=evidence.result(),
    )


def read_asked_before(client: Client, state: AlertState, *, now_ns: int) -> AskedBefore | None:
    """The answers before and since, of the same alerts: reading texts takes longer than sums."""
    facts = state.alert.facts
    if not isinstance(facts, DriftFacts):
        return None
    since_ns, until_ns, _ = _times(state, now_ns)
    scope = _scope(state.alert, facts).of_time(since_ns - WEEK_NS, until_ns)
    return asked_before(client, scope, at_ns=since_ns, measure=facts.measure, limit=PAIRS)


def rise_began_ns(state: AlertState, *, now_ns: int) -> int:
    """When the rise of an alert on a risen rate began; 0 for other alerts."""
    alert, facts = state.alert, state.alert.facts
    if not isinstance(facts, DriftFacts):
        return 0
    # Another program may have written any time.
    return min(facts.since_ns or alert.starts_ns or state.fired_ns, now_ns)


def _times(state: AlertState, now_ns: int) -> tuple[int, int, IncidentSpan]:
    """When the rise began and ended, or now, and the time of its chart."""
    since_ns = rise_began_ns(state, now_ns=now_ns)
    span = incident_span(since_ns, end_ns=state.resolved_ns, now_ns=now_ns)
    return since_ns, min(state.resolved_ns or now_ns, span.until_ns), span


def _ticks(client: Client, scope: QueryScope, facts: DriftFacts) -> list[Tick]:
    releases = {one.value for one in facts.changed if one.attribute == "release"}
    found = route_ticks(client, scope, facts.measure, releases=releases)
    return [tick for one in found for tick in one.ticks]


def _evidence(client: Client, alert: Alert, facts: DriftFacts, now_ns: int) -> DriftRow | None:
    return drift_of_route(
        client,
        alert.service,
        alert.route,
        since_ns=now_ns - RECENT_NS,
        verifier=facts.verifier,
        measure=facts.measure,
    )


def _usual_bins(
    client: Client, before: QueryScope, change: DatedChange | None, measure: Measure
) -> list[Bin]:
    """The answers before the rise with the value that was replaced."""
    if change is None:
        return []
    attribute, to = change.change.new.attribute, change.change.replaced
    return bins_of_value(client, before, attribute, to, measure)


def _scope(alert: Alert, facts: DriftFacts) -> QueryScope:
    return QueryScope(verifier=facts.verifier or None, service=alert.service, route=alert.route)


def _began(
    ticks: Sequence[Tick], facts: DriftFacts, span: IncidentSpan, since_ns: int, until_ns: int
) -> OnsetRange:
    usual = facts.before.rate if facts.before else None
    found = None
    if usual is not None:
        found = onset_range(
            ticks, since_ns=since_ns, before=usual, begin_ns=span.begin_ns, until_ns=until_ns
        )
    return found or OnsetRange(since_ns, since_ns)


def _anchor(changes: Sequence[DatedChange], since_ns: int) -> int:
    """The change that came with the rise if there is one, else where the rise begins."""
    return next((one.first_ns for one in changes if one.time is ChangeTime.WITH), since_ns)
