"""The tickets of an issue, as its trail has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rt4chart_collector.store.issues.issue_events import IssueEvent, event_value

# The system of a ticket that a person linked by its address.
LINK = "link"


@dataclass(frozen=True, slots=True)
class RecordedTicket:
    """An issue's ticket in one system, as the trail recorded it last."""

    system: str
    key: str
    url: str
    claims: int
    at_ns: int


def recorded_tickets(trail: Iterable[IssueEvent]) -> list[RecordedTicket]:
    """The last recorded ticket of each system, and the linked ones, of a trail in order."""
    found: dict[str, RecordedTicket] = {}
    for event in trail:
        if event.kind == "ticket" and (value := event_value(event)):
            system, key, url = (str(value.get(name, "")) for name in ("system", "key", "url"))
            claims = int(value.get("claims", 0))
            name = f"{LINK} {url}" if system == LINK else system
            found.pop(name, None)
            if not value.get("removed"):
                found[name] = RecordedTicket(system, key, url, claims, event.at_ns)
    return list(found.values())
