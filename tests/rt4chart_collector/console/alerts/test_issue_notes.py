"""The issues that grew with an alert: their state, and who owns them."""

from __future__ import annotations

import json

from rt4chart_collector.console.alerts.alert_details import (
    IssueNote,
    alert_details,
    grown_issues,
    issue_notes,
)
from rt4chart_collector.core.alerts.facts import DriftFacts, FailureGrowth, NoteFacts
from rt4chart_collector.store.issues.issue_events import IssueEvent

FACTS = DriftFacts(
    issues=(
        FailureGrowth("000000000000004d", "Too early", 0.02, 9.5),
        FailureGrowth("no id", "Other", 0.0, 1.0),
    )
)


def test_the_last_state_and_owner_of_an_issue_stand_beside_it() -> None:
    """What is no id has no page and no owner."""
    trail = [
        IssueEvent(0x4D, 1, "titled", "Too early"),
        IssueEvent(0x4D, 2, "state", "open"),
        IssueEvent(0x4D, 3, "owner", "ann"),
        IssueEvent(0x4D, 4, "state", "acknowledged"),
        IssueEvent(0x4D, 5, "owner", "ben"),
    ]
    details = alert_details(FACTS, issue_notes(trail))

    assert grown_issues(FACTS) == [0x4D]
    assert [(one.url, one.note) for one in details.issues] == [
        ("/issues/000000000000004d", "acknowledged, owner ben"),
        ("", ""),
    ]


def test_an_issue_s_own_tickets_stand_beside_it() -> None:
    """Those that were not removed again."""
    trail = [
        IssueEvent(0x4D, at, "ticket", json.dumps(value))
        for at, value in enumerate(
            (
                {"system": "jira", "key": "SUP-7", "url": "https://jira.example.com/SUP-7"},
                {"system": "link", "key": "", "url": "https://t.example.com/1"},
                {"system": "link", "key": "", "url": "https://t.example.com/1", "removed": True},
            )
        )
    ]

    issue, other = alert_details(FACTS, issue_notes(trail)).issues

    assert [(one.key, one.url) for one in issue.tickets] == [
        ("SUP-7", "https://jira.example.com/SUP-7")
    ]
    assert other.tickets == ()


def test_an_issue_that_nobody_took_says_so() -> None:
    """It is new until somebody decides."""
    assert issue_notes([IssueEvent(7, 1, "titled", "x")]) == {7: IssueNote("new, no owner")}
    assert grown_issues(NoteFacts(what="a test")) == []
