"""A ticket, the system that it is filed in, and its key there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from rt4chart_clustering.triage.severity import SeverityLevel
from rt4chart_collector.notify.channels.message import MessageKind


@dataclass(frozen=True, slots=True)
class TicketExample:
    """A claim of the issue, the sentences against it or near it, and the one that supports it.

    All are texts of users and documents. `used` is "" for a claim without support. `claimed` and
    `found` are the words in which the claim and the sentences differ.
    """

    claim: str
    label: str
    sentence: str
    trace_id: str
    used: str = ""
    claimed: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ticket:
    """An issue as every ticket system can show it; its texts are untrusted.

    `facts` are lines of name and value. `examples` are answers that users received: the tuple is
    empty unless the person who files the ticket asks for them.
    """

    id: str
    title: str
    summary: str
    level: SeverityLevel
    service: str
    route: str
    facts: tuple[tuple[str, str], ...]
    advice: str = ""
    examples: tuple[TicketExample, ...] = ()
    first_ns: int = 0

    @property
    def marker(self) -> str:
        """What identifies the issue's ticket in every system."""
        return f"rt4chart:issue:{self.id}"

    @property
    def command(self) -> str:
        """The command that shows the issue itself."""
        return f"rt4chart issues show {self.id}"


@dataclass(frozen=True, slots=True)
class TicketUpdate:
    """A change of an issue that has a ticket: it has grown or regressed.

    `key` is the same if the update is sent again.
    """

    kind: MessageKind
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class FiledTicket:
    """A ticket in a system: its key there, and its URL, empty if it has none."""

    key: str
    url: str = field(default="")


class TicketSystem(Protocol):
    """A place for tickets. It creates and updates tickets; it never closes or reopens one."""

    @property
    def name(self) -> str:
        """The name on the command line and in the trail."""

    def find(self, ticket: Ticket) -> FiledTicket | None:
        """The ticket of an earlier attempt that ended before it was recorded."""

    def create(self, ticket: Ticket) -> FiledTicket:
        """Create the ticket; TicketError if the system refuses it."""

    def update(self, filed: FiledTicket, ticket: Ticket, change: TicketUpdate) -> bool:
        """Add the update to the ticket; False if the system does not take it."""
