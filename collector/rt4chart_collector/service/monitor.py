"""Runs the monitor beside the service or the console, and serves sampling rates to applications."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.tenants import stored_service
from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.core.instruments import TOKENS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.core.settings import MonitoringSettings
from rt4chart_collector.core.times import iso
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.detect.monitor.metrics import RouteFigures, observe_routes
from rt4chart_collector.detect.monitor.monitor import Monitor
from rt4chart_collector.ingest.otlp.token import authenticate_reader
from rt4chart_collector.notify.alerting import Alerting
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.service.http_routes import metrics_route
from rt4chart_collector.service.stages import Shutdown, stage
from rt4chart_collector.store.alerts.sampling_rates import SamplingRateRow
from rt4chart_collector.store.engine.connect import Client, connect

PATH = "/v1/rates"
# Applications read at most 64 KiB (docs/instrument/sampling.md), so entries and names are bounded.
MAX_RATES, NAME_CHARS = 200, 200
# Applications read every 15 seconds, and use a document for this long if the monitor is away.
EXPIRES_S = 180


def rates_document(rates: Sequence[SamplingRateRow], *, now_ns: int) -> dict[str, object]:
    """The document of docs/instrument/sampling.md; without a raised route it has no effect.

    A route name that ends with a star is left out: it would be read as a pattern.
    """
    raised = {
        row.route: row.rate
        for row in rates[:MAX_RATES]
        if row.until_ns > now_ns and len(row.route) <= NAME_CHARS and not row.route.endswith("*")
    }
    return {"raised": raised, "expires": iso(now_ns + EXPIRES_S * 10**9)}


def rates_route(
    rates_of: Callable[[str], Sequence[SamplingRateRow]], guard: TokenGuard, *, clock: Clock
) -> Route:
    """GET /v1/rates?service=NAME, with a token for reading if there is one.

    With the token of a tenant, the name is that of one of its services.
    """

    async def show(request: Request) -> Response:
        tenant = authenticate_reader(guard, request)
        service = request.query_params.get("service", "")
        service = stored_service(tenant, service) if tenant else service
        document = rates_document(rates_of(service), now_ns=clock())
        return JSONResponse(document, headers={"cache-control": "no-store"})

    return Route(PATH, show, methods=["GET"])


def build_monitor(
    client: Client,
    settings: MonitoringSettings | None,
    metrics: ServiceMetrics,
    *,
    clock: Clock,
    breaker: Breaker | None = None,
) -> Monitor | None:
    """The monitor; None if it is off, SettingsError if a target of alerts is misconfigured.

    `metrics` show its routes.
    """
    if settings is None or not settings.is_on:
        return None
    alerting = Alerting(settings.alerts)
    monitor = Monitor(client, settings.monitor, alerting, clock=clock, breaker=breaker)
    observe_routes(metrics, monitor.figures, monitor.route_states)
    return monitor


@contextmanager
def monitor_running(monitor: Monitor | None, shutdown: Shutdown) -> Iterator[None]:
    """Run the monitor's thread while the block runs; at the end, the current part is finished.

    Its first round reads weeks and computes for seconds: it waits until all listeners are open.
    """
    if monitor is None:
        yield
        return

    def run() -> None:
        shutdown.health.wait_until_started()
        monitor.run()

    with stage("monitor", run, stop=monitor.stop, shutdown=shutdown):
        yield


def monitor_routes(
    monitor: Monitor | None, settings: MonitoringSettings | None, guard: TokenGuard, *, clock: Clock
) -> list[Route]:
    """The route for sampling rates; none unless adaptive sampling is on."""
    if monitor is None or settings is None or not settings.monitor.adaptive:
        return []
    return [rates_route(monitor.rates, guard, clock=clock)]


log = logging.getLogger(__name__)


class StandaloneMonitor:
    """A monitor that waits for its store, which may be unavailable at first, then runs rounds."""

    def __init__(
        self,
        open_client: Callable[[], Client],
        settings: MonitoringSettings,
        *,
        clock: Clock = time.time_ns,
    ) -> None:
        """Opens nothing yet; SettingsError if a target of alerts is misconfigured."""
        self._open_client = open_client
        self._settings = settings
        self._alerting = Alerting(settings.alerts)
        self.clock = clock
        self._stopping = Event()
        self._monitor: Monitor | None = None

    def run(self) -> None:
        """Monitor until stopped; the thread's function."""
        client = self._wait_for_store()
        if client is None:
            return
        with client:
            self._monitor = Monitor(
                client, self._settings.monitor, self._alerting, clock=self.clock
            )
            # `stop` may have been called before there was a monitor to pass it on to.
            if self._stopping.is_set():
                self._monitor.stop()
            self._monitor.run()

    def stop(self) -> None:
        """Let `run` end after the current part."""
        self._stopping.set()
        if self._monitor is not None:
            self._monitor.stop()

    def figures(self) -> Sequence[RouteFigures]:
        """The routes in the last round."""
        return () if self._monitor is None else self._monitor.figures()

    def route_states(self) -> Mapping[str, int]:
        """The routes by what was done with them in the last round."""
        return self._monitor.route_states() if self._monitor is not None else {}

    def rates(self, service: str) -> Sequence[SamplingRateRow]:
        """The rates in force of a service, as of the last round."""
        return () if self._monitor is None else self._monitor.rates(service)

    def _wait_for_store(self) -> Client | None:
        """The connection once the store is available; None if stopped before."""
        problem = ""
        while not self._stopping.is_set():
            try:
                return self._open_client()
            except StoreError as error:
                if redacted_error(error) != problem:
                    problem = redacted_error(error)
                    log.warning("the monitor waits for its store: %s", problem)
            self._stopping.wait(self._settings.monitor.monitor)
        return None


def monitors_store(settings: MonitoringSettings, *, is_readonly: bool, is_folder: bool) -> bool:
    """Whether the process of a console also monitors the store.

    A store in a folder is monitored by the service that owns it, and must not be locked here.
    """
    return settings.is_on and not is_readonly and not is_folder


@contextmanager
def standalone_monitor_running(
    dsn: str, settings: MonitoringSettings, guard: TokenGuard, shutdown: Shutdown
) -> Iterator[list[Route]]:
    """Monitor that store in a thread while the block runs; yields its `standalone_routes`."""
    monitor = StandaloneMonitor(lambda: connect(dsn, creates=False), settings)
    with stage("monitor", monitor.run, stop=monitor.stop, shutdown=shutdown):
        yield standalone_routes(monitor, settings, guard)


def standalone_routes(
    monitor: StandaloneMonitor, settings: MonitoringSettings, guard: TokenGuard
) -> list[Route]:
    """The HTTP routes for other programs: metrics of the routes, and rates for applications."""
    metrics = ServiceMetrics()
    observe_routes(metrics, monitor.figures, monitor.route_states)
    metrics.observe(TOKENS_REFUSED, guard.refusals)
    routes = [metrics_route(metrics, guard)]
    if settings.monitor.adaptive:
        routes.append(rates_route(monitor.rates, guard, clock=monitor.clock))
    return routes
