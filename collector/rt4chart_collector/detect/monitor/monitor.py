"""The monitor: checks routes every minute and processes alerts; several processes divide them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Event
from typing import Protocol

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.core.alerts.alert import DRIFT_RULES, Alert
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.drift.policy import TICK_NS
from rt4chart_collector.detect.drift.sampling import SamplingPolicy
from rt4chart_collector.detect.monitor.adaptive_sampling import AdaptiveSampling
from rt4chart_collector.detect.monitor.corrected_rates import CorrectedRates
from rt4chart_collector.detect.monitor.drift_alerts import DriftAlerts
from rt4chart_collector.detect.monitor.health_alerts import health_alerts
from rt4chart_collector.detect.monitor.issue_alerts import issue_alerts
from rt4chart_collector.detect.monitor.label_alerts import judge_drift_alerts, limit_alerts
from rt4chart_collector.detect.monitor.metrics import RouteFigures, route_figures
from rt4chart_collector.detect.monitor.route_detectors import DriftRound, RouteDetectors
from rt4chart_collector.detect.monitor.shards import MonitorShards
from rt4chart_collector.detect.monitor.sums_check import SumsCheck
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.alerts.sampling_rates import SamplingRateRow, rates_in_force
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import new_holder
from rt4chart_collector.store.rates.verifiers import main_verifier

SECOND = 10**9
# Longer than any round. If a process dies, others take over its routes after this time.
LEASE_S = 180.0

log = logging.getLogger(__name__)


class AlertProcessor(Protocol):
    """Processes the alerts of a round: `notify.alerting.Alerting`, a layer above this folder."""

    def process(
        self,
        client: Client,
        problems: Sequence[Alert],
        *,
        now_ns: int,
        is_ours: Callable[[Alert], bool],
    ) -> None:
        """Record events and send the messages that are due; raises only StoreError.

        Those of alerts that are not ours are left to other processes.
        """


class Monitor:
    """Runs rounds in the thread of `run`; any thread may call `figures` and `rates`.

    All of its state is in the store, so a new monitor continues where another one ended.
    """

    def __init__(
        self,
        client: Client,
        settings: MonitorSettings,
        alerting: AlertProcessor,
        *,
        clock: Clock = time.time_ns,
        breaker: Breaker | None = None,
    ) -> None:
        """`client` is for the thread of `run`; `breaker` is that of the judge in this process."""
        self._client = client
        self._settings = settings
        self._alerting = alerting
        self._clock = clock
        self._breaker = breaker
        lease_s = max(LEASE_S, 3 * settings.monitor)
        self._shards = MonitorShards(client, new_holder(), round(lease_s * SECOND))
        self._stopping = Event()
        self._routes: RouteDetectors | None = None
        self._adaptive: AdaptiveSampling | None = None
        self._round = DriftRound()
        self._drift = DriftAlerts(client)
        self._corrected = CorrectedRates(client)
        self._sums = SumsCheck(client, self._shards.holder)
        self._alerts: dict[str, list[Alert]] = {}
        self._issues_tick = -1
        self._latest_ns = 0
        self._figures: tuple[RouteFigures, ...] = ()
        self._states: Mapping[str, int] = {}
        self._rates: Mapping[str, Sequence[SamplingRateRow]] = {}
        self._problem = ""

    def run(self) -> None:
        """Run rounds until stopped; a round that fails is logged, and the next one tries again."""
        while not self._stopping.is_set():
            try:
                self.run_round()
                self._problem = ""
            except Exception as error:  # noqa: BLE001 - thread boundary: the next round tries again
                self._note("a round of the monitor", error)
            self._stopping.wait(self._settings.monitor)
        if self._shards.members:
            # A lease that cannot be given back ends by itself.
            with suppress(StoreError):
                self._shards.give_back(self._clock())

    def stop(self) -> None:
        """Let `run` end after the current part of the round."""
        self._stopping.set()

    def run_round(self) -> bool:
        """Run one round; False if other processes do all there is to do."""
        now_ns = self._clock()
        self._check_clock(now_ns)
        # Before the leases: a monitor without any also answers applications that ask for rates.
        self._read_rates(now_ns)
        if not self._has_work(now_ns):
            self._forget()
            return False
        self._round = DriftRound()
        verifier = main_verifier(self._client, now_ns)
        self._run_part("route_drift", lambda: self._find_drift(verifier, now_ns))
        if self._stopping.is_set():
            return True
        # Each process shows the corrected rates of its routes.
        self._run_part("labels", lambda: self._find_by_labels(verifier, now_ns))
        if self._shards.is_leader:
            self._run_part("issues", lambda: self._find_issues(now_ns))
            self._run_part("health", lambda: self._find_health(verifier, now_ns))
            self._run_part("sums", lambda: self._check_sums(now_ns))
        found = [alert for alerts in self._alerts.values() for alert in alerts]
        # Leases may have expired meanwhile, and another process may be sending the messages.
        if self._has_work(self._clock()):
            self._round = self._round.only(self._shards.watches)
            self._alerting.process(self._client, found, now_ns=now_ns, is_ours=self._is_ours)
            self._adapt(verifier, now_ns)
        self._update_figures(verifier, now_ns)
        return True

    def figures(self) -> Sequence[RouteFigures]:
        """The routes that this process watched in the last round."""
        return self._figures

    def route_states(self) -> Mapping[str, int]:
        """The routes by what was done with them in the last round."""
        return self._states

    def rates(self, service: str) -> Sequence[SamplingRateRow]:
        """The rates in force of a service, as of the last round."""
        return self._rates.get(service, ())

    def _has_work(self, now_ns: int) -> bool:
        """Renew the leases; False if this process has none."""
        before = (self._shards.held, self._shards.members)
        self._shards.renew(now_ns)
        if self._routes is not None:
            self._routes.set_shards(self._shards.held)
        if before != (self._shards.held, self._shards.members):
            # Its budget is a part of that of all, and its routes are others.
            self._adaptive = None
        return not self._shards.is_idle

    def _is_ours(self, alert: Alert) -> bool:
        """True for an alert of a route that this process watches, and for the leader's."""
        if alert.rule in DRIFT_RULES.values():
            return self._shards.watches(alert.route_key)
        return self._shards.is_leader

    def _check_clock(self, now_ns: int) -> None:
        """Restart if the clock went back by a tick or more: later ticks were read already."""
        if now_ns <= self._latest_ns - TICK_NS:
            log.warning("the clock went back: the monitor restarts")
            self._forget()
            self._latest_ns = 0
        self._latest_ns = max(now_ns, self._latest_ns)

    def _find_drift(self, verifier: str, now_ns: int) -> list[Alert]:
        """Alerts on routes that have drifted, and open ones on routes that were not read yet."""
        routes = self._routes_of(verifier)
        if routes is None:
            return []
        risen = [
            state.alert
            for state in open_alerts(self._client, now_ns=now_ns)
            if state.alert.rule in DRIFT_RULES.values() and self._is_ours(state.alert)
        ]
        self._round = routes.run_round(now_ns, first={alert.route_key for alert in risen})
        if self._stopping.is_set():
            return []
        found = self._drift.alerts(self._round.findings, verifier, now_ns)
        return found + [alert for alert in risen if alert.route_key in routes.unread]

    def _routes_of(self, verifier: str) -> RouteDetectors | None:
        """The detectors of this verifier; they start anew with another, which has other rates."""
        if not verifier:
            self._routes = None
        elif self._routes is None or self._routes.verifier != verifier:
            self._routes = RouteDetectors(
                self._client, self._settings, verifier, is_stopping=self._stopping.is_set
            )
            self._routes.set_shards(self._shards.held)
        return self._routes

    def _find_issues(self, now_ns: int) -> list[Alert]:
        """The alerts on issues, found once a tick because it reads the failures of a week."""
        if self._issues_tick == now_ns // TICK_NS:
            return self._alerts.get("issues", [])
        found = issue_alerts(self._client, now_ns=now_ns)
        self._issues_tick = now_ns // TICK_NS
        return found

    def _find_by_labels(self, verifier: str, now_ns: int) -> list[Alert]:
        """The alerts on corrected rates, and on the judge as labels have it."""
        found = self._corrected.update(verifier, now_ns)
        limit = self._settings.max_corrected_rate
        return limit_alerts(found.rates, limit, now_ns) + judge_drift_alerts(found, now_ns)

    def _find_health(self, verifier: str, now_ns: int) -> list[Alert]:
        return health_alerts(
            self._client, self._settings, verifier=verifier, now_ns=now_ns, breaker=self._breaker
        )

    def _check_sums(self, now_ns: int) -> list[Alert]:
        """Correct the sums that the rates are read from; what was wrong is logged, and no alert."""
        self._sums.step(now_ns)
        return []

    def _adapt(self, verifier: str, now_ns: int) -> None:
        if not self._settings.adaptive or not verifier:
            return
        if self._adaptive is None:
            policy = SamplingPolicy(
                cap_per_hour=self._settings.adaptive_cap,
                budget_per_hour=self._settings.adaptive_budget / max(self._shards.members, 1),
            )
            self._adaptive = AdaptiveSampling(
                self._client,
                policy,
                verifier=verifier,
                now_ns=now_ns,
                is_ours=self._shards.watches,
            )
        self._adaptive.verifier = verifier
        if self._adaptive.adapt(self._round.by_route, self._round.settled, now_ns=now_ns):
            self._read_rates(now_ns)

    def _read_rates(self, now_ns: int) -> None:
        found: dict[str, list[SamplingRateRow]] = {}
        for row in rates_in_force(self._client, now_ns=now_ns) if self._settings.adaptive else ():
            found.setdefault(row.service, []).append(row)
        self._rates = found

    def _update_figures(self, verifier: str, now_ns: int) -> None:
        found, rule = self._round.findings, self._settings.drift_rule
        self._figures = route_figures(
            self._client,
            found,
            verifier=verifier,
            now_ns=now_ns,
            rule=rule,
            limit=self._settings.monitor_gauges,
            corrected=self._corrected.known.rates,
        )
        if self._routes is None:
            self._states = {}
            return
        states = self._routes.states
        shown = len({(one.service, one.route) for one in self._figures})
        if not self._shards.is_leader:
            # The leader counts them.
            states = states | {"left_out": 0}
        self._states = {**states, "without_gauges": sum(states.values()) - shown}

    def _forget(self) -> None:
        """Forget what would be out of date when this process gets the lease again."""
        self._routes, self._adaptive, self._figures, self._alerts = None, None, (), {}
        self._states = {}
        self._corrected = CorrectedRates(self._client)
        self._issues_tick = -1

    def _run_part(self, part: str, alerts: Callable[[], list[Alert]]) -> None:
        """Run a part of the round; if it fails, its previous alerts remain."""
        try:
            self._alerts[part] = alerts()
        except Exception as error:  # noqa: BLE001 - boundary: the other parts continue
            self._note(f"the monitor's part {part}", error)

    def _note(self, what: str, error: Exception) -> None:
        """Log a failure, but not again while it is the same."""
        if isinstance(error, StoreError):
            self._sums.suspect()
        message = f"{what} failed: {redacted_error(error)}"
        if message != self._problem:
            log.warning("%s", message)
        self._problem = message
