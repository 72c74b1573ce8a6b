"""File an issue: one ticket in each system, updated with changes and recorded in the trail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.issue_state import growth_point
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket, TicketSystem, TicketUpdate
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease, release_lease
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of_all, record_events
from rt4chart_collector.store.issues.issue_tickets import RecordedTicket, recorded_tickets
from rt4chart_collector.store.issues.issues import Issue

# Without a lease two processes could both look for the ticket, find none, and create one.
_LEASE_NS = 120_000_000_000


class FilingOutcome(StrEnum):
    """The outcome of filing. The values are stored in trails."""

    CREATED = "created"
    FOUND = "found"
    UPDATED = "told"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class FilingResult:
    """The outcome and the ticket."""

    outcome: FilingOutcome
    filed: FiledTicket


def file_ticket(
    client: Client,
    issue: Issue,
    ticket: Ticket,
    system: TicketSystem,
    *,
    actor: str,
    clock: Callable[[], int] = time.time_ns,
) -> FilingResult:
    """Create the issue's ticket, or update it with what has changed since.

    The system is searched before a ticket is created: an earlier attempt may have ended before it
    was recorded. For the same reason an update may be sent twice. `clock` gives nanoseconds.
    """
    # The lease starts now, not when the command did: the diagnosis before it may take longer.
    at_ns = clock()
    with _filing_lease(client, f"ticket/{system.name}/{issue.id:016x}", actor, at_ns):
        trail = events_of_all(client, issue.ids)
        known = next((one for one in recorded_tickets(trail) if one.system == system.name), None)
        if known is None:
            found = system.find(ticket)
            filed = found or system.create(ticket)
            outcome = FilingOutcome.FOUND if found else FilingOutcome.CREATED
        else:
            filed, change = FiledTicket(known.key, known.url), find_update(issue, known, trail)
            is_sent = change is not None and system.update(filed, ticket, change)
            outcome = FilingOutcome.UPDATED if is_sent else FilingOutcome.UNCHANGED
        # Recorded after the system has answered: a crash in between repeats an update, while the
        # record of a ticket that was never created would never be corrected.
        if outcome is not FilingOutcome.UNCHANGED:
            value = {"system": system.name, "key": filed.key, "url": filed.url}
            written = json.dumps({**value, "claims": issue.claims, "done": outcome})
            record_events(client, [IssueEvent(issue.id, at_ns, "ticket", written, "", actor)])
        return FilingResult(outcome, filed)


def find_update(
    issue: Issue, known: RecordedTicket, trail: Iterable[IssueEvent]
) -> TicketUpdate | None:
    """The change since the ticket was last recorded: a regression, else a passed growth point."""
    again = [e for e in trail if (e.kind, e.value) == ("state", "regressed")]
    if again and again[-1].at_ns > known.at_ns:
        text = f"The issue was resolved, and failures match it again: {issue.claims} claims so far."
        return TicketUpdate(MessageKind.REGRESSED, text, f"regressed:{again[-1].at_ns}")
    point = growth_point(issue.claims)
    if point > known.claims:
        text = f"The issue has grown from {known.claims} to {issue.claims} claims."
        return TicketUpdate(MessageKind.GROWN, text, f"grown:{point}")
    return None


@contextmanager
def _filing_lease(client: Client, name: str, actor: str, at_ns: int) -> Iterator[None]:
    holder = f"{actor}/{at_ns}"
    if not acquire_lease(client, name, holder, now_ns=at_ns, for_ns=_LEASE_NS):
        raise InputError("another process is filing this issue: try again in two minutes")
    try:
        yield
    finally:
        release_lease(client, name, holder, now_ns=at_ns)
