"""The message about an alert: what happened, since when, what changed, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from otel_rt4chart.core.text import one_line
from rt4chart_collector.core.alerts.alert import Alert, Rule
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.alerts.times import iso, lasted
from rt4chart_collector.notify.alert_facts import TEXTS, VALUE, Came, rate_shown, shown, what_came
from rt4chart_collector.notify.channels.message import Message, MessageKind, MessageLink
from rt4chart_collector.notify.next_step import next_step

ID = re.compile(r"[0-9A-Za-z_.-]{1,128}")
WORST, FACTS, CLAIM = 3, 16, 200
# Facts with a line of their own below, or that only the alert's page has room to explain.
SHOWN_OTHERWISE = frozenset(
    {"before", "after", "since", "changed", "worst_answers", "issue", "title", "evidence"}
    | {"detectable_rise", "verifier", "issues", "documents", "failures_today"}
    | {"failures_a_day_before", "claims_today_over_before", "seen_today"}
)
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
            "links": [{"text": one.text, "url": one.url} for one in links],
        },
    )


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
    links = tuple(_worst(state.alert, console, with_texts)) if console else ()
    lines: dict[str, str] = {}
    for name, value in _lines(state, now_ns, with_texts=with_texts, with_worst=not console):
        lines.setdefault(one_line(name, 60), one_line(value, VALUE))
    return tuple((name, value) for name, value in lines.items() if value), links


def _lines(
    state: AlertState, now_ns: int, *, with_texts: bool, with_worst: bool
) -> Iterator[tuple[str, str]]:
    alert = state.alert
    yield "service", alert.service
    yield "route", alert.route
    yield "unfaithful claims", _rates(alert.facts)
    yield from _failures(alert)
    yield _since(state, now_ns)
    yield "changed", _changed(alert.facts)
    yield "issue", f"{alert.issue_id:016x}" if alert.issue_id else ""
    for name, plural in (("issues", "issues that grew"), ("documents", "documents in failures")):
        yield plural, _grown(alert.facts.get(name))
    others = [one for one in alert.facts.items() if one[0] not in SHOWN_OTHERWISE]
    for name, value in others[:FACTS]:
        if with_texts or name not in TEXTS:
            yield name.replace("_", " "), shown(name, value, with_texts=with_texts)
    if with_worst:
        answers = [f"{one.text} (trace {one.url})" for one in _worst(alert, "", with_texts)]
        yield "worst answers", "; ".join(answers)
    yield "next", next_step(alert.rule)


def _rates(facts: Mapping[str, object]) -> str:
    """The rate before and after, each with its interval and numbers."""
    known = [facts.get(name) for name in ("before", "after")]
    rates = [one for one in known if isinstance(one, Mapping) and one.get("rate") is not None]
    return " → ".join(rate_shown(one) for one in rates)


def _failures(alert: Alert) -> Iterator[tuple[str, str]]:
    """How a growing issue has grown."""
    today, before = (_number(alert.facts.get(f"failures_{n}")) for n in ("today", "a_day_before"))
    if today is not None:
        usual = "" if before is None else f", {before:.2g} a day before that"
        yield "failures in the last 24 h", f"{today:.0f}{usual}"


def _since(state: AlertState, now_ns: int) -> tuple[str, str]:
    """When it began. Growth is measured against the days before, so it has no beginning."""
    since_ns = state.alert.starts_ns or state.fired_ns
    name = "fired" if state.alert.rule == Rule.GROWING_ISSUE else "since"
    at_ns = state.fired_ns if name == "fired" else since_ns
    return name, f"{iso(at_ns)}, {lasted(at_ns, now_ns)} ago"


def _changed(facts: Mapping[str, object]) -> str:
    """The change nearest to the rise, and the other attributes that changed."""
    came = what_came(facts.get("changed"), str(facts.get("since", "")))
    if not came:
        return ""
    others = sorted({one.attribute for one in came[1:]} - {came[0].attribute})
    also = f"; also {', '.join(others)}" if others else ""
    return one_line(_change_line(came[0]), 300) + also.replace("_", " ")


def _change_line(one: Came) -> str:
    """One change, such as "release 2.3.0 → 2.4.0", with its time and share of the answers."""
    values = " → ".join(filter(None, (one.instead, one.value))) or "(none)"
    at = f" at {one.first_seen}" if one.first_seen else ""
    shares = [one.before, one.after]
    moved = " → ".join(f"{share:.0%}" for share in shares if share is not None)
    return f"{one.attribute.replace('_', ' ')} {values}{at}" + (
        f" ({moved} of the answers)" if moved else ""
    )


def _grown(rows: object) -> str:
    """Issues or documents with their failures an hour, before and after."""
    known = [one for one in rows if isinstance(one, Mapping)] if isinstance(rows, list) else []
    parts = []
    for one in known[:WORST]:
        before, after = (_number(one.get(f"failures_an_hour_{n}")) for n in ("before", "after"))
        name = one_line(str(one.get("title") or one.get("id") or ""), 120)
        is_known = before is not None and after is not None
        parts.append(f"{name} {_few(before)} → {_few(after)} failures/h" if is_known else name)
    more = len(known) - WORST
    return "; ".join([*parts, *([f"and {more} more"] if more > 0 else [])])


def _few(hourly: float | None) -> str:
    hourly = hourly or 0.0
    return f"{hourly:.1f}" if hourly == 0 or hourly >= 0.1 else "under 0.1"


def _worst(alert: Alert, console: str, with_texts: bool) -> Iterator[MessageLink]:
    """The worst answers, one for each claim. Without a console the URL is the trace's id."""
    rows = alert.facts.get("worst_answers")
    seen: set[object] = set()
    for one in rows if isinstance(rows, list) else ():
        if not isinstance(one, Mapping) or len(seen) >= WORST:
            continue
        trace, span, index = (one.get(name) for name in ("trace_id", "span_id", "claim_index"))
        claim = str(one.get("claim") or "")
        if not ID.fullmatch(str(trace)) or (claim or trace) in seen:
            continue
        seen.add(claim or trace)
        counts = f"{one.get('unfaithful', '?')} of {one.get('decided', '?')} claims unfaithful"
        label = str(one.get("label") or "")
        quoted = f"“{one_line(claim, CLAIM)}”" if with_texts and claim else ""
        text = one_line(", ".join(filter(None, (label, counts, quoted))), 300)
        if not console:
            yield MessageLink(text, str(trace))
        elif span is not None and ID.fullmatch(str(span)):
            anchor = f"#claim-{index}" if isinstance(index, int) and index >= 0 else ""
            yield MessageLink(text, f"{console}/answers/{trace}/{span}{anchor}")
        else:
            yield MessageLink(text, f"{console}/answers?q={trace}")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
