"""The console's sections: its own, and those that other packages declare."""

from __future__ import annotations

from importlib.metadata import entry_points

from rt4chart_collector.console.alerts import alerts_page
from rt4chart_collector.console.answers import answers_page
from rt4chart_collector.console.app.section import Section
from rt4chart_collector.console.routes import overview_page, route_page
from rt4chart_collector.console.settings import health_page, settings_page

GROUP = "rt4chart.console"
OWN = (
    overview_page.SECTION,
    route_page.SECTION,
    answers_page.SECTION,
    alerts_page.SECTION,
    health_page.SECTION,
    settings_page.SECTION,
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
