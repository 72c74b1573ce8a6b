"""The console's sections: its own, and those that other packages declare."""

from __future__ import annotations

from importlib.metadata import entry_points

from rt4chart_collector.console.pages import alerts, answers, health, overview, route, settings
from rt4chart_collector.console.section import Section

GROUP = "rt4chart.console"
OWN = (
    overview.SECTION,
    route.SECTION,
    answers.SECTION,
    alerts.SECTION,
    health.SECTION,
    settings.SECTION,
)


def all_sections() -> list[Section]:
    """Every section whose package is installed whole."""
    found = list(OWN)
    for entry in entry_points(group=GROUP):
        try:
            section = entry.load()
        except ModuleNotFoundError:
            continue
        if isinstance(section, Section):
            found.append(section)
    return found
