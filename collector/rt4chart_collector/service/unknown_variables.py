"""Variables that look like a misspelt setting: what was meant by one has no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from difflib import get_close_matches

from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.settings.application import Settings as Application
from rt4chart_collector.core.console_settings import ConsoleSettings
from rt4chart_collector.core.monitor_settings import MonitorSettings
from rt4chart_collector.core.settings import PREFIX, Settings
from rt4chart_collector.notify.settings import AlertSettings

SERVICE = (Settings, ConsoleSettings, MonitorSettings, AlertSettings)
APPLICATION = (Application, JudgeSettings)
LIKE = 0.85
# Settings that are gone, each with what takes its place.
GONE = {
    "ACCESS": "commands find the running service by themselves, and `rt4chart sql` asks it a query"
}


def known() -> set[str]:
    """The variables of the service, and of the application, which may have its environment."""
    of_service = {PREFIX + one.name.upper() for kind in SERVICE for one in fields(kind)}
    return of_service | {one.metadata["name"] for kind in APPLICATION for one in fields(kind)}


def misspelt(given: Iterable[str]) -> Iterator[str]:
    """A warning for each name that is not a setting, but was one or looks like one."""
    settings = {name.removeprefix(PREFIX) for name in known()}
    for name in sorted(given):
        short = name.removeprefix(PREFIX)
        if name == short or short in settings:
            continue
        if short in GONE:
            yield f"{name} is gone and has no effect: {GONE[short]}"
        elif meant := get_close_matches(short, settings, n=1, cutoff=LIKE):
            yield f"{name} is not known and has no effect: is {PREFIX}{meant[0]} meant?"
