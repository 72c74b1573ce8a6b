"""The monitor's settings."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import flags_of, load, settings_of
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.settings import (
    AlertSettings,
    MonitoringSettings,
    MonitorSettings,
    UpSettings,
)
from rt4chart_collector.detect.drift.policy import RULES
from rt4chart_collector.detect.monitor.route_detectors import drift_policy
from rt4chart_collector.service.health import Health
from rt4chart_collector.service.monitor import build_monitor, monitor_running
from rt4chart_collector.service.stages import Shutdown
from rt4chart_collector.store.engine.connect import Client
from tests.polling import wait_until


def test_a_flag_wins_over_its_variable() -> None:
    """And both over the default."""
    found = load(
        MonitorSettings, {"monitor": "5"}, {"RT4CHART_MONITOR": "9", "RT4CHART_ADAPTIVE": "no"}
    )

    assert (found.monitor, found.adaptive, found.monitor_routes) == (5.0, False, 1_000)


@pytest.mark.parametrize("rule", RULES)
def test_the_detector_is_asked_as_the_settings_say(rule: str) -> None:
    """Rule, threshold, and false alarms of all routes together."""
    found = load(
        MonitorSettings, {}, {"RT4CHART_DRIFT_RULE": rule, "RT4CHART_DRIFT_FALSE_ALARMS": "2"}
    )

    policy = drift_policy(found, 9)
    assert (policy.rule, policy.routes) == (rule, 9)
    assert drift_policy(found, 0).false_alarms_per_month == 2.0


@pytest.mark.parametrize(
    ("variable", "given"),
    [
        ("RT4CHART_MONITOR", "0.5"),
        ("RT4CHART_MONITOR", "often"),
        ("RT4CHART_DRIFT_RULE", "magic"),
        ("RT4CHART_DRIFT_POINTS", "3"),
        ("RT4CHART_ADAPTIVE_CAP", "0"),
    ],
)
def test_what_cannot_be_used_is_named(variable: str, given: str) -> None:
    """With what was expected and what came."""
    with pytest.raises(SettingsError, match=f"{variable}: expected .*{given}"):
        load(MonitorSettings, {}, {variable: given})


def test_the_rules_are_those_of_the_detector() -> None:
    """The settings name them without importing it."""
    with pytest.raises(SettingsError, match=f"expected {', '.join(RULES)}; got"):
        load(MonitorSettings, {}, {"RT4CHART_DRIFT_RULE": "none of them"})


def test_off_is_no_monitor(client: Client) -> None:
    """No thread, and nothing in its place."""
    off = MonitoringSettings(
        load(MonitorSettings, {}, {"RT4CHART_MONITOR": "off"}), AlertSettings()
    )

    assert not off.is_on
    assert build_monitor(client, off, ServiceMetrics(), clock=lambda: 0) is None
    with monitor_running(None, Shutdown(1.0)):
        pass


def test_no_secret_has_a_flag() -> None:
    """Any user of the machine can read a command line."""
    secret = {one.key for one in settings_of(UpSettings) if one.is_secret}

    assert "alerts_slack" in secret
    assert not secret & {one.key for one in flags_of(UpSettings)}


def test_the_monitors_thread_looks_and_ends(client: Client) -> None:
    """At once when asked to, though its next round is an hour away."""
    settings = MonitoringSettings(load(MonitorSettings, {"monitor": "3600"}, {}), AlertSettings())
    monitor = build_monitor(client, settings, ServiceMetrics(), clock=lambda: 4 * 10**18)
    shutdown = Shutdown(20.0)

    with monitor_running(monitor, shutdown):
        pass

    assert not shutdown.is_late
    assert shutdown.health.reasons == ("stopping",)


def test_the_first_round_waits_for_the_listeners(client: Client) -> None:
    """It has the lease only after the start; a shutdown before that ends the thread, too."""
    settings = MonitoringSettings(load(MonitorSettings, {"monitor": "3600"}, {}), AlertSettings())
    rounds: list[int] = []

    def clock() -> int:
        rounds.append(1)
        return 4 * 10**18

    started, never = (Shutdown(20.0, Health(is_starting=True)) for _ in range(2))
    with monitor_running(build_monitor(client, settings, ServiceMetrics(), clock=clock), never):
        pass
    before = len(rounds)
    with monitor_running(build_monitor(client, settings, ServiceMetrics(), clock=clock), started):
        started.health.start()
        wait_until(lambda: len(rounds), lambda asked: asked > before)

    assert before == 0
    assert not never.is_late
    assert not started.is_late
