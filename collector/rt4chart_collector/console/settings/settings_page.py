"""The settings page: the settings in force, without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from otel_rt4chart.core.settings import SettingInForce
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.view.paging import page_of_table
from rt4chart_collector.console.view.table import Column, Table, sort_param, sorted_rows

COLUMNS: Sequence[Column[SettingInForce]] = (
    Column("variable", "Variable", lambda row: row.variable, is_sortable=True),
    Column("value", "Value", lambda row: row.value),
    Column("default", "Default", lambda row: "yes" if row.is_default else "no", is_sortable=True),
    Column("meaning", "Meaning", lambda row: row.meaning),
)


def show_settings(console: Console, request: Request) -> Response:
    """GET /settings."""
    sort = sort_param(request, COLUMNS, "variable")
    rows = sorted_rows(console.facts.settings, COLUMNS, sort)
    empty = "This process has no settings."
    table = Table("settings", "Settings", rows, COLUMNS, empty, sort)
    return console.table(
        request, page_of_table(request, table), "settings.html", database=console.facts.database
    )


ROUTES = page_routes(("GET", "/settings", show_settings))
SECTION = Section("Settings", "/settings", ROUTES, Path(__file__).parent / "templates", order=90)
