"""What happened about an alert, in order and in words: detected, notified, acknowledged, … Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.text import one_line
from rt4chart_collector.core.actors import SYSTEM_ACTOR
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.incident.changes import FirstSeen
from rt4chart_collector.notify.channels.message import MessageKind

TEXT = 200
MAX_CHANGES = 5
WORDS: Mapping[str, str] = {
    AlertEventKind.FIRED: "detected",
    AlertEventKind.WORSE: "got worse",
    AlertEventKind.UPDATED: "facts read again",
    AlertEventKind.QUIET: "no evidence any more",
    AlertEventKind.AGAIN: "evidence again",
    AlertEventKind.RESOLVED: "resolved: the evidence is gone",
    AlertEventKind.DISMISSED: "resolved by hand",
    AlertEventKind.ACCEPTED: "accepted as the usual rate",
    AlertEventKind.RETRACTED: "acceptance undone",
    AlertEventKind.ACKNOWLEDGED: "acknowledged",
    AlertEventKind.SNOOZED: "snoozed",
    AlertEventKind.ASSIGNED: "assigned",
    AlertEventKind.LINKED: "ticket linked",
}
MESSAGES: Mapping[str, str] = {
    MessageKind.FIRED: "that it fired",
    MessageKind.WORSE: "that it got worse",
    MessageKind.REMINDED: "a reminder",
    MessageKind.ACKNOWLEDGED: "that it is acknowledged",
    MessageKind.RESOLVED: "that it is over",
}


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One line: what happened, to whom or what, by whom (a person), with which note or error."""

    at_ns: int
    what: str
    detail: str = ""
    actor: str = ""
    note: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The current episode of an alert in order, and the entries of earlier ones, the newest first.

    `arrived` are the receivers that a message about this episode reached, `missed` those that none
    has reached.
    """

    entries: tuple[TimelineEntry, ...]
    earlier: tuple[TimelineEntry, ...]
    arrived: tuple[str, ...]
    missed: tuple[str, ...]


def timeline(
    state: AlertState,
    events: Sequence[AlertEvent],
    *,
    began_ns: int = 0,
    changes: Iterable[FirstSeen] = (),
) -> Timeline:
    """The events, the newest first, with the beginning of the rise and what came into use."""
    current = [event for event in reversed(events) if event.at_ns >= state.fired_ns]
    entries = [
        *(_came(change) for change in _nearest(changes, began_ns)),
        *([TimelineEntry(began_ns, "the rise begins")] if began_ns else ()),
        *map(entry_of, current),
    ]
    notified = _targets(current, AlertEventKind.NOTIFIED)
    failed = _targets(current, AlertEventKind.FAILED)
    return Timeline(
        entries=tuple(sorted(entries, key=lambda one: one.at_ns)),
        earlier=tuple(entry_of(event) for event in events if event.at_ns < state.fired_ns),
        arrived=tuple(notified),
        missed=tuple(target for target in failed if target not in notified),
    )


def entry_of(event: AlertEvent) -> TimelineEntry:
    """One event in words; of an unknown kind, its name."""
    body = event.body
    target, error = (one_line(str(body.get(name, "")), TEXT) for name in ("target", "error"))
    about = MESSAGES.get(str(body.get("what", "")), one_line(str(body.get("what", "")), TEXT))
    what, detail = WORDS.get(str(event.kind), one_line(str(event.kind), TEXT)), ""
    match event.kind:
        case AlertEventKind.FIRED | AlertEventKind.WORSE:
            detail = one_line(event.alert.severity, TEXT)
        case AlertEventKind.NOTIFIED:
            what, detail = f"{target} notified", about
        case AlertEventKind.FAILED:
            what, detail = f"{target} not notified", about
        case AlertEventKind.ABANDONED:
            what, detail = f"{target} given up", f"{about}: tried for the last time"
        case AlertEventKind.ASSIGNED:
            owner = one_line(str(body.get("owner", "")), TEXT)
            what = f"assigned to {owner}" if owner else "assigned to nobody"
        case AlertEventKind.LINKED:
            what = "ticket removed" if body.get("removed") else what
            detail = one_line(str(body.get("url", "")), TEXT)
        case AlertEventKind.SNOOZED:
            detail = _until(body.get("until_ns"))
    person = "" if event.actor == SYSTEM_ACTOR else event.actor
    return TimelineEntry(event.at_ns, what, detail, person, event.note, error)


def _until(until_ns: object) -> str:
    return f"until {utc_time(until_ns)}" if isinstance(until_ns, int) and until_ns > 0 else ""


def _came(change: FirstSeen) -> TimelineEntry:
    name = change.attribute.replace("_", " ")
    return TimelineEntry(change.at_ns, f"{name} {one_line(change.value, TEXT)} first seen")


def _nearest(changes: Iterable[FirstSeen], began_ns: int) -> list[FirstSeen]:
    """Those nearest to the beginning of the rise, where there are many."""
    return sorted(changes, key=lambda one: abs(one.at_ns - began_ns))[:MAX_CHANGES]


def _targets(events: Iterable[AlertEvent], kind: AlertEventKind) -> list[str]:
    """The receivers of the events of this kind, each once, in order."""
    names = (str(event.body.get("target", "")) for event in events if event.kind == kind)
    return list(dict.fromkeys(one_line(name, TEXT) for name in names))
