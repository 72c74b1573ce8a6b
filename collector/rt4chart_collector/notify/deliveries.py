"""The messages that are due to each receiver, from an alert's state and its deliveries; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rt4chart_collector.core.alerts.alert import Alert, Severity, severity_rank
from rt4chart_collector.core.alerts.lifecycle import SECOND, AlertPolicy, next_event_ns
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState, Delivery
from rt4chart_collector.notify.channels.message import ALERT_KINDS, MessageKind


@dataclass(frozen=True, slots=True)
class AlertReceiver:
    """A receiver of the alerts of these rules (all if empty) from the severity `least` on.

    `wants` are the kinds of message that its channel can show.
    """

    name: str
    least: str = Severity.INFO
    rules: frozenset[str] = frozenset()
    wants: frozenset[MessageKind] = ALERT_KINDS

    def takes(self, alert: Alert) -> bool:
        """True where the alert is for this receiver."""
        return severity_rank(alert.severity) >= severity_rank(self.least) and (
            not self.rules or alert.rule in self.rules
        )


def due_message(
    state: AlertState, receiver: AlertReceiver, now_ns: int, policy: AlertPolicy
) -> MessageKind | None:
    """The message to send to the receiver now; None where there is none, or none yet."""
    delivery = delivery_to(state, receiver)
    kind = _news(state, delivery, receiver, now_ns, policy)
    if kind is None or state.silenced_ns:
        return None
    return kind if _may_try(state, receiver, kind, now_ns, policy) else None


def delivery_to(state: AlertState, receiver: AlertReceiver) -> Delivery:
    """What the receiver was sent about the alert; an empty delivery where nothing was."""
    return state.deliveries.get(receiver.name, Delivery())


def knows_it_is_open(state: AlertState, receiver: AlertReceiver) -> bool:
    """True where the receiver got a message that the alert is open, and none that it ended."""
    delivery = delivery_to(state, receiver)
    is_open = delivery.what not in ("", MessageKind.RESOLVED)
    return is_open and delivery.episode_ns == state.fired_ns


def message_id(state: AlertState, receiver: AlertReceiver, kind: MessageKind) -> str:
    """What identifies a message to the receiver; the same when it is sent again."""
    number = delivery_to(state, receiver).at_ns if kind is MessageKind.REMINDED else 0
    return f"{state.id}-{state.fired_ns}-{kind}-{number or state.alert.severity}"


def next_attempt_ns(state: AlertState, delivery: Delivery, policy: AlertPolicy) -> int | None:
    """When a message that failed is tried again; None where none failed, or never."""
    if not delivery.failures:
        return None
    if delivery.is_abandoned:
        pause = policy.remind_s if state.is_open else 0.0
    else:
        pause = min(policy.retry_s * 2.0 ** min(delivery.failures - 1, 32), policy.retry_most_s)
    return delivery.failed_ns + int(pause * SECOND) if pause else None


def delivered_event(
    state: AlertState, receiver: AlertReceiver, kind: MessageKind, now_ns: int, *, key: str = ""
) -> AlertEvent:
    """The event of a message that was sent; `key` is what the channel returned."""
    body: Mapping[str, object] = {
        "target": receiver.name,
        "message": message_id(state, receiver, kind),
        "what": str(kind),
        "episode_ns": state.fired_ns,
        "severity": str(state.alert.severity),
        "is_acknowledged": bool(state.acknowledged_ns),
        "key": key,
    }
    return AlertEvent(state.alert, next_event_ns(state, now_ns), AlertEventKind.NOTIFIED, body)


def failed_events(
    state: AlertState,
    receiver: AlertReceiver,
    kind: MessageKind,
    error: str,
    now_ns: int,
    policy: AlertPolicy,
) -> list[AlertEvent]:
    """The events of a message that was not sent: failed and, after the last attempt, abandoned."""
    delivery = delivery_to(state, receiver)
    message, at_ns = message_id(state, receiver, kind), next_event_ns(state, now_ns)
    before = delivery.failures if delivery.trying == message else 0
    body = {"target": receiver.name, "message": message, "what": str(kind)}
    events = [AlertEvent(state.alert, at_ns, AlertEventKind.FAILED, {**body, "error": error})]
    if before + 1 >= policy.tries:
        events.append(AlertEvent(state.alert, at_ns + 1, AlertEventKind.ABANDONED, body))
    return events


def _news(
    state: AlertState, delivery: Delivery, receiver: AlertReceiver, now_ns: int, policy: AlertPolicy
) -> MessageKind | None:
    if not state.is_open:
        is_owed = delivery.what not in ("", MessageKind.RESOLVED)
        return MessageKind.RESOLVED if is_owed and MessageKind.RESOLVED in receiver.wants else None
    if not receiver.takes(state.alert):
        return None
    is_acknowledged = bool(state.acknowledged_ns)
    if delivery.what in ("", MessageKind.RESOLVED) or delivery.episode_ns != state.fired_ns:
        # An alert that was acknowledged during a silence does not page when the silence ends.
        is_known = is_acknowledged and MessageKind.ACKNOWLEDGED in receiver.wants
        return MessageKind.ACKNOWLEDGED if is_known else MessageKind.FIRED
    waits = _passed_s(delivery.at_ns, now_ns) < policy.remind_s or not policy.remind_s
    news = {
        MessageKind.WORSE: severity_rank(state.alert.severity) > severity_rank(delivery.severity),
        MessageKind.ACKNOWLEDGED: is_acknowledged and not delivery.is_acknowledged,
        MessageKind.REMINDED: not (is_acknowledged or waits or state.quiet_ns),
    }
    return next((kind for kind, is_so in news.items() if is_so and kind in receiver.wants), None)


def _may_try(
    state: AlertState, receiver: AlertReceiver, kind: MessageKind, now_ns: int, policy: AlertPolicy
) -> bool:
    delivery = delivery_to(state, receiver)
    if delivery.trying != message_id(state, receiver, kind):
        return True
    next_ns = next_attempt_ns(state, delivery, policy)
    return next_ns is not None and now_ns + SECOND >= next_ns


def _passed_s(since_ns: int, now_ns: int) -> float:
    """Seconds since then, plus one: the events of one round are some nanoseconds apart."""
    return (now_ns - since_ns) / SECOND + 1
