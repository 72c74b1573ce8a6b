"""A table page by page."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from starlette.requests import Request

from rt4chart_collector.console.view.params import integer_param
from rt4chart_collector.console.view.request_url import request_url
from rt4chart_collector.console.view.table import HTML, Table, format_of

_Row = TypeVar("_Row")
PAGE_ROWS, EXPORT_ROWS = 50, 10_000
LAST_PAGE = 1_000_000


def page_size(request: Request) -> int:
    """How many rows a page has; a file has more."""
    return PAGE_ROWS if format_of(request) == HTML else EXPORT_ROWS


def page_number(request: Request) -> int:
    """Which page is asked for, from 1 on."""
    return integer_param(request, "page", default=1, low=1, high=LAST_PAGE)


def page_of_table(request: Request, table: Table[_Row]) -> Table[_Row]:
    """One page of a table that is read whole, with the number of its rows."""
    size, number = page_size(request), page_number(request)
    begin = (number - 1) * size
    cut = replace(table, rows=table.rows[begin : begin + size], total=len(table.rows))
    return with_page_links(request, cut, has_more=len(table.rows) > begin + size)


def with_page_links(request: Request, table: Table[_Row], *, has_more: bool) -> Table[_Row]:
    """The table with the addresses of the pages beside this one, by `?page=`."""
    number, here = page_number(request), request_url(request)
    kind = format_of(request)
    kept = {} if kind == HTML else {"format": kind, "table": table.name}
    return replace(
        table,
        more=here.to(page=str(number + 1), **kept) if has_more else "",
        back=here.to(page=str(number - 1), **kept) if number > 1 else "",
    )
