"""Alerts on routes whose rate has risen, with the facts: onset, growth, changes, worst answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from otel_rt4chart.verify.core.rates import claim_rate, wilson
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.redacted_error import shown
from rt4chart_collector.detect.drift.baseline import Baseline
from rt4chart_collector.detect.drift.finding import Finding
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS
from rt4chart_collector.store.answers.worst_answers import worst_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.growth import GrownDocument, GrownIssue, GrowthWindow, grown
from rt4chart_collector.store.issues.issue_watch import watched_issues
from rt4chart_collector.store.rates.deployment_changes import changes
from rt4chart_collector.store.rates.ticks import Tick, route_ticks, sums_of

# Each round takes the rate after the last one's beginning; it settles at once, or nearly.
ROUNDS = 4


def rise_began(ticks: Sequence[Tick], usual: float, *, since_ns: int) -> int:
    """The start of the tick from which on answers lie most above the middle of before and after.

    `usual` is the share of unfaithful claims before. The detector's own beginning, `since_ns`, is
    when its evidence began to climb, which is early where a little chance went before.
    """
    late = sorted((one for one in ticks if one.start_ns >= since_ns), key=lambda t: t.start_ns)
    began = since_ns
    for _ in range(ROUNDS):
        weight, mean = _mean([one for one in late if one.start_ns >= began])
        if weight <= 0 or mean <= usual:
            return since_ns
        found = _best(late, (usual + mean) / 2, since_ns)
        if found == began:
            break
        began = found
    return began


def _best(ticks: Sequence[Tick], middle: float, otherwise: int) -> int:
    best, most, above = otherwise, 0.0, 0.0
    for tick in reversed(ticks):
        weight, mean = _mean([tick])
        above += weight * (mean - middle)
        if above > most:
            best, most = tick.start_ns, above
    return best


def _mean(ticks: Sequence[Tick]) -> tuple[float, float]:
    """What the answers stand for, and the weighted mean of their shares."""
    weight = shares = 0.0
    for tick in ticks:
        for one in tick.bins:
            if one.decided > 0 and one.sample_rate > 0:
                weight += one.answers / one.sample_rate
                shares += one.answers / one.sample_rate * one.unfaithful / one.decided
    return weight, shares / weight if weight > 0 else 0.0


# What is compared with the time after: a week for what grew, a day for a deployment.
GREW_NS, CHANGED_NS = 7 * DAY_NS, DAY_NS
SHOWN, WORST, CLAIM_CHARS = 5, 10, 300

Facts = dict[str, object]


def drift_facts(
    client: Client, *, service: str, route: str, verifier: str, found: Finding, now_ns: int
) -> tuple[int, Facts]:
    """When the rise began, and its facts: JSON-able and bounded, shares are of claims."""
    until = now_ns + TICK_NS
    named = found.began_ns or found.tick_ns
    ticks = _ticks(client, service, route, verifier, named, until)
    usual = found.baseline.share if found.baseline else 0.0
    began = rise_began(ticks, usual, since_ns=named)
    grew = GrowthWindow(service, route, verifier, began - GREW_NS, began, until)
    more = grown(client, grew, limit=SHOWN)
    facts: Facts = {
        "since": moment(began),
        "before": before(found.baseline),
        "after": after([one for one in ticks if one.start_ns >= began]),
        "changed": _changed(client, grew),
        "issues": _issues(client, more.issues),
        "documents": _documents(more.documents),
        "worst_answers": _worst(client, grew),
        **_measured(found, verifier),
    }
    return began, facts


def least_facts(found: Finding, verifier: str) -> Facts:
    """What the finding alone says of a rise, where nothing can be read."""
    since = moment(found.began_ns or found.tick_ns)
    return {"since": since, "before": before(found.baseline), **_measured(found, verifier)}


def _measured(found: Finding, verifier: str) -> Facts:
    return {
        "evidence": {"log": found.page, "threshold": found.page_at},
        "verifier": verifier,
        "detectable_rise": found.detectable,
    }


def before(known: Baseline | None) -> Facts:
    """The baseline's rate with its interval and n."""
    if known is None:
        return {"rate": None, "low": None, "high": None, "claims": 0, "answers": 0}
    low, high = wilson(known.rate, max(known.claims / known.design_effect, 1.0))
    return {
        "rate": known.rate,
        "low": low,
        "high": high,
        "claims": known.claims,
        "answers": known.answers,
        "from": moment(known.since_ns),
    }


def after(ticks: Sequence[Tick]) -> Facts:
    """The rate since the rise began, with its interval and n."""
    sums = sums_of(one for tick in ticks for one in tick.bins)
    rate = claim_rate(sums)
    return {
        "rate": rate.value,
        "low": rate.low,
        "high": rate.high,
        "claims": sums.claims,
        "answers": sums.answers,
    }


