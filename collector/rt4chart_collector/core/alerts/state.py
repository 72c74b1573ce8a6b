"""The state of an alert, computed only from its events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rt4chart_collector.core.actors import SYSTEM_ACTOR
from rt4chart_collector.core.alerts.alert import Alert

DAY = 86_400 * 10**9


class AlertEventKind(StrEnum):
    """The kinds of event of an alert.

    `QUIET` and `AGAIN`: the evidence ended, or came back. `DISMISSED`: a person resolved it.
    `ACCEPTED`: a person resolved it and called the risen rate the usual one; `RETRACTED` undoes
    that. `ASSIGNED`: the body names the `owner`, "" for none. `LINKED`: the body has the `url` of a
    ticket, and `removed` where it is no longer one.
    `NOTIFIED` and `FAILED`: a message was sent, or not. `ABANDONED`: it is not tried again.
    """

    FIRED = "fired"
    WORSE = "worse"
    UPDATED = "updated"
    QUIET = "quiet"
    AGAIN = "again"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"
    ACCEPTED = "accepted"
    RETRACTED = "retracted"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    ASSIGNED = "assigned"
    LINKED = "linked"
    NOTIFIED = "notified"
    FAILED = "failed"
    ABANDONED = "abandoned"


# The last event of these kinds determines whether the alert is open.
PHASES = (
    AlertEventKind.FIRED,
    AlertEventKind.DISMISSED,
    AlertEventKind.ACCEPTED,
    AlertEventKind.RESOLVED,
)
# Only events of these kinds have facts; the others leave them as they were.
WITH_FACTS = (AlertEventKind.FIRED, AlertEventKind.WORSE, AlertEventKind.UPDATED)


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """One event; `body` is JSON: the alert's facts, or the result of a message."""

    alert: Alert
    at_ns: int
    kind: str
    body: Mapping[str, object] = field(default_factory=dict)
    actor: str = SYSTEM_ACTOR
    note: str = ""

    @property
    def id(self) -> str:
        """The same for the same event, written twice."""
        body = json.dumps(dict(self.body), sort_keys=True)
        parts = (self.alert.id, self.at_ns, str(self.kind), body, self.actor, self.note)
        return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The last message that a target received about an alert, and the attempts since then.

    `what` is its kind and `episode_ns` when the alert fired that it is about; `key` is what the
    channel returned, such as a thread. `failures` count since the last success, for `trying`, the
    message that failed.
    """

    what: str = ""
    episode_ns: int = 0
    severity: str = ""
    is_acknowledged: bool = False
    at_ns: int = 0
    key: str = ""
    trying: str = ""
    failures: int = 0
    failed_ns: int = 0
    error: str = ""
    is_abandoned: bool = False


@dataclass(frozen=True, slots=True)
class AlertState:
    """An alert and its state; `alert` has the latest facts and the worst severity.

    Times are 0 where there is none. `quiet_ns`: since when it has no evidence. `silenced_ns`: until
    when no messages are sent. `fired_before`: the starts of its episodes within a day of the last.
    `owner` is who takes care of it, `tickets` are the addresses of those that people made for it;
    both stay when it fires again within a day.
    """

    alert: Alert
    phase: str = AlertEventKind.RESOLVED
    fired_ns: int = 0
    last_ns: int = 0
    quiet_ns: int = 0
    resolved_ns: int = 0
    resolved_by: str = ""
    accepted_ns: int = 0
    acknowledged_ns: int = 0
    acknowledged_by: str = ""
    owner: str = ""
    tickets: tuple[str, ...] = ()
    silenced_ns: int = 0
    updated_ns: int = 0
    fired_before: tuple[int, ...] = ()
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The alert's id."""
        return self.alert.id

    @property
    def is_open(self) -> bool:
        """True while it fires, silenced or not."""
        return self.phase == AlertEventKind.FIRED

    @property
    def state(self) -> str:
        """`firing`, `acknowledged`, `silenced` or `resolved`."""
        if not self.is_open:
            return "resolved"
        if self.silenced_ns:
            return "silenced"
        return "acknowledged" if self.acknowledged_ns else "firing"

    @property
    def states(self) -> str:
        """The state for people: a silenced alert may be acknowledged too."""
        is_both = self.state == "silenced" and self.acknowledged_ns
        return "silenced, acknowledged" if is_both else self.state


