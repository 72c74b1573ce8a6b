"""Issues filtered by what a person asks for, and marks for issues that need attention."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_collector.store.engine.scope import MAX_TIME_NS
from rt4chart_collector.store.issues.failures import DAY_NS

OPEN = frozenset(state for state in IssueState if not state.is_closed)
NEW, GROWING, BACK = "new", "growing", "back"
# An issue is growing if today has twice the mean of the days before, and at least ten failures:
# with fewer, chance explains the rise.
_GROWTH_FACTOR, _GROWTH_MINIMUM = 2.0, 10.0


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """What an issue must have. None for `service` or `route` allows any.

    `since_ns` and `until_ns` leave out issues whose failures all came before or after. `text` is
    searched for in the title, summary, owner, route and fingerprint; it may also be the beginning
    of an id.
    """

    states: Collection[IssueState] = OPEN
    service: str | None = None
    route: str | None = None
    since_ns: int = 0
    until_ns: int = MAX_TIME_NS
    text: str = ""


def filter_issues(ranked: Iterable[RankedIssue], condition: IssueFilter) -> list[RankedIssue]:
    """The issues that meet the condition, in the given order."""
    return [one for one in ranked if _matches(one, condition)]


def _matches(ranked: RankedIssue, condition: IssueFilter) -> bool:
    issue, text = ranked.issue, condition.text.strip().casefold()
    searched = "\n".join((issue.title, issue.summary, issue.owner, issue.route, issue.fingerprint))
    return (
        IssueState(issue.state) in condition.states
        and condition.service in (None, issue.service)
        and condition.route in (None, issue.route)
        and issue.last_ns >= condition.since_ns
        and issue.first_ns < condition.until_ns
        and (text in searched.casefold() or any(hex_id(id).startswith(text) for id in issue.ids))
    )


def issue_marks(ranked: RankedIssue, now_ns: int) -> tuple[str, ...]:
    """`back` for a regression, then `new` on the first day, or `growing`."""
    issue, daily = ranked.issue, ranked.traffic.daily
    found = [BACK] if issue.state == IssueState.REGRESSED else []
    if now_ns - issue.first_ns < DAY_NS:
        return (*found, NEW)
    age = min(max(int((now_ns - issue.first_ns) // DAY_NS), 1), len(daily) - 1)
    before = daily[-1 - age : -1]
    if daily[-1] >= _GROWTH_MINIMUM and daily[-1] >= _GROWTH_FACTOR * sum(before) / len(before):
        found.append(GROWING)
    return tuple(found)
