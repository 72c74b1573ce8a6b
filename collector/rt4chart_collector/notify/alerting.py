"""A round of alerting: the alerts of now become events in the store and messages."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue

from otel_rt4chart.core.errors import NotifyError
from rt4chart_collector.core.alerts.alert import Alert, severity_rank
from rt4chart_collector.core.alerts.lifecycle import alert_events, alert_policy, apply_events
from rt4chart_collector.core.alerts.silence import silenced_until
from rt4chart_collector.core.alerts.state import AlertEvent, AlertState
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.notify.alert_message import alert_message
from rt4chart_collector.notify.channels.alertmanager import Alertmanager
from rt4chart_collector.notify.channels.message import Message, MessageKind
from rt4chart_collector.notify.deliveries import (
    AlertReceiver,
    delivered_event,
    delivery_to,
    due_message,
    failed_events,
    knows_it_is_open,
    message_id,
)
from rt4chart_collector.notify.registry import AlertTarget, build_targets
from rt4chart_collector.store.alerts.alert_events import alert_states, record_alert_events
from rt4chart_collector.store.alerts.silences import silences
from rt4chart_collector.store.engine.connect import Client

log = logging.getLogger(__name__)
# Limits of one round; messages that are left are due in the next.
ROUND_S = 60.0
MOST_MESSAGES = 20

States = Mapping[str, AlertState]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A message that was sent, with the receiver's key, or that was not, with the error."""

    receiver: AlertReceiver
    alert_id: str
    kind: MessageKind
    key: str = ""
    error: str = ""


class Alerting:
    """Records alerts and sends messages about them; all of its state is in the store.

    For one thread.
    """

    def __init__(
        self,
        settings: AlertSettings,
        *,
        targets: Sequence[AlertTarget] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Send to the targets that the settings name; SettingsError where they cannot be built."""
        self._settings, self._clock = settings, clock
        self._policy = alert_policy(settings)
        self._targets = build_targets(settings) if targets is None else list(targets)

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets' names."""
        return tuple(target.receiver.name for target in self._targets)

    def process(
        self,
        client: Client,
        problems: Sequence[Alert],
        *,
        now_ns: int,
        is_ours: Callable[[Alert], bool] = lambda alert: True,
    ) -> None:
        """Record what happened and send the messages that are due; `problems` are all current ones.

        Alerts that are not ours are another process's. Raises only StoreError. A target that fails
        is tried again in a later round; a round ends after about a minute. Two processes must not
        do this at once for one alert, so the caller holds a lease. A message is sent twice if the
        process dies before it records the first delivery.
        """
        known = alert_states(client, now_ns=now_ns)
        states: States = {state.id: state for state in known if is_ours(state.alert)}
        events = alert_events(states, list(filter(is_ours, problems)), now_ns, self._policy)
        record_alert_events(client, events)
        quiet = silences(client, now_ns)
        states = {
            name: replace(state, silenced_ns=silenced_until(state.alert, quiet, now_ns))
            for name, state in apply_events(states, events).items()
        }
        until = self._clock() + ROUND_S
        for outcome in self._send_all(states, now_ns, until):
            events = self._events_of(outcome, states[outcome.alert_id], now_ns)
            record_alert_events(client, events)
            states = apply_events(states, events)
        for target in self._targets:
            self._refresh(target, states, now_ns, until)

    def _send_all(self, states: States, now_ns: int, until: float) -> Iterator[_Outcome]:
        """Send what is due to all targets at once, so that none waits for one that hangs."""
        if not self._targets:
            return
        outcomes: SimpleQueue[_Outcome | None] = SimpleQueue()

        def work(target: AlertTarget) -> None:
            try:
                self._send_due(target, states, now_ns, until, outcomes.put)
            finally:
                outcomes.put(None)

        with ThreadPoolExecutor(len(self._targets), "alerts") as pool:
            working = [pool.submit(work, target) for target in self._targets]
            for _ in working:
                yield from iter(outcomes.get, None)
        for one in working:
            one.result()

    def _send_due(
        self,
        target: AlertTarget,
        states: States,
        now_ns: int,
        until: float,
        report: Callable[[_Outcome], None],
    ) -> None:
        """Send what is due to one target, the worst first; stop at the first failure."""
        for state, kind in self._due(target, states, now_ns)[:MOST_MESSAGES]:
            if self._clock() >= until:
                return
            sent = _Outcome(target.receiver, state.id, kind)
            try:
                key = target.channel.send(self._message(state, target, kind, now_ns))
            except NotifyError as error:
                # The text of a NotifyError has no secrets and no texts of users.
                log.warning("An alert was not sent: %s", error)
                report(replace(sent, error=str(error)))
                return
            report(replace(sent, key=key))

    def _events_of(self, sent: _Outcome, state: AlertState, now_ns: int) -> list[AlertEvent]:
        if sent.error:
            return failed_events(state, sent.receiver, sent.kind, sent.error, now_ns, self._policy)
        return [delivered_event(state, sent.receiver, sent.kind, now_ns, key=sent.key)]

    def _due(
        self, target: AlertTarget, states: States, now_ns: int
    ) -> list[tuple[AlertState, MessageKind]]:
        """The messages that are due to the target, the worst and oldest alert first."""
        ordered = sorted(
            states.values(), key=lambda s: (-severity_rank(s.alert.severity), s.fired_ns)
        )
        found = ((s, due_message(s, target.receiver, now_ns, self._policy)) for s in ordered)
        return [(state, kind) for state, kind in found if kind is not None]

    def _refresh(self, target: AlertTarget, states: States, now_ns: int, until: float) -> None:
        """Post open alerts to Alertmanager again, which resolves them otherwise; no event."""
        if not isinstance(target.channel, Alertmanager) or self._clock() >= until:
            return
        receiver = target.receiver
        known = [s for s in states.values() if s.is_open and knows_it_is_open(s, receiver)]
        reminder = MessageKind.REMINDED
        try:
            target.channel.refresh([self._message(s, target, reminder, now_ns) for s in known])
        except NotifyError as error:
            log.warning("Open alerts were not sent again: %s", error)

    def _message(
        self, state: AlertState, target: AlertTarget, kind: MessageKind, now_ns: int
    ) -> Message:
        delivery = delivery_to(state, target.receiver)
        is_known = delivery.episode_ns == state.fired_ns or kind is MessageKind.RESOLVED
        return alert_message(
            state,
            kind,
            message_id(state, target.receiver, kind),
            now_ns,
            console=self._settings.alerts_console,
            with_texts=self._settings.alerts_texts,
            thread=delivery.key if is_known else "",
        )
