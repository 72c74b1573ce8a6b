"""The monitor of a process that is not the service: beside a console, over a server's store."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from threading import Event

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from otel_rt4chart.deciding import Clock
from otel_rt4chart.errors import StoreError
from rt4chart_collector.alerts.run import Alerting
from rt4chart_collector.monitor.rates import rates_route
from rt4chart_collector.monitor.run import Monitor
from rt4chart_collector.monitor.served import Monitoring
from rt4chart_collector.stages import Ending, stage
from rt4chart_collector.store.connect import Client, connect
from rt4chart_collector.store.sampling_rates import RateSet
from rt4chart_collector.telemetry.figures import Figures
from rt4chart_collector.telemetry.prometheus import exposition
from rt4chart_collector.trouble import shown

log = logging.getLogger(__name__)


class LoneMonitor:
    """Waits for the store, which may be away at the start, then looks until stopped."""

    def __init__(
        self,
        open_client: Callable[[], Client],
        settings: Monitoring,
        *,
        clock: Clock = time.time_ns,
    ) -> None:
        """Nothing is opened yet; SettingsError where somebody cannot be told of alerts."""
        self._open_client = open_client
        self._settings = settings
        self._alerting = Alerting(settings.alerts)
        self.clock = clock
        self._began_s, self._version = clock() / 10**9, version("otel-rt4chart")
        self._stopping = Event()
        self._monitor: Monitor | None = None

    def run(self) -> None:
        """A thread's life."""
        client = self._opened()
        if client is None:
            return
        with client:
            self._monitor = Monitor(
                client, self._settings.monitor, self._alerting, clock=self.clock
            )
            if self._stopping.is_set():
                self._monitor.stop()
            self._monitor.run()

    def stop(self) -> None:
        """Let `run` end after the part in hand."""
        self._stopping.set()
        if self._monitor is not None:
            self._monitor.stop()

    @property
    def figures(self) -> Figures:
        """The routes as the last round saw them, and since when this process is up."""
        routes = () if self._monitor is None else tuple(self._monitor.figures())
        return Figures(self._version, self._began_s, routes=routes)

    def rates(self, service: str) -> Sequence[RateSet]:
        """The rates in force of a service, as of the last round."""
        return () if self._monitor is None else self._monitor.rates(service)

    def _opened(self) -> Client | None:
        """The store once it is there; None where it was not before the end."""
        problem = ""
        while not self._stopping.is_set():
            try:
                return self._open_client()
            except StoreError as error:
                if shown(error) != problem:
                    problem = shown(error)
                    log.warning("the monitor waits for its store: %s", problem)
            self._stopping.wait(self._settings.monitor.monitor)
        return None


def watches(settings: Monitoring, *, is_readonly: bool, is_folder: bool) -> bool:
    """Whether a console has a monitor beside it.

    A store in a folder is watched by the service that owns it, and would be kept from it here.
    """
    return settings.is_on and not is_readonly and not is_folder


@contextmanager
def monitored_alone(dsn: str, settings: Monitoring, ending: Ending) -> Iterator[list[Route]]:
    """The monitor's thread over that store while the block runs; gives what is `asked_of` it."""
    lone = LoneMonitor(lambda: connect(dsn, creates=False), settings)
    with stage("monitor", lone.run, stop=lone.stop, ending=ending):
        yield asked_of(lone, settings)


def asked_of(lone: LoneMonitor, settings: Monitoring) -> list[Route]:
    """What other programs ask over HTTP: metrics of the routes, and rates for applications.

    Who may ask is the server's affair.
    """

    async def show_metrics(request: Request) -> Response:
        body, media_type = exposition(lone.figures, request.headers.get("accept", ""))
        return Response(body, headers={"content-type": media_type})

    asked = [Route("/metrics", show_metrics, methods=["GET"])]
    if settings.monitor.adaptive:
        asked.append(rates_route(lone.rates, "", clock=lone.clock))
    return asked
