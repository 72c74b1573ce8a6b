"""What is worth a second look."""

from __future__ import annotations

import pytest

from rt4chart_clustering.triage.filter import issue_marks
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_clustering.triage.severity import Traffic, severity_of
from rt4chart_collector.store.issues.failures import DAY_NS
from rt4chart_collector.store.issues.issues import Issue

NOW = 100 * DAY_NS


@pytest.mark.parametrize(
    ("age_days", "daily", "state", "marks"),
    [
        (0.5, (0, 0, 0, 0, 0, 0, 90), "new", ("new",)),
        (0.5, (0, 0, 0, 0, 0, 0, 90), "regressed", ("back", "new")),
        (30, (8, 8, 8, 8, 8, 8, 16), "open", ("growing",)),
        (30, (8, 8, 8, 8, 8, 8, 15), "open", ()),
        (30, (0, 0, 0, 0, 0, 0, 9), "open", ()),
        (30, (0, 0, 0, 0, 0, 0, 10), "regressed", ("back", "growing")),
        (1.5, (0, 0, 0, 0, 0, 20, 30), "open", ()),
        (1.5, (0, 0, 0, 0, 0, 10, 30), "open", ("growing",)),
    ],
)
def test_marks_say_what_is_new_growing_or_back(
    age_days: float, daily: tuple[float, ...], state: str, marks: tuple[str, ...]
) -> None:
    """Days before an issue was there are none of its quiet ones."""
    traffic = Traffic(contradicted=sum(daily), daily=daily)
    first = int(NOW - age_days * DAY_NS)
    issue = Issue(1, "t", "f", "s", "r", first, NOW, 1, (), "1", state=state)

    assert issue_marks(RankedIssue(issue, traffic, severity_of(traffic)), NOW) == marks
