"""The alerts on routes whose rate has risen, with what there is to know of each."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from rt4chart_collector.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.drift.finding import Finding
from rt4chart_collector.drift.policy import DAY_NS
from rt4chart_collector.monitor.facts import Facts, drift_facts, least_facts
from rt4chart_collector.store.connect import Client
from rt4chart_collector.trouble import shown

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
        severity, name = Severity.ERROR, place[1] or "A route"
        title = f"{name}: more claims are unfaithful than before"
        if before is not None and after is not None:
            title = f"{name}: {after:.1%} of claims are unfaithful, {before:.1%} were before"
            if after - before >= CRITICAL_POINTS:
                severity = Severity.CRITICAL
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
