"""The address that is being looked at, and the time that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.requests import Request

from rt4chart_collector.console.view.params import choice_param

SECOND_NS = 10**9
WINDOWS = {
    "1h": 3600,
    "6h": 6 * 3600,
    "24h": 24 * 3600,
    "7d": 7 * 86_400,
    "30d": 30 * 86_400,
}
DEFAULT_WINDOW = "24h"
# What belongs to one view of an address, not to another.
VIEW_PARAMS = ("format", "table", "page", "after", "before", "partial")


@dataclass(frozen=True, slots=True)
class RequestUrl:
    """An address with its query, for links that change one thing of it."""

    path: str
    query: tuple[tuple[str, str], ...]

    @property
    def full(self) -> str:
        """The address as it was asked for."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def to(self, **changes: str) -> str:
        """The same with other values; an empty one takes a filter away."""
        kept = [pair for pair in self.query if pair[0] not in (*VIEW_PARAMS, *changes)]
        query = urlencode([*kept, *((name, value) for name, value in changes.items() if value)])
        return f"{self.path}?{query}" if query else self.path

    def get(self, name: str) -> str:
        """A value of the query, "" where it is not there."""
        return dict(self.query).get(name, "")


def request_url(request: Request) -> RequestUrl:
    """The request's."""
    query = tuple((name, value[:500]) for name, value in request.query_params.multi_items()[:40])
    # Of one slash: an address that begins with two is another host's.
    path = "/" + quote(request.scope["path"].lstrip("/"), safe="/~")
    return RequestUrl(path, query)


def window_name(request: Request) -> str:
    """Which of `WINDOWS` is looked at: `?since=`."""
    return choice_param(request, "since", tuple(WINDOWS), DEFAULT_WINDOW)


def window_of(request: Request, now_ns: int) -> tuple[int, int]:
    """From when to when, in epoch nanoseconds; the end is now."""
    return now_ns - WINDOWS[window_name(request)] * SECOND_NS, now_ns
