"""What ends an ignored issue: a time, a number of further failures, or a rate of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.issues.issue_events import IssueEvent, event_with_state
from rt4chart_collector.store.issues.issues import Issue

IGNORED_UNTIL = "ignored_until"


@dataclass(frozen=True, slots=True)
class IgnoreUntil:
    """Conditions, each 0 for none; the first one that holds ends the ignoring.

    `claims` is the total of the issue's claims, `a_day` the failures of the last 24 hours.
    """

    at_ns: int = 0
    claims: int = 0
    a_day: int = 0

    def __bool__(self) -> bool:
        """False without any condition: ignored for ever."""
        return bool(self.at_ns or self.claims or self.a_day)

    def __str__(self) -> str:
        """The conditions in words."""
        told = [
            iso(self.at_ns) if self.at_ns else "",
            f"{self.claims} claims" if self.claims else "",
            f"{self.a_day} failures a day" if self.a_day else "",
        ]
        return " or ".join(filter(None, told))

    def is_over(self, *, now_ns: int, claims: int, today: int) -> bool:
        """True if a condition holds for an issue with these claims, of which `today` are new."""
        return 0 < self.at_ns <= now_ns or 0 < self.claims <= claims or 0 < self.a_day <= today

    def event(self, issue: int, at_ns: int, actor: str) -> IssueEvent:
        """The event that records the conditions; its time is that of the state."""
        return IssueEvent(issue, at_ns, IGNORED_UNTIL, json.dumps(asdict(self)), str(self), actor)


def ignored_until(issue: Issue, last: Mapping[str, IssueEvent]) -> IgnoreUntil | None:
    """The conditions of an issue that is ignored now; None if it has none."""
    recorded = event_with_state(last, IGNORED_UNTIL)
    if issue.state != IssueState.IGNORED or recorded is None:
        return None
    try:
        return IgnoreUntil(**json.loads(recorded.value))
    except (ValueError, TypeError):
        return None