def moment(at_ns: int) -> str:
    """A time as ISO 8601 in UTC, to the second."""
    shown = datetime.fromtimestamp(at_ns // 10**9, UTC).isoformat(timespec="seconds")
    return shown.replace("+00:00", "Z")


def _issues(client: Client, found: Sequence[GrownIssue]) -> list[Facts]:
    titles = {one.id: one.title for one in watched_issues(client)} if found else {}
    return [
        {
            "id": f"{one.id:016x}",
            "title": titles.get(one.id, ""),
            "failures_an_hour_before": one.before,
            "failures_an_hour_after": one.after,
        }
        for one in found
    ]


def _ticks(
    client: Client, service: str, route: str, verifier: str, since_ns: int, until_ns: int
) -> list[Tick]:
    """Those of the route."""
    read = route_ticks(
        client,
        since_ns=since_ns,
        until_ns=until_ns,
        verifier=verifier,
        service=service,
        route=route,
    )
    return [tick for one in read for tick in one.ticks]


def _changed(client: Client, grew: GrowthWindow) -> list[Facts]:
    found = changes(
        client,
        service=grew.service,
        route=grew.route,
        verifier=grew.verifier,
        at_ns=grew.at_ns,
        since_ns=grew.at_ns - CHANGED_NS,
        until_ns=grew.until_ns,
        limit=SHOWN,
    )
    return [
        {
            "attribute": one.attribute,
            "value": one.value,
            "share_before": one.before,
            "share_after": one.after,
            "first_seen": moment(one.first_ns),
        }
        for one in found
    ]


def _documents(found: Sequence[GrownDocument]) -> list[Facts]:
    return [
        {
            "id": one.id,
            "failures_an_hour_before": one.before,
            "failures_an_hour_after": one.after,
        }
        for one in found
    ]


def _worst(client: Client, grew: GrowthWindow) -> list[Facts]:
    found = worst_answers(
        client,
        service=grew.service,
        route=grew.route,
        verifier=grew.verifier,
        since_ns=grew.at_ns,
        until_ns=grew.until_ns,
        limit=WORST,
        chars=CLAIM_CHARS,
    )
    return [
        {
            "trace_id": one.trace_id,
            "span_id": one.span_id,
            "unfaithful": one.unfaithful,
            "decided": one.decided,
            "label": one.label,
            "claim_index": one.index,
            "claim": one.claim,
        }
        for one in found
    ]


Place = tuple[str, str]
# Facts cost a few statements a route: they are made anew when so old, or when the rise is another.
FRESH_NS = 600 * 10**9
# Of more routes at once, the surest; the others follow when these are over.
MOST = 50
# A route without an answer for a day has no rate that could be wrong now.
SILENT_NS = DAY_NS
CRITICAL_POINTS = 0.05

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Made:
    at_ns: int
    began_ns: int
    starts_ns: int
    facts: Facts


class DriftAlerts:
    """Makes the alerts of a round; facts are kept between rounds."""

    def __init__(self, client: Client) -> None:
        """Nothing was found yet."""
        self._client = client
        self._made: dict[Place, _Made] = {}

    def alerts(self, findings: Mapping[Place, Finding], verifier: str, now_ns: int) -> list[Alert]:
        """One of each route that is alarmed, the surest `MOST` of them."""
        paged = {
            place: found
            for place, found in findings.items()
            if found.state == "page" and now_ns - found.tick_ns < SILENT_NS
        }
        order = sorted(paged, key=lambda place: (-paged[place].page, place))[:MOST]
        self._made = {place: made for place, made in self._made.items() if place in paged}
        return [self._alert(place, paged[place], verifier, now_ns) for place in order]

    def _alert(self, place: Place, found: Finding, verifier: str, now_ns: int) -> Alert:
        known = self._known(place, found, verifier, now_ns)
        before, after = _rate(known.facts, "before"), _rate(known.facts, "after")
        severity, name = Severity.ERROR, place[1] or "a route"
        title = f"Drift detected on {name}: "
        if before is not None and after is not None:
            title += f"{after:.1%} of claims are unfaithful, up from {before:.1%}"
            if after - before >= CRITICAL_POINTS:
                severity = Severity.CRITICAL
        else:
            title += "more claims are unfaithful than before"
        return Alert(Rule.ROUTE_DRIFT, severity, *place, 0, title, known.facts, known.starts_ns)

    def _known(self, place: Place, found: Finding, verifier: str, now_ns: int) -> _Made:
        """The facts of that rise; where they cannot be read, older ones or what is found alone."""
        began = found.began_ns or found.tick_ns
        known = self._made.get(place)
        is_same = known is not None and known.began_ns == began
        if known is not None and is_same and 0 <= now_ns - known.at_ns < FRESH_NS:
            return known
        service, route = place
        try:
            starts, facts = drift_facts(
                self._client,
                service=service,
                route=route,
                verifier=verifier,
                found=found,
                now_ns=now_ns,
            )
        except Exception as error:  # noqa: BLE001 - a border: a rise is told without its facts too
            log.warning("the facts of a rise could not be read: %s", shown(error))
            if known is not None and is_same:
                return known
            return _Made(now_ns, began, began, least_facts(found, verifier))
        made = self._made[place] = _Made(now_ns, began, starts, facts)
        return made


def _rate(facts: Facts, when: str) -> float | None:
    told = facts.get(when)
    rate = told.get("rate") if isinstance(told, dict) else None
    return float(rate) if rate is not None else None