def states_of(events: Iterable[AlertEvent]) -> dict[str, AlertState]:
    """The state of every alert after these events, which are in order of time."""
    found: dict[str, AlertState] = {}
    for event in events:
        known = found.get(event.alert.id)
        found[event.alert.id] = apply_event(known or AlertState(event.alert), event)
    return found


def apply_event(state: AlertState, event: AlertEvent) -> AlertState:
    """The state after the event."""
    at_ns, alert = event.at_ns, state.alert
    if event.kind in WITH_FACTS:
        alert = event.alert
    state = replace(state, alert=alert, last_ns=max(at_ns, state.last_ns))
    match event.kind:
        case AlertEventKind.FIRED:
            before = [fired_ns for fired_ns in state.fired_before if at_ns - fired_ns < DAY]
            return AlertState(
                alert,
                AlertEventKind.FIRED,
                fired_ns=at_ns,
                last_ns=at_ns,
                updated_ns=at_ns,
                owner=state.owner if before else "",
                tickets=state.tickets if before else (),
                fired_before=(*before, at_ns),
                deliveries=state.deliveries,
            )
        case AlertEventKind.WORSE:
            # The acknowledgement was of something less severe.
            return replace(state, updated_ns=at_ns, acknowledged_ns=0, acknowledged_by="")
        case AlertEventKind.UPDATED:
            return replace(state, updated_ns=at_ns)
        case AlertEventKind.QUIET:
            return replace(state, quiet_ns=at_ns)
        case AlertEventKind.AGAIN:
            return replace(state, quiet_ns=0)
        case AlertEventKind.RESOLVED | AlertEventKind.DISMISSED | AlertEventKind.ACCEPTED:
            if not state.resolved_ns:
                state = replace(state, resolved_ns=at_ns, resolved_by=event.actor)
            if event.kind != AlertEventKind.ACCEPTED:
                return replace(state, phase=event.kind)
            accepted_ns = state.accepted_ns or at_ns
            return replace(state, phase=AlertEventKind.DISMISSED, accepted_ns=accepted_ns)
        case AlertEventKind.RETRACTED:
            return replace(state, accepted_ns=0)
        case AlertEventKind.ACKNOWLEDGED:
            return replace(state, acknowledged_ns=at_ns, acknowledged_by=event.actor)
        case AlertEventKind.ASSIGNED:
            return replace(state, owner=str(event.body.get("owner", "")))
        case AlertEventKind.LINKED:
            return replace(state, tickets=_tickets(state.tickets, event.body))
        case AlertEventKind.NOTIFIED | AlertEventKind.FAILED | AlertEventKind.ABANDONED:
            target = str(event.body.get("target", ""))
            delivery = _delivery(state.deliveries.get(target, Delivery()), event)
            return replace(state, deliveries={**state.deliveries, target: delivery})
    return state


def _tickets(known: tuple[str, ...], body: Mapping[str, object]) -> tuple[str, ...]:
    url = str(body.get("url", ""))
    others = tuple(one for one in known if one != url)
    return others if body.get("removed") or not url else (*others, url)


def _delivery(before: Delivery, event: AlertEvent) -> Delivery:
    body, message = event.body, str(event.body.get("message", ""))
    if event.kind == AlertEventKind.NOTIFIED:
        return Delivery(
            what=str(body.get("what", "")),
            episode_ns=int(str(body.get("episode_ns", 0))),
            severity=str(body.get("severity", "")),
            is_acknowledged=bool(body.get("is_acknowledged")),
            at_ns=event.at_ns,
            key=str(body.get("key", "") or before.key),
        )
    if event.kind == AlertEventKind.ABANDONED:
        return replace(before, is_abandoned=True)
    return replace(
        before,
        trying=message,
        failures=before.failures + 1 if before.trying == message else 1,
        failed_ns=event.at_ns,
        error=str(body.get("error", "")),
        is_abandoned=False,
    )
