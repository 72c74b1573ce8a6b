"""One issue with all that is known of it: what people read before they decide."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rt4chart_clustering.grouping.proposals import standing_merge, standing_split
from rt4chart_clustering.tickets.filing import Known, known_tickets
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issue_events import Event, events_of_all
from rt4chart_collector.store.issues.issue_figures import IssueProfile, profile_of
from rt4chart_collector.store.issues.issues import Issue, member_keys

# A part a day of what the tables keep, and of all the rest the commonest.
PARTS = 400


@dataclass(frozen=True, slots=True)
class Whole:
    """An issue's typical failures, where its failures are, its trail, and what the trail says.

    `cause` is a model's last finding as it was recorded, `merge` and `split` what is proposed and
    neither done nor refused; None where there is none.
    """

    issue: Issue
    typical: tuple[Failure, ...]
    profile: IssueProfile
    trail: tuple[Event, ...]
    tickets: tuple[Known, ...]
    cause: Mapping[str, Any] | None
    merge: Mapping[str, Any] | None
    split: Mapping[str, Any] | None


def whole_of(client: Client, issue: Issue, *, examples: int) -> Whole:
    """Read it; `examples` bounds the typical failures, one a trace."""
    typical = tuple(failures_by_key(client, member_keys(client, issue, limit=examples)))
    profile = profile_of(client, issue.ids, limit=PARTS)
    return retold(client, Whole(issue, typical, profile, (), (), None, None, None), issue)


def retold(client: Client, whole: Whole, issue: Issue) -> Whole:
    """The same with the trail as it is now, and what that says; figures stay as they were read."""
    trail = events_of_all(client, issue.ids)
    return replace(
        whole,
        issue=issue,
        trail=tuple(trail),
        tickets=tuple(known_tickets(trail)),
        cause=_told(next((one for one in reversed(trail) if one.kind == "cause"), None)),
        merge=_told(standing_merge(issue, trail)),
        split=_told(standing_split(issue, trail), without=("middles",)),
    )


def _told(event: Event | None, *, without: Sequence[str] = ()) -> Mapping[str, Any] | None:
    """The value of an event, less some of its fields; None where there is none."""
    try:
        value = json.loads(event.value) if event else None
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return {name: told for name, told in value.items() if name not in without}
