"""Which issues a person asked for, and what marks an issue as worth a second look."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rt4chart_clustering.grouping.issue_state import State
from rt4chart_clustering.triage.find import hex_of
from rt4chart_clustering.triage.overview import Standing
from rt4chart_collector.store.issues.failures import DAY_NS

OPEN = frozenset(state for state in State if not state.is_closed)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for; None of `service` and `route` is any, `text` stands in a title or owner.

    An issue of which nothing was seen since `since_ns` is left out.
    """

    states: Collection[State] = OPEN
    service: str | None = None
    route: str | None = None
    since_ns: int = 0
    text: str = ""


def narrowed(known: Iterable[Standing], wanted: Wanted) -> list[Standing]:
    """Those of them, in the order they come."""
    return [one for one in known if _is_wanted(one, wanted)]


def _is_wanted(one: Standing, wanted: Wanted) -> bool:
    issue, text = one.issue, wanted.text.strip().casefold()
    said = "\n".join((issue.title, issue.summary, issue.owner, issue.route, issue.fingerprint))
    return (
        State(issue.state) in wanted.states
        and wanted.service in (None, issue.service)
        and wanted.route in (None, issue.route)
        and issue.last_ns >= wanted.since_ns
        and (text in said.casefold() or any(hex_of(id).startswith(text) for id in issue.ids))
    )


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
