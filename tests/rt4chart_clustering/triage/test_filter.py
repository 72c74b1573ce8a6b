"""Which issues a list has, and in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.triage.filter import ISSUE_KEYS, IssueFilter, filter_issues
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_clustering.triage.severity import Traffic, severity_of
from rt4chart_collector.core.filters.filter_language import FilterTerm, parse_filter
from rt4chart_collector.store.issues.failures import DAY_NS
from rt4chart_collector.store.issues.issue_figures import FigurePart
from rt4chart_collector.store.issues.issues import Issue

NOW = 100 * DAY_NS
QUIET, GROWING = (8.0,) * 7, (8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 80.0)


def ranked(
    number: int, title: str, route: str, state: str, daily: tuple[float, ...], *steps: str
) -> RankedIssue:
    """An issue of thirty days; a claim of it entered in each of these steps."""
    traffic = Traffic(contradicted=sum(daily), daily=daily)
    first = NOW - 30 * DAY_NS
    issue = Issue(
        number,
        title,
        "f",
        "shop",
        route,
        first,
        NOW,
        1,
        (),
        "contradicted/number",
        state=state,
        steps=tuple(FigurePart(step, 1, 1.0) for step in steps),
    )
    return RankedIssue(issue, traffic, severity_of(traffic))


KNOWN = (
    ranked(0x10 << 56, "Wrong number of days", "support/refunds", "open", QUIET, "summarise", ""),
    ranked(0x20 << 56, "Prices added", "search", "resolved", QUIET),
    ranked(0x30 << 56, "Wrong days", "search", "open", GROWING, "answer", "summarise"),
    ranked(0x40 << 56, "Places", "support/refunds", "regressed", QUIET),
)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", [4, 3, 1]),
        ("days", [3, 1]),
        ('"wrong days"', [3]),
        ("-days", [4]),
        ("route:REFUNDS", [4, 1]),
        ("state:resolved", [2]),
        ("state:resolved state:open", [3, 1, 2]),
        ("mark:growing", [3]),
        ("mark:regressed mark:growing", [4, 3]),
        ("-mark:regressed", [3, 1]),
        ("id:3", [3]),
        ("4000", [4]),
        ("service:sho measure:unfaithful", [4, 3, 1]),
        ("owner:ann", []),
        ("step:summarise", [3, 1]),
        ("step:summ", []),
        ("step:answer", [3]),
        ('step:""', [1]),
        ("-step:answer", [4, 1]),
    ],
)
def test_issues_are_found_by_a_filter(written: str, found: list[int]) -> None:
    """Regressed ones come first, then growing ones, then the others as they were ranked."""
    condition = IssueFilter(terms=parse_filter(written, ISSUE_KEYS))

    assert [one.issue.id >> 60 for one in filter_issues(KNOWN, condition, NOW)] == found


@given(
    st.lists(
        st.builds(
            FilterTerm,
            st.sampled_from(["", "route", "service", "pattern", "owner", "id", "step"]),
            st.text(min_size=1),
            st.booleans(),
        )
    )
)
def test_a_term_and_its_opposite_share_the_issues(terms: list[FilterTerm]) -> None:
    """Each issue meets one of them, whatever the words are."""
    for term in terms:
        other = FilterTerm(term.key, term.value, not term.is_excluded)
        both = [filter_issues(KNOWN, IssueFilter(terms=(one,)), NOW) for one in (term, other)]
        assert len(both[0]) + len(both[1]) == len(filter_issues(KNOWN, IssueFilter(), NOW))
