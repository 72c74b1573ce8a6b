"""The life cycle of alerts: new events from the current problems and the known states; pure.

An alert fires once, and again reports when it gets worse. It resolves after `keep_s` without
evidence, a time that doubles whenever it fires again within a day, so that an alert that comes and
goes does not send messages for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.core.alerts.alert import Alert, severity_rank
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState, apply_event
from rt4chart_collector.core.settings import AlertSettings

SECOND = 10**9
DAY = 86_400 * SECOND


@dataclass(frozen=True, slots=True)
class AlertPolicy:
    """Times of the life cycle in seconds; with `remind_s` 0 there are no reminders.

    `refresh_s` is the time after which changed facts of an open alert are stored again. A message
    that failed is tried again after `retry_s`, then twice that, up to `retry_most_s`, `tries` times
    in all; then with each reminder while the alert is open.
    """

    keep_s: float = 1_800
    keep_most_s: float = 21_600
    remind_s: float = 14_400
    refresh_s: float = 3_600
    retry_s: float = 60
    retry_most_s: float = 3_600
    tries: int = 12


def alert_policy(settings: AlertSettings) -> AlertPolicy:
    """The policy that the settings ask for."""
    return AlertPolicy(
        keep_s=settings.alerts_keep_min * 60, remind_s=settings.alerts_remind_h * 3_600
    )


def alert_events(
    states: Mapping[str, AlertState], problems: Iterable[Alert], now_ns: int, policy: AlertPolicy
) -> list[AlertEvent]:
    """The events that follow from the current problems and the known alerts."""
    current = worst_of_each(problems)
    events = []
    for alert in current.values():
        events += _events_with_evidence(states.get(alert.id), alert, now_ns, policy)
    for state in states.values():
        if state.id not in current:
            events += _events_without_evidence(state, now_ns, policy)
    return events


def apply_events(
    states: Mapping[str, AlertState], events: Sequence[AlertEvent]
) -> dict[str, AlertState]:
    """The states after these events; silences are not evaluated again."""
    found = dict(states)
    for event in events:
        known = found.get(event.alert.id, AlertState(event.alert))
        changed = apply_event(known, event)
        found[event.alert.id] = replace(changed, silenced_ns=known.silenced_ns)
    return found


def worst_of_each(problems: Iterable[Alert]) -> dict[str, Alert]:
    """The alerts by id; of several with the same id, the worst."""
    found: dict[str, Alert] = {}
    for alert in problems:
        known = found.get(alert.id)
        if known is None or severity_rank(alert.severity) > severity_rank(known.severity):
            found[alert.id] = alert
    return found


def quiet_period_ns(state: AlertState, now_ns: int, policy: AlertPolicy) -> int:
    """The time without evidence after which an alert resolves, in nanoseconds."""
    episodes = sum(now_ns - fired_ns < DAY for fired_ns in state.fired_before)
    doubled = policy.keep_s * 2.0 ** min(max(0, episodes - 1), 32)
    return int(min(doubled, max(policy.keep_s, policy.keep_most_s)) * SECOND)


def next_event_ns(state: AlertState, now_ns: int) -> int:
    """Now, or just after the last event if the clock went back: events keep their order."""
    return max(now_ns, state.last_ns + 1)


def _events_with_evidence(
    state: AlertState | None, alert: Alert, now_ns: int, policy: AlertPolicy
) -> list[AlertEvent]:
    if state is None or state.phase == AlertEventKind.RESOLVED:
        at_ns = now_ns if state is None else next_event_ns(state, now_ns)
        return [AlertEvent(alert, at_ns, AlertEventKind.FIRED)]
    at_ns = next_event_ns(state, now_ns)
    is_worse = severity_rank(alert.severity) > severity_rank(state.alert.severity)
    if state.phase == AlertEventKind.DISMISSED and is_worse:
        return [AlertEvent(alert, at_ns, AlertEventKind.FIRED)]
    events = [AlertEvent(state.alert, at_ns, AlertEventKind.AGAIN)] if state.quiet_ns else []
    if not state.is_open:
        return events
    lasting = replace(alert, severity=state.alert.severity, starts_ns=state.alert.starts_ns)
    is_due = at_ns - state.updated_ns >= policy.refresh_s * SECOND
    if is_worse:
        events.append(AlertEvent(alert, at_ns, AlertEventKind.WORSE))
    elif is_due and lasting != state.alert:
        events.append(AlertEvent(lasting, at_ns, AlertEventKind.UPDATED))
    return events


def _events_without_evidence(
    state: AlertState, now_ns: int, policy: AlertPolicy
) -> list[AlertEvent]:
    if state.phase == AlertEventKind.RESOLVED:
        return []
    at_ns = next_event_ns(state, now_ns)
    if not state.quiet_ns:
        return [AlertEvent(state.alert, at_ns, AlertEventKind.QUIET)]
    if now_ns - state.quiet_ns >= quiet_period_ns(state, now_ns, policy):
        return [AlertEvent(state.alert, at_ns, AlertEventKind.RESOLVED)]
    return []
