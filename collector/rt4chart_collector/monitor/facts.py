"""What an alarm says of a rise: before and after, what grew, what changed, the worst answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from otel_rt4chart.rates import claim_rate, wilson
from rt4chart_collector.drift.baseline import Baseline
from rt4chart_collector.drift.finding import Finding
from rt4chart_collector.drift.policy import DAY_NS, TICK_NS
from rt4chart_collector.monitor.onset import rise_began
from rt4chart_collector.store.changes import changes
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.growth import GrownDocument, GrownIssue, Span, grown
from rt4chart_collector.store.issue_watch import watched_issues
from rt4chart_collector.store.ticks import Tick, route_ticks, sums_of
from rt4chart_collector.store.worst_answers import worst_answers

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
    grew = Span(service, route, verifier, began - GREW_NS, began, until)
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


def _changed(client: Client, grew: Span) -> list[Facts]:
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


def _worst(client: Client, grew: Span) -> list[Facts]:
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
