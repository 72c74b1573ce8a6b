"""What happens to alerts, from what is wrong now and what happened before; pure.

An alert fires once and is told of when it gets worse. It resolves when nothing speaks for it for
`keep_s`, which doubles with each time that it fires within a day: one that comes and goes is not
told of for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.core.alerts.alert import Alert, rank
from rt4chart_collector.core.alerts.state import AlertEvent, AlertState, Kind, after
from rt4chart_collector.core.settings import AlertSettings

SECOND = 10**9
DAY = 86_400 * SECOND


@dataclass(frozen=True, slots=True)
class Policy:
    """Spans in seconds; `remind_s` of 0 is never.

    `refresh_s` is how often the facts of an open alert are written anew. A message that failed is
    tried again after `retry_s`, twice that and so on up to `retry_most_s`, `tries` times in all,
    and then with each reminder as long as the alert is open.
    """

    keep_s: float = 1_800
    keep_most_s: float = 21_600
    remind_s: float = 14_400
    refresh_s: float = 3_600
    retry_s: float = 60
    retry_most_s: float = 3_600
    tries: int = 12


def alert_policy(settings: AlertSettings) -> Policy:
    """The policy that the settings ask for."""
    return Policy(keep_s=settings.alerts_keep_min * 60, remind_s=settings.alerts_remind_h * 3_600)


def happened(
    states: Mapping[str, AlertState], wrong: Iterable[Alert], now_ns: int, policy: Policy
) -> list[AlertEvent]:
    """The events that what is wrong now makes of the alerts that are known."""
    now_wrong = worst_of_each(wrong)
    events = []
    for alert in now_wrong.values():
        events += _speaks(states.get(alert.id), alert, now_ns, policy)
    for state in states.values():
        if state.id not in now_wrong:
            events += _is_silent(state, now_ns, policy)
    return events


def then(states: Mapping[str, AlertState], events: Sequence[AlertEvent]) -> dict[str, AlertState]:
    """How the alerts stand after these events; silences are not asked again."""
    found = dict(states)
    for event in events:
        known = found.get(event.alert.id, AlertState(event.alert))
        changed = after(known, event)
        found[event.alert.id] = replace(changed, silenced_ns=known.silenced_ns)
    return found


def worst_of_each(wrong: Iterable[Alert]) -> dict[str, Alert]:
    """Each alert once, by its id: the worst of those that are the same."""
    found: dict[str, Alert] = {}
    for alert in wrong:
        known = found.get(alert.id)
        if known is None or rank(alert.severity) > rank(known.severity):
            found[alert.id] = alert
    return found


def keep_ns(state: AlertState, now_ns: int, policy: Policy) -> int:
    """How long nothing has to speak for an alert before it resolves, in nanoseconds."""
    episodes = sum(now_ns - one < DAY for one in state.fired_before)
    doubled = policy.keep_s * 2.0 ** min(max(0, episodes - 1), 32)
    return int(min(doubled, max(policy.keep_s, policy.keep_most_s)) * SECOND)


def moment(state: AlertState, now_ns: int) -> int:
    """Now, or just after the last event where a clock went back: events keep their order."""
    return max(now_ns, state.last_ns + 1)


def _speaks(
    state: AlertState | None, alert: Alert, now_ns: int, policy: Policy
) -> list[AlertEvent]:
    if state is None or state.phase == Kind.RESOLVED:
        at_ns = now_ns if state is None else moment(state, now_ns)
        return [AlertEvent(alert, at_ns, Kind.FIRED)]
    at_ns = moment(state, now_ns)
    is_worse = rank(alert.severity) > rank(state.alert.severity)
    if state.phase == Kind.DISMISSED and is_worse:
        return [AlertEvent(alert, at_ns, Kind.FIRED)]
    events = [AlertEvent(state.alert, at_ns, Kind.AGAIN)] if state.quiet_ns else []
    if not state.is_open:
        return events
    lasting = replace(alert, severity=state.alert.severity, starts_ns=state.alert.starts_ns)
    is_due = at_ns - state.updated_ns >= policy.refresh_s * SECOND
    if is_worse:
        events.append(AlertEvent(alert, at_ns, Kind.WORSE))
    elif is_due and lasting != state.alert:
        events.append(AlertEvent(lasting, at_ns, Kind.UPDATED))
    return events


def _is_silent(state: AlertState, now_ns: int, policy: Policy) -> list[AlertEvent]:
    if state.phase == Kind.RESOLVED:
        return []
    at_ns = moment(state, now_ns)
    if not state.quiet_ns:
        return [AlertEvent(state.alert, at_ns, Kind.QUIET)]
    if now_ns - state.quiet_ns >= keep_ns(state, now_ns, policy):
        return [AlertEvent(state.alert, at_ns, Kind.RESOLVED)]
    return []
