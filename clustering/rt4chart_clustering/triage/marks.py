"""What is worth a second look at an issue, in a word."""

from __future__ import annotations

from rt4chart_clustering.triage.overview import Standing
from rt4chart_clustering.triage.state import State
from rt4chart_collector.store.failures import DAY_NS

NEW, GROWING, BACK = "new", "growing", "back"
# Growing is twice the mean of the days before, and enough of them that chance does not explain it.
TIMES, LEAST = 2.0, 10.0


def marks_of(one: Standing, now_ns: int) -> tuple[str, ...]:
    """`back` for a regression, `new` in the first day, `growing` as said above, in that order."""
    issue, daily = one.issue, one.traffic.daily
    found = [BACK] if issue.state == State.REGRESSED else []
    if now_ns - issue.first_ns < DAY_NS:
        return (*found, NEW)
    age = min(max(int((now_ns - issue.first_ns) // DAY_NS), 1), len(daily) - 1)
    before = daily[-1 - age : -1]
    if daily[-1] >= LEAST and daily[-1] >= TIMES * sum(before) / len(before):
        found.append(GROWING)
    return tuple(found)
