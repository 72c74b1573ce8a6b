"""The registry of issues."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.issues import (
    Embedded,
    Issue,
    Member,
    insert_embeddings,
    insert_issues,
    insert_members,
    list_issues,
    member_keys,
)
from tests.rt4chart_clustering.made import NOON

ISSUE = Issue(
    id=2**64 - 1,
    title="Number differs from the source · a'b · 3 claims",
    fingerprint="fp1:contradicted:number",
    service="shop",
    route="a'b",
    first_ns=NOON,
    last_ns=NOON + 5_000_000,
    claims=3,
    centroid=(0.5, 0.25),
    run="7",
    example_traces=("t3", "t1"),
)
KEYS = [("t1", "s", 0), ("t2", "s", 0), ("t3", "s", 1), ("t3", "s", 2)]


def members(*keys: tuple[str, str, int]) -> list[Member]:
    """Members, each farther from the middle than the one before."""
    return [Member(ISSUE.id, key, NOON, at / 10) for at, key in enumerate(keys)]


def test_issue_comes_back_whole(any_client: Client) -> None:
    """Every field survives the store, ids of 64 bits too."""
    insert_issues(any_client, [ISSUE], version=1)

    assert list_issues(any_client) == [ISSUE]


def test_newest_version_counts(client: Client) -> None:
    """A new version replaces the issue; it does not stand beside it."""
    insert_issues(client, [ISSUE], version=1)
    changed = replace(ISSUE, status="resolved", claims=9)

    insert_issues(client, [changed], version=2)

    assert list_issues(client) == [changed]


def test_largest_issue_is_first(client: Client) -> None:
    """Issues are listed by their number of claims."""
    insert_issues(client, [ISSUE, replace(ISSUE, id=1, claims=8)], version=1)

    assert [issue.claims for issue in list_issues(client)] == [8, 3]


def test_members_are_examples_first_then_typical_one_a_trace(client: Client) -> None:
    """The traces chosen as examples come in their order, then the nearest to the middle."""
    insert_members(client, members(*KEYS), run="7", version=1)

    assert member_keys(client, ISSUE, limit=9) == [KEYS[2], KEYS[0], KEYS[1]]
    assert member_keys(client, ISSUE, limit=1) == [KEYS[2]]


def test_members_of_earlier_runs_are_not_members_now(client: Client) -> None:
    """A claim that left its issue is not shown with it."""
    insert_members(client, members(*KEYS), run="7", version=1)
    insert_members(client, members(KEYS[0]), run="8", version=2)

    assert member_keys(client, replace(ISSUE, run="8"), limit=9) == [KEYS[0]]


def test_same_batch_twice_is_stored_once(client: Client) -> None:
    """Writing again after a lost reply doubles no row, read with FINAL or without."""
    embedded = [Embedded(KEYS[0], NOON, "text", (1.0, 0.0))]
    for _ in range(2):
        insert_issues(client, [ISSUE], version=1)
        insert_members(client, members(*KEYS), run="7", version=1)
        insert_embeddings(client, embedded, model="m", version=1)

    counts = client.query(
        "SELECT (SELECT count() FROM rt4chart_issues), "
        "(SELECT count() FROM rt4chart_issue_members), "
        "(SELECT count() FROM rt4chart_failure_embeddings)"
    ).result_rows

    assert counts == [(1, 4, 1)]


def test_nothing_to_write_writes_nothing(client: Client) -> None:
    """A run without groups leaves the tables as they are."""
    insert_issues(client, [], version=1)
    insert_members(client, [], run="1", version=1)
    insert_embeddings(client, [], model="m", version=1)

    assert list_issues(client) == []
