"""The URL of a request, and the time range that it selects."""

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
# Parameters of one view of a page, which links to other views leave out.
VIEW_PARAMS = ("format", "table", "page", "after", "before", "partial")


@dataclass(frozen=True, slots=True)
class RequestUrl:
    """A path with its query, for links that change some of its parameters."""

    path: str
    query: tuple[tuple[str, str], ...]

    @property
    def full(self) -> str:
        """The path with its query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def replace(self, **changes: str) -> str:
        """The URL with these parameters changed; an empty value removes a parameter."""
        unchanged = [pair for pair in self.query if pair[0] not in (*VIEW_PARAMS, *changes)]
        changed = [(name, value) for name, value in changes.items() if value]
        query = urlencode([*unchanged, *changed])
        return f"{self.path}?{query}" if query else self.path

    def get(self, name: str) -> str:
        """The value of a query parameter, "" if it is absent."""
        return dict(self.query).get(name, "")


def request_url(request: Request) -> RequestUrl:
    """The URL of a request."""
    query = tuple((name, value[:500]) for name, value in request.query_params.multi_items()[:40])
    # One leading slash only: a URL that starts with two names another host.
    path = "/" + quote(request.scope["path"].lstrip("/"), safe="/~")
    return RequestUrl(path, query)


def window_name(request: Request) -> str:
    """The name of the selected time range: `?since=`, one of `WINDOWS`."""
    return choice_param(request, "since", tuple(WINDOWS), DEFAULT_WINDOW)


def window_of(request: Request, now_ns: int) -> tuple[int, int]:
    """The start and end of the time range in epoch nanoseconds; the end is now."""
    return now_ns - WINDOWS[window_name(request)] * SECOND_NS, now_ns


def window_covering(past_ns: int) -> str:
    """The smallest time range that reaches so far back; the longest if none does."""
    return next((name for name, s in WINDOWS.items() if s * SECOND_NS >= past_ns), [*WINDOWS][-1])
