"""What the monitor saw last, as figures for /metrics."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.verify.core.rates import claim_rate
from rt4chart_collector.detect.drift.finding import Finding
from rt4chart_collector.detect.drift.policy import HOUR_NS
from rt4chart_collector.detect.monitor.drift_alerts import SILENT_NS
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.coverage import coverage
from rt4chart_collector.store.ticks import route_ticks, sums_of
from rt4chart_collector.telemetry.figures import RouteFigures

# So many series are borne by any Prometheus; docs/reference/metrics.md names the number.
MOST = 200


def route_figures(
    client: Client,
    findings: Mapping[tuple[str, str], Finding],
    *,
    verifier: str,
    now_ns: int,
    rule: str,
) -> tuple[RouteFigures, ...]:
    """The figures of the watched routes with an answer of the last day, of the last hour's answers.

    Of more than `MOST` those with the most traffic.
    """
    heard = {place: one for place, one in findings.items() if now_ns - one.tick_ns < SILENT_NS}
    if not heard:
        return ()
    busiest = sorted(heard, key=lambda place: (-heard[place].traffic_per_hour, place))
    since = now_ns - HOUR_NS
    ticks_read = route_ticks(client, since_ns=since, until_ns=now_ns, verifier=verifier)
    read = {(one.service, one.route): one for one in ticks_read}
    covered = coverage(client, since_ns=since, until_ns=now_ns, verifier=verifier)
    found = []
    for place in busiest[:MOST]:
        ticks = read[place].ticks if place in read else ()
        sums = sums_of(one for tick in ticks for one in tick.bins)
        known = covered.get(place)
        found.append(
            RouteFigures(
                *place,
                claims=sums.claims,
                rate=claim_rate(sums).value,
                undecided=known.undecided_share if known else None,
                evidence=_levels(findings[place], rule),
                thresholds=_bounds(findings[place], rule),
                detectable=findings[place].detectable,
            )
        )
    return tuple(found)


def _levels(found: Finding, rule: str) -> dict[str, float]:
    """The other rules have no evidence, and a cold route has none yet."""
    if rule != "evidence" or found.state == "cold":
        return {}
    return {"any": found.warn, "page": found.page}


def _bounds(found: Finding, rule: str) -> dict[str, float]:
    return {"warn": found.warn_at, "page": found.page_at} if _levels(found, rule) else {}
