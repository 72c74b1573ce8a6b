"""The monitor as a part of a process: its thread, its connection, and what others ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, dataclass, fields

from starlette.routing import Route

from otel_rt4chart.deciding import Clock
from rt4chart_collector.alerts.run import Alerting
from rt4chart_collector.alerts.settings import AlertSettings, load_alerts
from rt4chart_collector.monitor.rates import rates_route
from rt4chart_collector.monitor.run import Monitor
from rt4chart_collector.monitor.settings import MonitorSettings, load_monitor, monitor_fields
from rt4chart_collector.stages import Ending, stage
from rt4chart_collector.store.connect import Client
from rt4chart_collector.telemetry.figures import Figures


@dataclass(frozen=True, slots=True)
class Monitoring:
    """What the monitor goes by; secrets of alerts are among it."""

    monitor: MonitorSettings
    alerts: AlertSettings

    @property
    def is_on(self) -> bool:
        """False where RT4CHART_MONITOR is off."""
        return self.monitor.monitor > 0


def monitoring_fields() -> list[Field[object]]:
    """The settings that have a flag: those that are no secret."""
    alerts = [one for one in fields(AlertSettings) if "secret" not in one.metadata]
    return [*monitor_fields(), *alerts]


def load_monitoring(flags: Mapping[str, str | None] | None = None) -> Monitoring:
    """The settings: a flag wins over its variable; SettingsError for what cannot be used."""
    return Monitoring(load_monitor(flags), load_alerts(flags))


def build_monitor(
    client: Client,
    settings: Monitoring | None,
    *,
    clock: Clock,
    process: Callable[[], Figures] | None = None,
) -> Monitor | None:
    """The monitor, None where it is off; SettingsError where somebody cannot be told of alerts."""
    if settings is None or not settings.is_on:
        return None
    alerting = Alerting(settings.alerts)
    return Monitor(client, settings.monitor, alerting, clock=clock, process=process)


@contextmanager
def monitored(monitor: Monitor | None, ending: Ending) -> Iterator[None]:
    """The monitor's thread while the block runs; the part in hand is finished at the end."""
    if monitor is None:
        yield
        return
    with stage("monitor", monitor.run, stop=monitor.stop, ending=ending):
        yield


def monitor_routes(
    monitor: Monitor | None, settings: Monitoring | None, token: str, *, clock: Clock
) -> list[Route]:
    """What applications ask over HTTP, where adaptive sampling is on."""
    if monitor is None or settings is None or not settings.monitor.adaptive:
        return []
    return [rates_route(monitor.rates, token, clock=clock)]
