"""The message about an alert: what happened, since when, what changed, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from otel_rt4chart.core.tenants import tenant_of_service
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.model import status_label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.alert import Alert, Rule
from rt4chart_collector.core.alerts.facts import (
    AlertFacts,
    AttributeChange,
    BacklogFacts,
    CorrectedRateFacts,
    DriftFacts,
    FailureGrowth,
    GrowingIssueFacts,
    JudgeDriftFacts,
    JudgeFacts,
    MeasuredRate,
    NewIssueFacts,
    NoDataFacts,
    NoteFacts,
    PointsRange,
    RiseParts,
    UndecidedFacts,
    attribute_changes,
)
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.times import iso, lasted
from rt4chart_collector.notify.channels.message import Message, MessageKind, MessageLink
from rt4chart_collector.notify.next_step import next_step

WORST, UNKNOWN, CLAIM, VALUE = 3, 16, 200, 500
# A smaller part of a rise is not mentioned.
LEAST_PART = 0.005
ISSUE_ID = re.compile(r"[0-9a-f]{16}")
Lines = tuple[tuple[str, str], ...]


def alert_message(
    state: AlertState,
    kind: MessageKind,
    message_id: str,
    now_ns: int,
    *,
    console: str = "",
    with_texts: bool = False,
    thread: str = "",
) -> Message:
    """The message of that kind about the alert.

    `console` is the console's address, "" where none is configured; `with_texts` says whether
    claims and answers of users may be quoted.
    """
    alert, base = state.alert, console.rstrip("/")
    facts, links = fact_lines(state, now_ns, console=base, with_texts=with_texts)
    link = f"{base}/alerts/{alert.id}" if base else ""
    return Message(
        id=message_id,
        kind=kind,
        subject=f"rt4chart:alert:{alert.id}",
        subject_id=alert.id,
        severity=str(alert.severity),
        service=alert.service,
        route=alert.route,
        category=str(alert.rule),
        headline=headline(state, kind, now_ns),
        title=alert.title or str(alert.rule),
        facts=facts,
        labels=_labels(alert),
        started_ns=state.fired_ns,
        ended_ns=state.resolved_ns or now_ns,
        now_ns=now_ns,
        thread=thread,
        link=link,
        links=links,
        extra={
            "rule": str(alert.rule),
            **_tenant(alert.service),
            **_measure(alert.facts),
            "links": [{"text": link.text, "url": link.url} for link in links],
        },
    )


def _tenant(service: str) -> dict[str, object]:
    """The tenant, if there is one, for receivers that pass messages on to their customers."""
    tenant = tenant_of_service(service)
    return {"tenant": tenant} if tenant else {}


def _measure(facts: AlertFacts) -> dict[str, object]:
    """Which claims a drift alert counts, for receivers that read fields; nothing for others."""
    return {"measure": str(facts.measure)} if isinstance(facts, DriftFacts) else {}


def headline(state: AlertState, kind: MessageKind, now_ns: int) -> str:
    """The first line: the severity or what happened, and the title."""
    alert, ended_ns = state.alert, state.resolved_ns or now_ns
    taken = f"acknowledged by {one_line(state.acknowledged_by, 100)}"
    words = {
        # An alert that was acknowledged in a silence is reported with that when the silence ends.
        MessageKind.FIRED: f"{alert.severity}" + (f", {taken}" if state.acknowledged_ns else ""),
        MessageKind.WORSE: f"now {alert.severity}",
        MessageKind.REMINDED: f"still {alert.severity} after {lasted(state.fired_ns, now_ns)}",
        MessageKind.ACKNOWLEDGED: taken,
        MessageKind.RESOLVED: f"resolved after {lasted(state.fired_ns, ended_ns)}",
    }
    return f"{words[kind]}: {alert.title or alert.rule}"


def _labels(alert: Alert) -> dict[str, str]:
    """What identifies the alert in Alertmanager: no numbers that change, and no empty values."""
    rule = "".join(word.capitalize() for word in str(alert.rule).split("_"))
    labels = {
        "alertname": f"Rt4chart{rule}",
        "severity": str(alert.severity),
        "tenant": one_line(tenant_of_service(alert.service), 255),
        "service": one_line(alert.service, 255),
        "route": one_line(alert.route, 255),
        "issue_id": f"{alert.issue_id:016x}" if alert.issue_id else "",
    }
    return {name: value for name, value in labels.items() if value}


def fact_lines(
    state: AlertState, now_ns: int, *, console: str, with_texts: bool
) -> tuple[Lines, tuple[MessageLink, ...]]:
    """The facts as names and values of one line each, and the worst answers' links.

    Without a console the worst answers are lines with their trace ids.
    """
    facts, links = state.alert.facts, tuple[MessageLink, ...]()
    if isinstance(facts, DriftFacts) and console:
        links = tuple(_worst_answers(facts, console, with_texts))
    if isinstance(facts, NewIssueFacts) and facts.largest and console:
        links = tuple(_largest_issues(facts, console))
    lines: dict[str, str] = {}
    for name, value in _lines(state, now_ns, with_texts=with_texts, with_worst=not console):
        lines.setdefault(one_line(name, 60), one_line(value, VALUE))
    return tuple((name, value) for name, value in lines.items() if value), links


def _lines(
    state: AlertState, now_ns: int, *, with_texts: bool, with_worst: bool
) -> Iterator[tuple[str, str]]:
    alert, facts = state.alert, state.alert.facts
    drift = facts if isinstance(facts, DriftFacts) else DriftFacts()
    yield "service", alert.service
    yield "route", alert.route
    yield f"{drift.measure} claims", _rates(drift)
    if isinstance(facts, GrowingIssueFacts):
        before = f"{facts.failures_a_day_before:.2g} a day before that"
        yield "failures in the last 24 h", f"{facts.failures_today:.0f}, {before}"
    yield _since(state, now_ns)
    yield "changed", _changes(drift)
    yield "issue", f"{alert.issue_id:016x}" if alert.issue_id else ""
    yield "issues that grew", _growth(drift.issues)
    yield "documents in failures", _growth(drift.documents)
    yield from figures(facts)
    if with_texts:
        yield from unknown_facts(facts)
    if with_worst:
        answers = [
            f"{link.text} (trace {link.url})" for link in _worst_answers(drift, "", with_texts)
        ]
        yield "worst answers", "; ".join(answers)
    yield "next", next_step(alert.rule)


def figures(facts: AlertFacts) -> Lines:
    """The facts that are single figures, as names and values."""
    match facts:
        case DriftFacts(parts=RiseParts() as parts):
            return (("of the rise", _parts(parts)),)
        case UndecidedFacts():
            return (
                ("undecided share", f"{facts.undecided_share:.1%}"),
                ("undecided", str(facts.undecided)),
                ("claims", str(facts.claims)),
            )
        case JudgeFacts():
            return (
                ("failed share", f"{facts.failed_share:.1%}"),
                ("failed", str(facts.failed)),
                ("answers", str(facts.answers)),
                ("paused", facts.paused or ""),
            )
        case JudgeDriftFacts():
            return tuple(_judge_drift(facts))
        case CorrectedRateFacts():
            return (
                ("corrected rate, last 7 days", _of_labels(facts.rate)),
                ("limit", f"{facts.limit * 100:.4g}%"),
                ("judge's own rate", "–" if facts.raw is None else f"{facts.raw:.1%}"),
                ("labels drawn from", f"{facts.covered:.0%} of the claims"),
                ("verifier", facts.verifier),
            )
        case BacklogFacts():
            return (
                ("waiting", str(facts.waiting)),
                ("dead last hour", str(facts.dead_last_hour)),
            )
        case NoDataFacts():
            last_ns = facts.last_answer_ns
            return (
                ("expected answers", str(facts.expected_answers)),
                ("last answer", "–" if last_ns is None else iso(last_ns)),
            )
        case NewIssueFacts(largest=largest) if largest:
            largest_lines = "; ".join(
                f"{one.share:.0%} {one_line(one.title, 70)}" for one in largest
            )
            return (("issues", str(facts.issues)), ("largest by failures", largest_lines))
        case NoteFacts():
            return (("what", facts.what),)
    return ()


def _parts(parts: RiseParts) -> str:
    """What the parts of a rise are, and the kinds of questions that changed."""
    kinds = "; ".join(
        f"{one_line(kind.value or 'unknown', 60)} {kind.share_before or 0:.0%} → "
        f"{kind.share_after or 0:.0%}"
        for kind in parts.kinds
    )
    time = f", {_points(parts.time)} the time" if abs(parts.time) >= LEAST_PART else ""
    return (
        f"of {_points(parts.points)} points, {_range(parts.mix)} are another mix of questions "
        f"({kinds}){time}, and {_range(parts.quality)} are quality"
    )


def _range(part: PointsRange) -> str:
    return f"{_points(part.points)} ({_points(part.low)} to {_points(part.high)})"


def _points(share: float) -> str:
    return f"{share * 100:+.1f}"


def _judge_drift(facts: JudgeDriftFacts) -> Iterator[tuple[str, str]]:
    """What was compared, and the corrected rates: precision also falls with the rate."""
    for change in facts.changes:
        known = [one for one in (change.before, change.after) if one is not None]
        yield f"{change.name} of the judge", " → ".join(map(_rate, known))
    yield (
        "compared",
        f"{facts.labels_after} labels on answers of the last 7 days with {facts.labels_before} on "
        "those of the 21 days before; the 95% intervals do not overlap",
    )
    rates = [one for one in (facts.rate_before, facts.rate_after) if one is not None]
    if all(one.rate is not None for one in rates):
        yield "corrected rate", " → ".join(map(_rate, rates))
    yield "verifier", facts.verifier


def _of_labels(measured: MeasuredRate) -> str:
    return f"{_rate(measured)}, {measured.claims} labels"


def _largest_issues(facts: NewIssueFacts, console: str) -> Iterator[MessageLink]:
    """The list of all issues, and each of the largest with its share and route."""
    yield MessageLink(f"all {facts.issues} issues", f"{console}/issues")
    for one in facts.largest:
        if ISSUE_ID.fullmatch(one.issue):
            of_route = f"{one.service}/{one.route}".strip("/")
            text = one_line(f"{one.share:.0%} {one.title} ({of_route or 'no route'})", 300)
            yield MessageLink(text, f"{console}/issues/{one.issue}")


def unknown_facts(facts: AlertFacts) -> Lines:
    """The stored facts that this version does not know, bounded."""
    return tuple(
        (name.replace("_", " "), str(value)[:VALUE])
        for name, value in list(facts.unknown.items())[:UNKNOWN]
        if value not in (None, "", [], {})
    )


def _rates(facts: DriftFacts) -> str:
    """The rate before and after, each with its interval and numbers."""
    known = [
        measured
        for measured in (facts.before, facts.after)
        if measured is not None and measured.rate is not None
    ]
    return " → ".join(map(_rate, known))


def _rate(measured: MeasuredRate) -> str:
    if measured.rate is None:
        return "unknown"
    interval = ""
    if measured.low is not None and measured.high is not None:
        interval = f" ({measured.low:.1%} to {measured.high:.1%})"
    numbers = f", {measured.claims} claims in {measured.answers} answers"
    return f"{measured.rate:.1%}{interval}{numbers if measured.answers else ''}"


def _since(state: AlertState, now_ns: int) -> tuple[str, str]:
    """When it began. Growth is measured against the days before, so it has no beginning."""
    since_ns = state.alert.starts_ns or state.fired_ns
    name = "fired" if state.alert.rule == Rule.GROWING_ISSUE else "since"
    at_ns = state.fired_ns if name == "fired" else since_ns
    return name, f"{iso(at_ns)}, {lasted(at_ns, now_ns)} ago"


def _changes(facts: DriftFacts) -> str:
    """The change nearest to the rise, and the other attributes that changed."""
    found = attribute_changes(facts.changed, facts.since_ns)
    if not found:
        return ""
    nearest = found[0].new.attribute
    others = sorted({change.new.attribute for change in found[1:]} - {nearest})
    also = f"; also {', '.join(others)}" if others else ""
    return one_line(_change(found[0]), 300) + also.replace("_", " ")


def _change(change: AttributeChange) -> str:
    """One change, such as "release 2.3.0 → 2.4.0", with its time and share of the answers."""
    new = change.new
    values = " → ".join(filter(None, (change.replaced, new.value))) or "(none)"
    at = f" at {iso(new.first_seen_ns)}" if new.first_seen_ns is not None else ""
    shares = [share for share in (new.share_before, new.share_after) if share is not None]
    of_answers = " → ".join(f"{share:.0%}" for share in shares)
    return f"{new.attribute.replace('_', ' ')} {values}{at}" + (
        f" ({of_answers} of the answers)" if of_answers else ""
    )


def _growth(rows: Sequence[FailureGrowth]) -> str:
    """Issues or documents with their failures an hour, before and after."""
    parts = []
    for row in rows[:WORST]:
        before, after = row.failures_an_hour_before, row.failures_an_hour_after
        name = one_line(row.title or row.id, 120)
        if before is not None and after is not None:
            name += f" {_hourly(before)} → {_hourly(after)} failures/h"
        parts.append(name)
    more = len(rows) - WORST
    return "; ".join([*parts, *([f"and {more} more"] if more > 0 else [])])


def _hourly(failures: float) -> str:
    return f"{failures:.1f}" if failures == 0 or failures >= 0.1 else "under 0.1"


def _worst_answers(facts: DriftFacts, console: str, with_texts: bool) -> Iterator[MessageLink]:
    """The worst answers, one for each claim. Without a console the URL is the trace's id.

    A misleading claim is entailed, so its status says what is wrong with it.
    """
    misleads = facts.measure is Measure.MISLEADING
    seen: set[str] = set()
    for answer in facts.worst_answers:
        known_by = answer.claim or answer.trace_id
        if len(seen) >= WORST or not answer.has_trace or known_by in seen:
            continue
        seen.add(known_by)
        number = answer.misleading if misleads else answer.unfaithful
        counts = f"{number} of {answer.decided} claims {facts.measure}"
        problem = status_label(answer.status) if misleads else answer.label
        quoted = f"“{one_line(answer.claim, CLAIM)}”" if with_texts and answer.claim else ""
        text = one_line(", ".join(filter(None, (problem, counts, quoted))), 300)
        if not console:
            yield MessageLink(text, answer.trace_id)
        elif answer.has_span:
            anchor = f"#claim-{answer.claim_index}" if answer.claim_index >= 0 else ""
            url = f"{console}/answers/{answer.trace_id}/{answer.span_id}{anchor}"
            yield MessageLink(text, url)
        else:
            yield MessageLink(text, f"{console}/answers?q={answer.trace_id}")
