"""One issue with everything known of it: what people read before they decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rt4chart_clustering.grouping.open_proposals import open_merge_proposal, open_split_proposal
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.confirmations import Confirmations, confirmations
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issue_events import IssueEvent, event_value, events_of_all
from rt4chart_collector.store.issues.issue_figures import IssueProfile, issue_profile
from rt4chart_collector.store.issues.issue_tickets import RecordedTicket, recorded_tickets
from rt4chart_collector.store.issues.issues import Issue, member_keys
from rt4chart_collector.store.issues.memberships import (
    MembershipShare,
    memberships_of,
    related_issues,
)

# More than a year of days in the trend, and the most common routes, models and documents.
MAX_PARTS = 400
# The least shares of another issue that are shown: of one failure, and the mean of all of them.
MIN_FAILURE_SHARE, MIN_ISSUE_SHARE = 0.2, 0.1
# Failures that are read for each that is shown, because many may say the same.
KEYS_PER_EXAMPLE = 5


@dataclass(frozen=True, slots=True)
class IssueDetails:
    """An issue's typical failures, its figures, its trail, and what the trail says.

    `people` says how many claims people judged and confirmed.
    `also_like` has the other issues that a typical failure belongs to in part, `related` those that
    all failures do, with the mean share; small shares are left out.
    `cause` is the last finding of a model as it was recorded. `merge` and `split` are proposals
    that were neither applied nor refused. Each is None if there is none.
    """

    issue: Issue
    typical: tuple[Failure, ...]
    profile: IssueProfile
    people: Confirmations
    also_like: Mapping[ClaimKey, tuple[MembershipShare, ...]]
    related: tuple[MembershipShare, ...]
    trail: tuple[IssueEvent, ...]
    tickets: tuple[RecordedTicket, ...]
    cause: Mapping[str, Any] | None
    merge: Mapping[str, Any] | None
    split: Mapping[str, Any] | None


def load_details(client: Client, issue: Issue, *, examples: int) -> IssueDetails:
    """Read an issue from the store, with at most `examples` typical failures.

    Each is of another trace and says something else: one answer that was given again shows nothing
    new.
    """
    keys = member_keys(client, issue, limit=examples * KEYS_PER_EXAMPLE)
    distinct = {failure.claim: failure for failure in reversed(failures_by_key(client, keys))}
    typical = tuple(reversed(distinct.values()))[:examples]
    profile = issue_profile(client, issue.ids, limit=MAX_PARTS)
    measured = memberships_of(client, [failure.key for failure in typical])
    also_like = {
        key: _others(one.ranked, issue, MIN_FAILURE_SHARE) for key, one in measured.items()
    }
    related = _others(related_issues(client, issue.ids), issue, MIN_ISSUE_SHARE)
    people = confirmations(client, issue.ids)
    details = IssueDetails(
        issue, typical, profile, people, also_like, related, (), (), None, None, None
    )
    return refresh_trail(client, details, issue)


def _others(
    found: Iterable[MembershipShare], issue: Issue, least: float
) -> tuple[MembershipShare, ...]:
    """The shares of other issues that are large enough to be shown."""
    return tuple(one for one in found if one.share >= least and one.issue not in issue.ids)


def refresh_trail(client: Client, details: IssueDetails, issue: Issue) -> IssueDetails:
    """The same details with the current trail; the figures are not read again."""
    trail = events_of_all(client, issue.ids)
    return replace(
        details,
        issue=issue,
        trail=tuple(trail),
        tickets=tuple(recorded_tickets(trail)),
        cause=event_value(next((one for one in reversed(trail) if one.kind == "cause"), None)),
        merge=event_value(open_merge_proposal(issue, trail)),
        split=event_value(open_split_proposal(issue, trail), without=("middles",)),
    )


def fix_of(cause: Mapping[str, Any]) -> object:
    """The immediate fix of a recorded finding; earlier versions called it `fix`."""
    return cause.get("immediate_fix", cause.get("fix", ""))
