"""Paging of tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from starlette.requests import Request

from rt4chart_collector.console.view.params import integer_param
from rt4chart_collector.console.view.request_url import request_url
from rt4chart_collector.console.view.table import HTML, Table, format_param

_Row = TypeVar("_Row")
PAGE_ROWS, EXPORT_ROWS = 50, 10_000
LAST_PAGE = 1_000_000


def page_size(request: Request) -> int:
    """The number of rows on a page; an export has more."""
    return PAGE_ROWS if format_param(request) == HTML else EXPORT_ROWS


def page_number(request: Request) -> int:
    """The requested page, from 1."""
    return integer_param(request, "page", default=1, low=1, high=LAST_PAGE)


def page_of_table(request: Request, table: Table[_Row]) -> Table[_Row]:
    """One page of a table whose rows were all read, with their total."""
    size, number = page_size(request), page_number(request)
    begin = (number - 1) * size
    cut = replace(table, rows=table.rows[begin : begin + size], total=len(table.rows))
    return with_page_links(request, cut, has_more=len(table.rows) > begin + size)


def with_page_links(request: Request, table: Table[_Row], *, has_more: bool) -> Table[_Row]:
    """The table with links to the previous and next page, by `?page=`."""
    number, url = page_number(request), request_url(request)
    kind = format_param(request)
    export = {} if kind == HTML else {"format": kind, "table": table.name}
    return replace(
        table,
        more=url.replace(page=str(number + 1), **export) if has_more else "",
        back=url.replace(page=str(number - 1), **export) if number > 1 else "",
    )
