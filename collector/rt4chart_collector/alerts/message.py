"""A message on an alert, in words that every service can show: its texts are one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rt4chart_collector.alerts.due import What
from rt4chart_collector.alerts.telling import Link, lines_of
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.alerts.times import lasted
from rt4chart_collector.sending.text import line


@dataclass(frozen=True, slots=True)
class Message:
    """What one target is told; `id` is the same when it is sent again.

    `key` is what the target called its first message of this alert, `link` is empty where no
    console is named, `lines` are the facts in the order in which they matter, what to do last;
    `links` are the worst answers, where there is a console.
    """

    id: str
    what: What
    alert: Alert
    headline: str
    lines: tuple[tuple[str, str], ...]
    links: tuple[Link, ...]
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
        """The facts, one a line, and the links."""
        told = [f"{name}: {value}" for name, value in self.lines]
        answers = [f"{one.text}: {one.url}" for one in self.links]
        return "\n".join([*told, *answers, *([self.link] if self.link else [])])


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
    alert, base = state.alert, console.rstrip("/")
    lines, links = lines_of(state, now_ns, console=base, with_texts=with_texts)
    return Message(
        id=message_id,
        what=what,
        alert=alert,
        headline=headline(state, what, now_ns),
        lines=lines,
        links=links,
        link=f"{base}/alerts/{alert.id}" if base else "",
        fired_ns=state.fired_ns,
        ended_ns=state.resolved_ns or now_ns,
        now_ns=now_ns,
        key=key,
    )


def headline(state: AlertState, what: What, now_ns: int) -> str:
    """The first line: how bad, or what became of it, and the title."""
    alert, taken = state.alert, f"acknowledged by {line(state.acknowledged_by, 100)}"
    words = {
        # Who is told late, such as after maintenance, is told that somebody took it on.
        What.FIRED: f"{alert.severity}" + (f", {taken}" if state.acknowledged_ns else ""),
        What.WORSE: f"now {alert.severity}",
        What.REMINDED: f"still {alert.severity} after {lasted(state.fired_ns, now_ns)}",
        What.ACKNOWLEDGED: taken,
        What.RESOLVED: f"resolved after {lasted(state.fired_ns, state.resolved_ns or now_ns)}",
    }
    return f"{words[what]}: {alert.title or alert.rule}"
