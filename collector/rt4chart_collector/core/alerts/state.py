"""How an alert stands, read from what happened to it: nothing is remembered beside the events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rt4chart_collector.core.alerts.alert import Alert

ITSELF = "rt4chart"
DAY = 86_400 * 10**9


class Kind(StrEnum):
    """What can happen to an alert.

    `QUIET` and `AGAIN` say when evidence ended and came back, `DISMISSED` that a person resolved
    it, `NOTIFIED` and `FAILED` what became of a message, `ABANDONED` that it is not tried again.
    """

    FIRED = "fired"
    WORSE = "worse"
    UPDATED = "updated"
    QUIET = "quiet"
    AGAIN = "again"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    NOTIFIED = "notified"
    FAILED = "failed"
    ABANDONED = "abandoned"


# Where one of these is the last of its kind, it says whether the alert is open.
PHASES = (Kind.FIRED, Kind.DISMISSED, Kind.RESOLVED)
# These carry what was wrong at that time; the others leave it as it was.
TELLING = (Kind.FIRED, Kind.WORSE, Kind.UPDATED)


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """One thing that happened; `body` is JSON, the alert's facts or what became of a message."""

    alert: Alert
    at_ns: int
    kind: str
    body: Mapping[str, object] = field(default_factory=dict)
    actor: str = ITSELF
    note: str = ""

    @property
    def id(self) -> str:
        """The same for the same event, written twice."""
        body = json.dumps(dict(self.body), sort_keys=True)
        said = (self.alert.id, self.at_ns, str(self.kind), body, self.actor, self.note)
        return hashlib.sha256("\x1f".join(map(str, said)).encode()).hexdigest()[:16]


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
    """An alert and how it stands; `alert` is as it was told of last, with its worst severity.

    Times are 0 where there is none: `quiet_ns` since when nothing speaks for it, `resolved_ns`
    when it ended, `silenced_ns` until when nobody is told. `fired_before` are the beginnings of
    its episodes within a day of the last.
    """

    alert: Alert
    phase: str = Kind.RESOLVED
    fired_ns: int = 0
    last_ns: int = 0
    quiet_ns: int = 0
    resolved_ns: int = 0
    resolved_by: str = ""
    acknowledged_ns: int = 0
    acknowledged_by: str = ""
    silenced_ns: int = 0
    updated_ns: int = 0
    fired_before: tuple[int, ...] = ()
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The alert's."""
        return self.alert.id

    @property
    def is_open(self) -> bool:
        """True while it fires, whether or not anybody is told."""
        return self.phase == Kind.FIRED

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
        """The state for people: what is silenced may be acknowledged too."""
        is_both = self.state == "silenced" and self.acknowledged_ns
        return "silenced, acknowledged" if is_both else self.state


def states_of(events: Iterable[AlertEvent]) -> dict[str, AlertState]:
    """How every alert stands after these events, which come in their order."""
    found: dict[str, AlertState] = {}
    for event in events:
        known = found.get(event.alert.id)
        found[event.alert.id] = after(known or AlertState(event.alert), event)
    return found


def after(state: AlertState, event: AlertEvent) -> AlertState:
    """The state once this has happened."""
    at_ns, alert = event.at_ns, state.alert
    if event.kind in TELLING:
        alert = event.alert
    state = replace(state, alert=alert, last_ns=max(at_ns, state.last_ns))
    match event.kind:
        case Kind.FIRED:
            before = [one for one in state.fired_before if at_ns - one < DAY]
            return AlertState(
                alert,
                Kind.FIRED,
                fired_ns=at_ns,
                last_ns=at_ns,
                updated_ns=at_ns,
                fired_before=(*before, at_ns),
                deliveries=state.deliveries,
            )
        case Kind.WORSE:
            # Who took note of something took note of less than this.
            return replace(state, updated_ns=at_ns, acknowledged_ns=0, acknowledged_by="")
        case Kind.UPDATED:
            return replace(state, updated_ns=at_ns)
        case Kind.QUIET:
            return replace(state, quiet_ns=at_ns)
        case Kind.AGAIN:
            return replace(state, quiet_ns=0)
        case Kind.RESOLVED | Kind.DISMISSED:
            if not state.resolved_ns:
                state = replace(state, resolved_ns=at_ns, resolved_by=event.actor)
            return replace(state, phase=event.kind)
        case Kind.ACKNOWLEDGED:
            return replace(state, acknowledged_ns=at_ns, acknowledged_by=event.actor)
        case Kind.NOTIFIED | Kind.FAILED | Kind.ABANDONED:
            target = str(event.body.get("target", ""))
            delivery = _delivery(state.deliveries.get(target, Delivery()), event)
            return replace(state, deliveries={**state.deliveries, target: delivery})
    return state


def _delivery(before: Delivery, event: AlertEvent) -> Delivery:
    body, message = event.body, str(event.body.get("message", ""))
    if event.kind == Kind.NOTIFIED:
        return Delivery(
            what=str(body.get("what", "")),
            episode_ns=int(str(body.get("episode_ns", 0))),
            severity=str(body.get("severity", "")),
            is_acknowledged=bool(body.get("is_acknowledged")),
            at_ns=event.at_ns,
            key=str(body.get("key", "") or before.key),
        )
    if event.kind == Kind.ABANDONED:
        return replace(before, is_abandoned=True)
    return replace(
        before,
        trying=message,
        failures=before.failures + 1 if before.trying == message else 1,
        failed_ns=event.at_ns,
        error=str(body.get("error", "")),
        is_abandoned=False,
    )
