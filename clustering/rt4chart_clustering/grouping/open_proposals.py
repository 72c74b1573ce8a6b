"""The proposals of an issue that nobody has applied or refused, read from its events."""

from __future__ import annotations

import json
from collections.abc import Iterable

from rt4chart_collector.store.issues.issue_events import IssueEvent
from rt4chart_collector.store.issues.issues import Issue

PROPOSED_MERGE, PROPOSED_SPLIT = "proposed_merge", "proposed_split"
REFUSED_MERGE, REFUSED_SPLIT = "refused_merge", "refused_split"


def open_merge_proposal(issue: Issue, trail: Iterable[IssueEvent]) -> IssueEvent | None:
    """The last merge proposed for an issue or its aliases that is neither applied nor refused."""
    into, found = {f"{one:016x}" for one in issue.ids}, dict[tuple[int, str], IssueEvent]()
    for event in trail:
        if event.kind == PROPOSED_MERGE and (other := json.loads(event.value)["into"]) not in into:
            found[event.issue, other] = event
        elif event.kind == REFUSED_MERGE:
            found.pop((event.issue, event.value), None)
    return max(found.values(), key=lambda event: (event.at_ns, event.id), default=None)


def open_split_proposal(issue: Issue, trail: Iterable[IssueEvent]) -> IssueEvent | None:
    """The last proposed split, unless it was applied or refused; an alias cannot be split."""
    last = None
    for event in trail:
        if event.issue == issue.id and event.kind in (PROPOSED_SPLIT, "split", REFUSED_SPLIT):
            last = event
    return last if last is not None and last.kind == PROPOSED_SPLIT else None
