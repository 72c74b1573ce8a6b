"""The URL of a request, for links that change a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.requests import Request

# The parameters of a time range.
TIME_PARAMS = ("since", "from", "to")
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

    def of_time(self, values: Mapping[str, str]) -> str:
        """The URL with the time range of these parameters."""
        return self.replace(**{**dict.fromkeys(TIME_PARAMS, ""), **values})

    def others(self, *names: str) -> list[tuple[str, str]]:
        """The parameters of this view but these, for the hidden fields of a form."""
        return [pair for pair in self.query if pair[0] not in (*VIEW_PARAMS, *names)]

    def get(self, name: str) -> str:
        """The value of a query parameter, "" if it is absent."""
        return dict(self.query).get(name, "")


def request_url(request: Request) -> RequestUrl:
    """The URL of a request."""
    query = tuple((name, value[:500]) for name, value in request.query_params.multi_items()[:40])
    # One leading slash only: a URL that starts with two names another host.
    path = "/" + quote(request.scope["path"].lstrip("/"), safe="/~")
    return RequestUrl(path, query)
