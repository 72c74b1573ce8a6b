"""The time range of a page, from its address: the last hours or days, or between two times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request

from rt4chart_collector.console.view.params import bad_request, choice_param, text_param
from rt4chart_collector.core.times import iso, utc_time_ns
from rt4chart_collector.store.engine.scope import MAX_TIME_NS

SECOND_NS = 10**9
WINDOWS = {
    "1h": 3600,
    "6h": 6 * 3600,
    "24h": 24 * 3600,
    "7d": 7 * 86_400,
    "30d": 30 * 86_400,
}
DEFAULT_WINDOW = "24h"
TIME_CHARS = 40


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The answers from `since_ns` until before `until_ns`, in epoch nanoseconds.

    `name` is that of a range which ends now, one of `WINDOWS`, and "" between two times.
    """

    since_ns: int
    until_ns: int
    name: str = ""

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of an address that has the same range."""
        return {"since": self.name} if self.name else self.fixed_query

    @property
    def fixed_query(self) -> Mapping[str, str]:
        """The parameters of an address that has the same times, also when it is opened later."""
        return {"from": iso(self.since_ns), "to": iso(self.until_ns)}


def time_range(request: Request, now_ns: int) -> TimeRange:
    """The range of `?since=`, one of `WINDOWS`, or of `?from=` and `?to=`.

    A time without a zone is in UTC. Without `to`, the range ends now; without `from`, it is as long
    as the default.
    """
    if not (request.query_params.get("from") or request.query_params.get("to")):
        name = choice_param(request, "since", tuple(WINDOWS), DEFAULT_WINDOW)
        return TimeRange(now_ns - WINDOWS[name] * SECOND_NS, now_ns, name)
    until_ns = _time_param(request, "to") or now_ns
    since_ns = _time_param(request, "from")
    if not since_ns:
        since_ns = max(until_ns - WINDOWS[DEFAULT_WINDOW] * SECOND_NS, 0)
    if since_ns >= until_ns:
        raise bad_request("from", f"a time before {iso(until_ns)}", iso(since_ns))
    return TimeRange(since_ns, until_ns)


def window_covering(past_ns: int) -> str:
    """The smallest time range that reaches so far back; the longest if none does."""
    return next((name for name, s in WINDOWS.items() if s * SECOND_NS >= past_ns), [*WINDOWS][-1])


def _time_param(request: Request, name: str) -> int:
    """A time in epoch nanoseconds, 0 if there is none."""
    written = text_param(request, name, longest=TIME_CHARS)
    try:
        return min(utc_time_ns(written), MAX_TIME_NS) if written else 0
    except ValueError as error:
        raise bad_request(name, "a time such as 2026-01-30T12:00Z", written) from error
