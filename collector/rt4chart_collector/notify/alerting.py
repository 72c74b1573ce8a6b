"""What is wrong becomes events and messages: the one thing that the monitor calls."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import NotifyError
from rt4chart_collector.alerts.due import What, due, failed, knows, message_id, notified
from rt4chart_collector.alerts.message import Message, message_of
from rt4chart_collector.alerts.notify.alertmanager import Alertmanager
from rt4chart_collector.alerts.targets import Addressed, build_targets
from rt4chart_collector.core.alerts.alert import Alert, rank
from rt4chart_collector.core.alerts.lifecycle import alert_policy, happened, then
from rt4chart_collector.core.alerts.silence import silenced_until
from rt4chart_collector.core.alerts.state import AlertEvent, AlertState, Told
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.store.alert_events import alert_states, record
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.silences import silences

log = logging.getLogger(__name__)
# Of one round: what is left is still due in the next.
ROUND_S = 60.0
MOST_MESSAGES = 20

States = Mapping[str, AlertState]


class Alerting:
    """Deals with what is wrong; everything it knows is in the store. For one thread."""

    def __init__(
        self,
        settings: AlertSettings,
        *,
        targets: Sequence[Addressed] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Tell the targets that the settings name; SettingsError where they cannot be built."""
        self._settings, self._clock = settings, clock
        self._policy = alert_policy(settings)
        self._targets = build_targets(settings) if targets is None else list(targets)

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of who is told."""
        return tuple(one.receiver.name for one in self._targets)

    def deal_with(self, client: Client, wrong: Sequence[Alert], *, now_ns: int) -> None:
        """Write what happened, and tell whoever is to be told; `wrong` is all that is wrong now.

        Raises StoreError alone. A target that fails is left for a later round, and within a minute
        or so the round ends. Two processes must not do this at once: whoever calls holds a lease.
        A message may come twice where a process dies between sending and writing it down.
        """
        states: States = {one.id: one for one in alert_states(client, now_ns=now_ns)}
        events = happened(states, wrong, now_ns, self._policy)
        record(client, events)
        quiet = silences(client, now_ns)
        states = {
            name: replace(one, silenced_ns=silenced_until(one.alert, quiet, now_ns))
            for name, one in then(states, events).items()
        }
        until = self._clock() + ROUND_S
        for one in self._targets:
            for told in self._tell(one, states, now_ns, until):
                record(client, told)
                states = then(states, told)
            self._keep(one, states, now_ns, until)

    def _tell(
        self, one: Addressed, states: States, now_ns: int, until: float
    ) -> Iterator[list[AlertEvent]]:
        """Send what is due to one target, the worst first, and give what came of each message."""
        receiver, policy = one.receiver, self._policy
        for state, what in self._news(one, states, now_ns)[:MOST_MESSAGES]:
            if self._clock() >= until:
                return
            try:
                key = one.target.send(self._message(state, one, what, now_ns))
            except NotifyError as error:
                # What NotifyError says is without secrets and texts of users.
                log.warning("An alert was not sent: %s", error)
                yield failed(state, receiver, what, str(error), now_ns, policy)
                return
            yield [notified(state, receiver, what, now_ns, key=key)]

    def _news(self, one: Addressed, states: States, now_ns: int) -> list[tuple[AlertState, What]]:
        """What the target is to be told of which alert, the worst and oldest first."""
        ordered = sorted(states.values(), key=lambda s: (-rank(s.alert.severity), s.fired_ns))
        found = ((s, due(s, one.receiver, now_ns, self._policy)) for s in ordered)
        return [(state, what) for state, what in found if what is not None]

    def _keep(self, one: Addressed, states: States, now_ns: int, until: float) -> None:
        """Alertmanager forgets what it is not told of again; that is no event."""
        if not isinstance(one.target, Alertmanager) or self._clock() >= until:
            return
        standing = [s for s in states.values() if s.is_open and knows(s, one.receiver)]
        try:
            one.target.keep([self._message(s, one, What.REMINDED, now_ns) for s in standing])
        except NotifyError as error:
            log.warning("Open alerts were not sent again: %s", error)

    def _message(self, state: AlertState, one: Addressed, what: What, now_ns: int) -> Message:
        told = state.told.get(one.receiver.name, Told())
        is_known = told.episode_ns == state.fired_ns or what is What.RESOLVED
        return message_of(
            state,
            what,
            message_id(state, one.receiver, what),
            now_ns,
            console=self._settings.alerts_console,
            with_texts=self._settings.alerts_texts,
            key=told.key if is_known else "",
        )
