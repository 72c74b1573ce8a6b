"""A message about an alert or an issue, and the channel that carries it.

Alerts and tickets share the channels: each builds a `Message`, and a channel sends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class MessageKind(StrEnum):
    """What a message reports: of an alert the first five, of an issue the others.

    The values are stored in the trails of alerts.
    """

    FIRED = "fired"
    WORSE = "worse"
    REMINDED = "reminded"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    CREATED = "created"
    GROWN = "grown"
    REGRESSED = "regressed"


ISSUE_KINDS = frozenset({MessageKind.CREATED, MessageKind.GROWN, MessageKind.REGRESSED})
ALERT_KINDS = frozenset(MessageKind) - ISSUE_KINDS


@dataclass(frozen=True, slots=True)
class MessageLink:
    """A URL of the console and the text that it stands under."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message in parts that every service can show. All texts are untrusted.

    `id` is the same when the message is sent again, `subject` is the same for every message about
    the same alert or issue. `thread` is what the channel returned for the first of them.
    `severity` is one of PagerDuty's words, `category` the alert's rule or the kind of issue.
    `headline` says what happened, `title` what is wrong. `facts` are names and values of one line
    each, the most important first. `description`, `advice`, `examples` and `command` (how to see
    more on a terminal) are longer texts, empty where there are none. `link` is the console's page,
    `links` are related pages. `labels` identify the subject in Prometheus' terms, and `extra` are
    more fields for machines. `ended_ns` counts only where the message says that the alert is over.
    """

    id: str
    kind: MessageKind
    subject: str
    subject_id: str
    severity: str
    service: str
    route: str
    category: str
    headline: str
    title: str
    facts: tuple[tuple[str, str], ...]
    labels: Mapping[str, str]
    started_ns: int
    ended_ns: int = 0
    now_ns: int = 0
    thread: str = ""
    link: str = ""
    links: tuple[MessageLink, ...] = ()
    description: str = ""
    advice: str = ""
    examples: tuple[str, ...] = ()
    command: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """True where the message says that the alert is over."""
        return self.kind is MessageKind.RESOLVED

    @property
    def body(self) -> str:
        """The facts, one a line, and the links."""
        lines = [f"{name}: {value}" for name, value in self.facts]
        lines += [f"{link.text}: {link.url}" for link in self.links]
        return "\n".join([*lines, *([self.link] if self.link else [])])


class Channel(Protocol):
    """A service that messages can be sent to."""

    @property
    def name(self) -> str:
        """The channel's name in settings and in the trails of alerts and issues."""

    @property
    def wants(self) -> frozenset[MessageKind]:
        """The kinds of message that the service has a place for."""

    def send(self, message: Message) -> str:
        """Send it and return the key of the service's thread, or ""; NotifyError where it fails."""
