"""A world for the life of alerts: what is wrong each round, who can be reached, what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.lifecycle import AlertPolicy, alert_events, apply_events
from rt4chart_collector.core.alerts.silence import Silence, silenced_until
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState, states_of
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.deliveries import (
    AlertReceiver,
    delivered_event,
    due_message,
    failed_events,
)

SECOND = 10**9
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
START = 1_900_000_000 * SECOND
DRIFT = Alert("route_drift", "critical", "shop", "billing", title="Worse answers", starts_ns=START)
ISSUE = Alert("new_issue", "warning", "shop", "billing", 7, "Number differs", starts_ns=START)


@dataclass(frozen=True, slots=True)
class Sent:
    """One message that came through."""

    target: str
    what: MessageKind
    alert_id: str
    episode_ns: int
    severity: str
    at_ns: int


@dataclass
class World:
    """Does per round what `Alerting` does, without a store and a network."""

    policy: AlertPolicy = field(default_factory=AlertPolicy)
    receivers: Sequence[AlertReceiver] = (AlertReceiver("slack"),)
    now_ns: int = START
    silences: list[Silence] = field(default_factory=list)
    states: dict[str, AlertState] = field(default_factory=dict)
    events: list[AlertEvent] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    tries: int = 0

    def look(
        self, *wrong: Alert, after_s: float = 60, reaches: Iterable[str] | None = None
    ) -> list[MessageKind]:
        """One round so many seconds later; what was told in it. All are reached unless named."""
        self.now_ns += int(after_s * SECOND)
        self._happens(alert_events(self.states, wrong, self.now_ns, self.policy))
        self.states = {
            name: replace(one, silenced_ns=silenced_until(one.alert, self.silences, self.now_ns))
            for name, one in self.states.items()
        }
        known = len(self.sent)
        reached = {one.name for one in self.receivers} if reaches is None else set(reaches)
        for receiver in self.receivers:
            for name in list(self.states):
                self._tell(receiver, name, receiver.name in reached)
        return [one.what for one in self.sent[known:]]

    def act(self, alert: Alert, kind: AlertEventKind) -> None:
        """A person does something."""
        self.now_ns += SECOND
        state = self.states[alert.id]
        self._happens([AlertEvent(state.alert, self.now_ns, kind, {}, "ann")])

    def restarted(self) -> dict[str, AlertState]:
        """The states that a process reads which has only the events."""
        found = states_of(sorted(self.events, key=lambda one: (one.at_ns, one.id)))
        return {
            name: replace(one, silenced_ns=self.states[name].silenced_ns)
            for name, one in found.items()
        }

    def _tell(self, receiver: AlertReceiver, name: str, is_reached: bool) -> None:
        state = self.states[name]
        what = due_message(state, receiver, self.now_ns, self.policy)
        if what is None:
            return
        self.tries += 1
        if not is_reached:
            self._happens(failed_events(state, receiver, what, "away", self.now_ns, self.policy))
            return
        self._happens([delivered_event(state, receiver, what, self.now_ns, key="1")])
        self.sent.append(
            Sent(
                *(receiver.name, what, name, state.fired_ns),
                *(str(state.alert.severity), self.now_ns),
            )
        )

    def _happens(self, events: list[AlertEvent]) -> None:
        self.events += events
        self.states = apply_events(self.states, events)
