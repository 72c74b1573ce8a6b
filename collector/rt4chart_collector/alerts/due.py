"""Who is to be told what, from how an alert stands and what each was told of it last; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rt4chart_collector.core.alerts.alert import Alert, Severity, rank
from rt4chart_collector.core.alerts.lifecycle import SECOND, Policy, moment
from rt4chart_collector.core.alerts.state import AlertEvent, AlertState, Kind, Told


class What(StrEnum):
    """What a message says."""

    FIRED = "fired"
    WORSE = "worse"
    REMINDED = "reminded"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


ALL = frozenset(What)


@dataclass(frozen=True, slots=True)
class Receiver:
    """Somebody who is told: of alerts of these rules (all where none is named) from `least` on.

    `wants` are the messages that there is a place for.
    """

    name: str
    least: str = Severity.INFO
    rules: frozenset[str] = frozenset()
    wants: frozenset[What] = ALL

    def takes(self, alert: Alert) -> bool:
        """True where the alert is for this receiver."""
        return rank(alert.severity) >= rank(self.least) and (
            not self.rules or alert.rule in self.rules
        )


def due(state: AlertState, receiver: Receiver, now_ns: int, policy: Policy) -> What | None:
    """What the receiver is to be told now; None for nothing, or nothing yet."""
    told = state.told.get(receiver.name, Told())
    what = _news(state, told, receiver, now_ns, policy)
    if what is None or state.silenced_ns or not _may_try(state, receiver, what, now_ns, policy):
        return None
    return what


def knows(state: AlertState, receiver: Receiver) -> bool:
    """True where the receiver was told that this is open, and not yet that it ended."""
    told = state.told.get(receiver.name, Told())
    return told.what not in ("", What.RESOLVED) and told.episode_ns == state.fired_ns


def message_id(state: AlertState, receiver: Receiver, what: What) -> str:
    """What tells a message from all others to the same receiver; the same when it is sent again."""
    number = state.told.get(receiver.name, Told()).at_ns if what is What.REMINDED else 0
    return f"{state.id}-{state.fired_ns}-{what}-{number or state.alert.severity}"


def tried_next_ns(state: AlertState, told: Told, policy: Policy) -> int | None:
    """When a message that failed may be tried again; None where none failed, or never."""
    if not told.failures:
        return None
    if told.is_abandoned:
        pause = policy.remind_s if state.is_open else 0.0
    else:
        pause = min(policy.retry_s * 2.0 ** min(told.failures - 1, 32), policy.retry_most_s)
    return told.failed_ns + int(pause * SECOND) if pause else None


def notified(
    state: AlertState, receiver: Receiver, what: What, now_ns: int, *, key: str = ""
) -> AlertEvent:
    """That the message came through; `key` is what the receiver calls it."""
    body: Mapping[str, object] = {
        "target": receiver.name,
        "message": message_id(state, receiver, what),
        "what": str(what),
        "episode_ns": state.fired_ns,
        "severity": str(state.alert.severity),
        "is_acknowledged": bool(state.acknowledged_ns),
        "key": key,
    }
    return AlertEvent(state.alert, moment(state, now_ns), Kind.NOTIFIED, body)


def failed(
    state: AlertState, receiver: Receiver, what: What, error: str, now_ns: int, policy: Policy
) -> list[AlertEvent]:
    """That it did not, and where that was the last try, that too."""
    told = state.told.get(receiver.name, Told())
    message, at_ns = message_id(state, receiver, what), moment(state, now_ns)
    before = told.failures if told.trying == message else 0
    body = {"target": receiver.name, "message": message, "what": str(what)}
    events = [AlertEvent(state.alert, at_ns, Kind.FAILED, {**body, "error": error})]
    if before + 1 >= policy.tries:
        events.append(AlertEvent(state.alert, at_ns + 1, Kind.ABANDONED, body))
    return events


def _news(
    state: AlertState, told: Told, receiver: Receiver, now_ns: int, policy: Policy
) -> What | None:
    if not state.is_open:
        is_owed = told.what not in ("", What.RESOLVED)
        return What.RESOLVED if is_owed and What.RESOLVED in receiver.wants else None
    if not receiver.takes(state.alert):
        return None
    is_acknowledged = bool(state.acknowledged_ns)
    if told.what in ("", What.RESOLVED) or told.episode_ns != state.fired_ns:
        # Nobody is paged for what somebody took on before it could be told, as in maintenance.
        is_known = is_acknowledged and What.ACKNOWLEDGED in receiver.wants
        return What.ACKNOWLEDGED if is_known else What.FIRED
    waits = _passed_s(told.at_ns, now_ns) < policy.remind_s or not policy.remind_s
    news = {
        What.WORSE: rank(state.alert.severity) > rank(told.severity),
        What.ACKNOWLEDGED: is_acknowledged and not told.is_acknowledged,
        What.REMINDED: not (is_acknowledged or waits or state.quiet_ns),
    }
    return next((what for what, is_so in news.items() if is_so and what in receiver.wants), None)


def _may_try(
    state: AlertState, receiver: Receiver, what: What, now_ns: int, policy: Policy
) -> bool:
    told = state.told.get(receiver.name, Told())
    if told.trying != message_id(state, receiver, what):
        return True
    next_ns = tried_next_ns(state, told, policy)
    return next_ns is not None and now_ns + SECOND >= next_ns


def _passed_s(since_ns: int, now_ns: int) -> float:
    """Seconds since then, and one more: events of one round stand some nanoseconds apart."""
    return (now_ns - since_ns) / SECOND + 1
