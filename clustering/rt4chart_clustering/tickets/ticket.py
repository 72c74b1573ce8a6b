"""A ticket as every system can show it, and where it was filed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from rt4chart_clustering.triage.severity import Level


@dataclass(frozen=True, slots=True)
class Example:
    """A claim of the issue and the sentence against or near it: texts of users and documents."""

    claim: str
    label: str
    sentence: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class Ticket:
    """An issue for people elsewhere; `facts` are lines of name and value, texts are untrusted.

    `examples` is empty unless somebody asked for them: they are what users were told.
    """

    id: str
    title: str
    summary: str
    level: Level
    service: str
    route: str
    facts: tuple[tuple[str, str], ...]
    advice: str = ""
    examples: tuple[Example, ...] = ()

    @property
    def marker(self) -> str:
        """What tells the issue's ticket from all others, in every system."""
        return f"rt4chart:issue:{self.id}"

    @property
    def command(self) -> str:
        """How to see the issue itself."""
        return f"rt4chart issues show {self.id}"


class What(StrEnum):
    """What is new of an issue that has a ticket."""

    GROWN = "grown"
    REGRESSED = "regressed"


@dataclass(frozen=True, slots=True)
class News:
    """Something to say under a ticket; `key` is the same when it is said again."""

    what: What
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Filed:
    """A ticket in a system: its key there, and where a person opens it, empty where nowhere."""

    key: str
    url: str = field(default="")


class System(Protocol):
    """A place for tickets. It creates and comments; nothing here closes or opens one again."""

    @property
    def name(self) -> str:
        """What it is called on the command line and in the trail."""

    def find(self, ticket: Ticket) -> Filed | None:
        """The ticket that an attempt made before which did not live to record it."""

    def create(self, ticket: Ticket) -> Filed:
        """Make the ticket; TicketError where it is refused."""

    def tell(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """Say the news under the ticket; False where the system has no place for it."""
