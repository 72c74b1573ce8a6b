"""Issues filtered by what a person asks for, and marks for issues that need attention."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from otel_rt4chart.core.tenants import tenant_of_service
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.description.pattern_names import pattern_name
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_clustering.triage.severity import SeverityLevel
from rt4chart_collector.core.filters.filter_language import (
    FilterKey,
    FilterTerm,
    KeyMatch,
    holds,
    is_match,
)
from rt4chart_collector.store.engine.scope import MAX_TIME_NS
from rt4chart_collector.store.issues.failures import DAY_NS

OPEN = frozenset(state for state in IssueState if not state.is_closed)
NEW, GROWING, BACK = "new", "growing", "back"
# The marks as people read and write them.
MARK_NAMES = {"new": NEW, "growing": GROWING, "regressed": BACK}
MEASURES = (str(Measure.UNFAITHFUL), str(Measure.MISLEADING))
# An issue is growing if today has twice the mean of the days before, and at least ten failures:
# with fewer, chance explains the rise.
_GROWTH_FACTOR, _GROWTH_MINIMUM = 2.0, 10.0


# The keys of the language of filters, in lists of issues.
ISSUE_KEYS = (
    FilterKey("route", "a part of the route"),
    FilterKey("service", "a part of the service"),
    FilterKey("tenant", 'the tenant, "" for none', KeyMatch.WHOLE),
    FilterKey("state", "the state, closed ones too", KeyMatch.CHOICE, tuple(map(str, IssueState))),
    FilterKey("mark", "what needs attention", KeyMatch.CHOICE, tuple(MARK_NAMES)),
    FilterKey("severity", "the level", KeyMatch.CHOICE, tuple(map(str, SeverityLevel))),
    FilterKey("measure", "what its claims are counted as", KeyMatch.CHOICE, MEASURES),
    FilterKey("pattern", "a part of what goes wrong, such as number"),
    FilterKey("step", "a claim of it entered in this step of a chain", KeyMatch.WHOLE),
    FilterKey("owner", "a part of the owner"),
    FilterKey("id", "the first digits of the id"),
)


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """What an issue must have. None for `service` or `route` allows any.

    `since_ns` and `until_ns` leave out issues whose failures all came before or after. `terms` are
    a filter of `ISSUE_KEYS`: its words are searched for in the title, summary, owner, route and
    fingerprint, and may be the beginning of an id. A term of a state wins over `states`.
    """

    states: Collection[IssueState] = OPEN
    service: str | None = None
    route: str | None = None
    since_ns: int = 0
    until_ns: int = MAX_TIME_NS
    terms: Sequence[FilterTerm] = ()


def filter_issues(
    ranked: Iterable[RankedIssue], condition: IssueFilter, now_ns: int
) -> list[RankedIssue]:
    """The issues that meet the condition: regressed ones, growing ones, then in the given order."""
    states = condition.states
    if any(term.key == "state" for term in condition.terms):
        states = tuple(IssueState)
    found = [
        one
        for one in ranked
        if IssueState(one.issue.state) in states
        and condition.service in (None, one.issue.service)
        and condition.route in (None, one.issue.route)
        and one.issue.last_ns >= condition.since_ns
        and one.issue.first_ns < condition.until_ns
        and holds(condition.terms, partial(_meets, one, now_ns))
    ]
    return sorted(found, key=lambda one: -urgency(one, now_ns))


def _meets(ranked: RankedIssue, now_ns: int, term: FilterTerm) -> bool:
    issue = ranked.issue
    match term.key:
        case "route" | "service" | "owner":
            return is_match(term, getattr(issue, term.key))
        case "tenant":
            return tenant_of_service(issue.service) == term.value
        case "step":
            return any(is_match(term, step.name, KeyMatch.WHOLE) for step in issue.steps)
        case "pattern":
            return is_match(term, pattern_name(issue.fingerprint))
        case "state":
            return issue.state == term.value
        case "mark":
            return MARK_NAMES[term.value] in issue_marks(ranked, now_ns)
        case "severity":
            return ranked.severity.level == term.value
        case "measure":
            return ranked.measure == term.value
    is_id = any(hex_id(id).startswith(term.value.lower()) for id in issue.ids)
    if term.key == "id":
        return is_id
    searched = (issue.title, issue.summary, issue.owner, issue.route, issue.fingerprint)
    return is_id or any(is_match(term, text) for text in searched)


def urgency(ranked: RankedIssue, now_ns: int) -> int:
    """2 for a regression, 1 for an issue that grows, else 0."""
    marks = issue_marks(ranked, now_ns)
    return 2 if BACK in marks else int(GROWING in marks)


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
