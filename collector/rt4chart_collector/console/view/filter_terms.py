"""The filter of a list, from the address of its page."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request

from rt4chart_collector.console.view.table import HTML, format_param
from rt4chart_collector.core.filters.filter_language import (
    FilterError,
    FilterKey,
    FilterTerm,
    parse_filter,
)


def read_terms(
    request: Request, written: str, keys: Sequence[FilterKey]
) -> tuple[tuple[FilterTerm, ...], str]:
    """The terms, and what is wrong with the text if it cannot be read, which a page says.

    FilterError for a file, which has no place to say it.
    """
    try:
        return parse_filter(written, keys), ""
    except FilterError as error:
        if format_param(request) != HTML:
            raise
        return (), str(error)
