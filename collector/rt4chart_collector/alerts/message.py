"""A message on an alert, in words that every service can show: its texts are one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from rt4chart_collector.alerts.alert import Alert
from rt4chart_collector.alerts.due import What
from rt4chart_collector.alerts.state import AlertState
from rt4chart_collector.sending.text import line

# What users were told, at any depth of an alert's facts.
TEXTS = frozenset({"claim", "text", "question", "answer"})
SHARES = ("rate", "low", "high", "share", "share_before", "share_after", "detectable_rise")
# Their names say nothing that their values do not.
_NAMELESS = ("id", "title", "attribute", "value", "label")
_LAST_S = 253_402_300_799
_MOST_FACTS, _MOST_ITEMS, _DEPTH, _VALUE = 20, 5, 4, 500


@dataclass(frozen=True, slots=True)
class Message:
    """What one target is told; `id` is the same when it is sent again.

    `key` is what the target called its first message of this alert, `link` is empty where no
    console is named, `lines` are the facts.
    """

    id: str
    what: What
    alert: Alert
    headline: str
    lines: tuple[tuple[str, str], ...]
    link: str
    fired_ns: int
    ended_ns: int
    now_ns: int
    key: str = ""

    @property
    def is_over(self) -> bool:
        """True where it says that the alert ended."""
        return self.what is What.RESOLVED

    @property
    def dedup(self) -> str:
        """What tells the alert from all others, in every service."""
        return f"rt4chart:alert:{self.alert.id}"

    @property
    def body(self) -> str:
        """The facts, one a line, and the link."""
        told = [f"{name}: {value}" for name, value in self.lines]
        return "\n".join([*told, *([self.link] if self.link else [])])


class Target(Protocol):
    """A service that can be told."""

    @property
    def name(self) -> str:
        """What it is called in the settings and in the trail."""

    @property
    def wants(self) -> frozenset[What]:
        """The messages that it has a place for."""

    def send(self, message: Message) -> str:
        """Tell it, and give the key of what it made of it, or ""; NotifyError where it refuses."""


def message_of(
    state: AlertState,
    what: What,
    message_id: str,
    now_ns: int,
    *,
    console: str = "",
    with_texts: bool = False,
    key: str = "",
) -> Message:
    """The message that says this of the alert."""
    alert = state.alert
    return Message(
        id=message_id,
        what=what,
        alert=alert,
        headline=headline(state, what, now_ns),
        lines=tuple(_lines(state, with_texts=with_texts)),
        link=f"{console.rstrip('/')}/alerts/{alert.id}" if console else "",
        fired_ns=state.fired_ns,
        ended_ns=state.resolved_ns or now_ns,
        now_ns=now_ns,
        key=key,
    )


def headline(state: AlertState, what: What, now_ns: int) -> str:
    """The first line: how bad, or what became of it, and the title."""
    alert = state.alert
    words = {
        What.FIRED: f"{alert.severity}",
        What.WORSE: f"now {alert.severity}",
        What.REMINDED: f"still {alert.severity} after {lasted(state.fired_ns, now_ns)}",
        What.ACKNOWLEDGED: f"acknowledged by {line(state.acknowledged_by, 100)}",
        What.RESOLVED: f"resolved after {lasted(state.fired_ns, state.resolved_ns or now_ns)}",
    }
    return f"{words[what]}: {alert.title or alert.rule}"


def lasted(since_ns: int, until_ns: int) -> str:
    """A span in its two largest units."""
    minutes = max(0, until_ns - since_ns) // 60_000_000_000
    days, hours, left = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {left} min" if hours else f"{left} min"


def iso(time_ns: int) -> str:
    """A moment as RFC 3339 has it, in UTC, to the second; its years are 1970 to 9999."""
    moment = datetime.fromtimestamp(min(max(time_ns // 10**9, 0), _LAST_S), UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _lines(state: AlertState, *, with_texts: bool) -> Iterator[tuple[str, str]]:
    alert = state.alert
    for name, place in (("service", alert.service), ("route", alert.route)):
        if place:
            yield name, line(place, _VALUE)
    if alert.issue_id:
        yield "issue", f"{alert.issue_id:016x}"
    yield "since", iso(alert.starts_ns or state.fired_ns)
    for name, value in list(alert.facts.items())[:_MOST_FACTS]:
        if with_texts or name not in TEXTS:
            shown = line(_shown(name, value, with_texts, _DEPTH), _VALUE)
            if shown:
                yield line(name.replace("_", " "), 60), shown


def _shown(name: str, value: object, with_texts: bool, depth: int) -> str:
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        if "rate" in value:
            return _rate(value)
        return ", ".join(list(_parts(value, with_texts, depth))[: 2 * _MOST_ITEMS])
    if isinstance(value, list | tuple):
        parts = [_shown(name, one, with_texts, depth - 1) for one in value[:_MOST_ITEMS]]
        more = len(value) - _MOST_ITEMS
        return "; ".join([*filter(None, parts), *([f"and {more} more"] if more > 0 else [])])
    return _scalar(name, value)


def _parts(value: Mapping[str, object], with_texts: bool, depth: int) -> Iterator[str]:
    """The entries of a mapping; what was before and what after stand together."""
    for key, one in value.items():
        name = str(key)
        if (name in TEXTS and not with_texts) or one in ("", None):
            continue
        root, _, when = name.rpartition("_")
        if when == "after" and f"{root}_before" in value:
            continue
        shown = _shown(name, one, with_texts, depth - 1)
        if when == "before" and f"{root}_after" in value:
            after = _shown(f"{root}_after", value[f"{root}_after"], with_texts, depth - 1)
            yield f"{root.replace('_', ' ')} {shown} → {after}"
        else:
            yield shown if name in _NAMELESS else f"{name.replace('_', ' ')} {shown}"


def _scalar(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("_ns"):
        return iso(value)
    if isinstance(value, float):
        return f"{value:.1%}" if name in SHARES else f"{value:.4g}"
    return "–" if value is None else str(value)[:_VALUE]


def _rate(value: Mapping[str, object]) -> str:
    """A rate with its interval and its number, however many of these are known."""
    told = {name: _scalar(name, one) for name, one in value.items()}
    interval = f" ({told['low']} to {told['high']})" if {"low", "high"} <= set(told) else ""
    counts = " in ".join(f"{told[name]} {name}" for name in ("claims", "answers") if name in told)
    return f"{told['rate']}{interval}" + (f", {counts}" if counts else "")
