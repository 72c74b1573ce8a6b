"""Filing an issue: one ticket in each system, updated with news, recorded in the trail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.issue_state import growth_point
from rt4chart_clustering.tickets.ticket import Filed, News, System, Ticket
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import give_back, take
from rt4chart_collector.store.issues.issue_events import Event, events_of_all, record
from rt4chart_collector.store.issues.issues import Issue

# Without a lease two processes could both look for the ticket, find none, and create one.
_HELD_NS = 120_000_000_000


class Done(StrEnum):
    """The outcome of filing. The values are stored in trails."""

    CREATED = "created"
    FOUND = "found"
    UPDATED = "told"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Filing:
    """The outcome and the ticket."""

    done: Done
    filed: Filed


@dataclass(frozen=True, slots=True)
class Known:
    """An issue's ticket in one system, as the trail recorded it last."""

    system: str
    filed: Filed
    claims: int
    at_ns: int


def file(
    client: Client,
    issue: Issue,
    ticket: Ticket,
    system: System,
    *,
    actor: str,
    clock: Callable[[], int] = time.time_ns,
) -> Filing:
    """Create the ticket where there is none, else update it with what is new.

    The system is searched before a ticket is created: an earlier attempt may have ended before it
    was recorded. For the same reason an update may be sent twice. `clock` gives nanoseconds.
    """
    # Not the time at which the command began: diagnosing may take longer than the lease holds.
    at_ns = clock()
    with _alone(client, f"ticket/{system.name}/{issue.id:016x}", actor, at_ns):
        trail = events_of_all(client, issue.ids)
        known = next((one for one in known_tickets(trail) if one.system == system.name), None)
        if known is None:
            found = system.find(ticket)
            filed = found or system.create(ticket)
            done = Done.FOUND if found else Done.CREATED
        else:
            filed, news = known.filed, news_of(issue, known, trail)
            is_sent = news is not None and system.update(filed, ticket, news)
            done = Done.UPDATED if is_sent else Done.UNCHANGED
        if done is not Done.UNCHANGED:
            value = {"system": system.name, "key": filed.key, "url": filed.url}
            written = json.dumps({**value, "claims": issue.claims, "done": done})
            record(client, [Event(issue.id, at_ns, "ticket", written, "", actor)])
        return Filing(done, filed)


def known_tickets(trail: Iterable[Event]) -> list[Known]:
    """The last recorded ticket of each system in a trail, which is in order."""
    found: dict[str, Known] = {}
    for event in trail:
        if event.kind == "ticket" and (value := _value(event)):
            name = str(value.get("system", ""))
            filed = Filed(str(value.get("key", "")), str(value.get("url", "")))
            found[name] = Known(name, filed, int(value.get("claims", 0)), event.at_ns)
    return list(found.values())


def news_of(issue: Issue, known: Known, trail: Iterable[Event]) -> News | None:
    """A regression since the ticket was last recorded, else a growth point passed since then."""
    again = [e for e in trail if (e.kind, e.value) == ("state", "regressed")]
    if again and again[-1].at_ns > known.at_ns:
        text = f"The issue was resolved, and failures match it again: {issue.claims} claims by now."
        return News(MessageKind.REGRESSED, text, f"regressed:{again[-1].at_ns}")
    point = growth_point(issue.claims)
    if point > known.claims:
        text = f"The issue has grown from {known.claims} to {issue.claims} claims."
        return News(MessageKind.GROWN, text, f"grown:{point}")
    return None


def _value(event: Event) -> dict[str, Any]:
    try:
        value = json.loads(event.value)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@contextmanager
def _alone(client: Client, name: str, actor: str, at_ns: int) -> Iterator[None]:
    holder = f"{actor}/{at_ns}"
    if not take(client, name, holder, now_ns=at_ns, for_ns=_HELD_NS):
        raise InputError("another process is filing this issue: try again in two minutes")
    try:
        yield
    finally:
        give_back(client, name, holder, now_ns=at_ns)
