"""The registry of issues, and what they count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import (
    BY_MATCH,
    Assignment,
    assignments_of,
    insert_assignments,
)
from rt4chart_collector.store.issues.failures import failures
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events, record_merge
from rt4chart_collector.store.issues.issue_figures import FigurePart, issue_profile
from rt4chart_collector.store.issues.issues import (
    Issue,
    find_issue,
    insert_issues,
    list_issues,
    member_keys,
    stored_issues,
)
from tests.rt4chart_clustering.made import NOON, numbers, verdict

ISSUE = Issue(
    id=2**64 - 1,
    title="Number not as in the source · a'b",
    fingerprint="fp1:contradicted:number",
    service="shop",
    route="a'b",
    first_ns=NOON,
    last_ns=NOON + 5_000_000,
    claims=3,
    centroid=(0.5, 0.25),
    run="7",
    state="acknowledged",
    example_traces=("t3", "t1"),
    model="hashing/1",
    summary="They differ.",
)


def filled(client: Client, count: int, *, issue: int = ISSUE.id, first: int = 1) -> None:
    """That many failures, one an answer, verdicts and all, each farther from the middle."""
    made = numbers(count, first=first)
    insert_verdicts(client, [replace(verdict(one), sample_rate=0.25) for one in made])
    keys = {one.key for one in made}
    insert_assignments(
        client,
        [
            Assignment(
                *(one.key, one.time_ns, issue),
                (one.service, one.route, ISSUE.partition[2]),
                *(at / 8, BY_MATCH, one.version + 1),
            )
            for at, one in enumerate(sorted(failures(client, since_ns=0), key=lambda f: f.key))
            if one.key in keys
        ],
    )


def test_row_comes_back_whole(any_client: Client) -> None:
    """Every field survives the store, ids of 64 bits too."""
    insert_issues(any_client, [ISSUE], version=1)

    assert stored_issues(any_client) == [ISSUE]
    assert list_issues(any_client) == [replace(ISSUE, claims=0)]


def test_newest_version_counts(client: Client) -> None:
    """A new version replaces the row; it does not stand beside it. The same twice is once."""
    insert_issues(client, [ISSUE], version=1)
    insert_issues(client, [ISSUE], version=1)
    changed = replace(ISSUE, state="resolved", claims=9)

    insert_issues(client, [changed], version=2)

    assert stored_issues(client) == [changed]
    assert client.query("SELECT count() FROM rt4chart_issues").result_rows == [(2,)]


def test_counts_are_those_of_the_assignments(any_client: Client) -> None:
    """Claims, answers and what they stand for are read, whatever the row says; first seen stays."""
    insert_issues(any_client, [ISSUE], version=1)
    filled(any_client, 3)

    (issue,) = list_issues(any_client)

    assert (issue.claims, issue.answers, issue.weighted) == (3, 3, 12.0)
    assert (issue.first_ns, issue.last_ns) == (NOON, NOON + 5_000_000)


def test_events_win_over_the_row(client: Client) -> None:
    """State, owner, title and summary are what was said of them last."""
    insert_issues(client, [ISSUE], version=1)
    told = {"state": "resolved", "owner": "ann", "titled": "T", "summarised": "S"}
    record_events(client, [IssueEvent(ISSUE.id, NOON, kind, value) for kind, value in told.items()])

    (issue,) = list_issues(client)

    assert (issue.state, issue.owner, issue.title, issue.summary) == ("resolved", "ann", "T", "S")


def test_replaced_verdict_leaves_the_counts(any_client: Client) -> None:
    """A claim that is gone, and one that was judged anew and not looked at since, count no more."""
    insert_issues(any_client, [ISSUE], version=1)
    filled(any_client, 3)
    first, second, _ = numbers(3)

    insert_verdicts(
        any_client,
        [
            verdict(replace(first, label=Label.ENTAILED), version=2),
            verdict(replace(second, claim="The trial lasts 99 days."), version=2),
        ],
    )

    assert [issue.claims for issue in list_issues(any_client)] == [1]
    assert len(assignments_of(any_client, [ISSUE.id])) == 1


def test_alias_counts_with_what_stands_for_it(client: Client) -> None:
    """Two that were merged are one in the list, found under either id, with all failures."""
    insert_issues(client, [ISSUE, replace(ISSUE, id=1), replace(ISSUE, id=3)], version=1)
    filled(client, 3)
    filled(client, 2, issue=1, first=50)
    record_merge(client, 1, ISSUE.id, actor="ann", at_ns=NOON)

    found = list_issues(client)

    assert [(one.id, one.claims, one.aliases) for one in found] == [(ISSUE.id, 5, (1,)), (3, 0, ())]
    assert find_issue(client, 1) == found[0]
    assert find_issue(client, 2) is None
    assert len(assignments_of(client, found[0].ids)) == 5


def test_members_are_examples_first_then_typical(client: Client) -> None:
    """The traces chosen as examples come in their order, then the nearest to the middle."""
    filled(client, 4)
    keys = [one.key for one in numbers(4)]
    shown = replace(ISSUE, example_traces=(keys[3][0], keys[1][0]))

    assert member_keys(client, shown, limit=9) == [keys[3], keys[1], keys[0], keys[2]]
    assert member_keys(client, shown, limit=1) == [keys[3]]


def test_profile_says_where_it_happens(any_client: Client) -> None:
    """Routes, days, and the passages named and given, each with its claims and their weight."""
    filled(any_client, 3)

    profile = issue_profile(any_client, [ISSUE.id])

    assert profile.routes == (FigurePart("billing", 3, 12.0),)
    assert [(part.claims, part.weighted) for part in profile.trend] == [(3, 12.0)]
    assert profile.evidence == (FigurePart("p1", 3, 12.0),)
    assert profile.context == ()


def test_steps_are_those_in_which_its_claims_entered(any_client: Client) -> None:
    """Of the claims that were traced, by the last verdict; where it is not known comes last."""
    insert_issues(any_client, [ISSUE, replace(ISSUE, id=1)], version=1)
    filled(any_client, 6)
    filled(any_client, 1, issue=1, first=50)
    made = [*numbers(6), *numbers(1, first=50)]

    def trace(version: int, *stages: str) -> None:
        verdicts = [
            replace(
                verdict(one, version=version),
                sample_rate=0.25,
                trail=(ClaimBlame(0, (ChainPlace("n", stage=stage),) if stage else ()),),
            )
            for one, stage in zip(made, stages, strict=False)
        ]
        insert_verdicts(any_client, verdicts)
        stored = [one for one in failures(any_client, since_ns=0) if one.key != made[-1].key]
        insert_assignments(
            any_client,
            [
                Assignment(one.key, one.time_ns, ISSUE.id, ISSUE.partition, 0.1, BY_MATCH, 10**19)
                for one in stored
            ],
        )

    trace(2, "answer", "", "summarise", "answer", "summarise")
    trace(3, "summarise")

    known = {one.id: one.steps for one in list_issues(any_client)}
    assert known[ISSUE.id] == (
        FigurePart("summarise", 3, 12.0),
        FigurePart("answer", 1, 4.0),
        FigurePart("", 1, 4.0),
    )
    assert known[1] == ()


@pytest.mark.parametrize("claims", [0, 1])
def test_nothing_to_write_writes_nothing(client: Client, claims: int) -> None:
    """A run without groups leaves the tables as they are."""
    insert_issues(client, [], version=1)
    insert_assignments(client, [])
    record_events(client, [])

    assert list_issues(client) == []
    assert issue_profile(client, [1] * claims).trend == ()
