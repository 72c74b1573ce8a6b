"""Merges and splits: proposed, and done by a person."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.description.describe import FINGERPRINT_VERSION, describe_failure
from rt4chart_clustering.description.embedding import HashingEmbedder, Matrix
from rt4chart_clustering.grouping import merge_and_split
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.merge_and_split import (
    merge_issues,
    refuse_merge,
    refuse_split,
    split_issue,
    undo_merge,
)
from rt4chart_clustering.grouping.open_proposals import PROPOSED_SPLIT, REFUSED_SPLIT
from rt4chart_clustering.grouping.proposals import (
    find_stable_split,
    may_split,
    nearest_pairs,
    propose_merges_and_splits,
    version_pairs,
)
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_clustering.grouping.update_issues import UpdatedIssues
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import MAX_TIME_NS
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of, record_events
from rt4chart_collector.store.issues.issues import Issue, find_issue, insert_issues, list_issues
from rt4chart_collector.store.issues.match_failures import DescriptionWindow
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers, verdict

LATER = NOON + 3600 * SECOND
ISSUE = Issue(
    id=1,
    title="t",
    fingerprint=f"{FINGERPRINT_VERSION}:baseless:prior_knowledge",
    service="shop",
    route="billing",
    first_ns=NOON,
    last_ns=NOON,
    claims=9,
    centroid=(1.0, 0.0),
    run="1",
    model="m",
)


def test_nearest_of_each_other_are_a_pair() -> None:
    """The smaller goes into the larger; other routes, spaces and whole patterns are left alone."""
    near = replace(ISSUE, id=2, claims=3, centroid=(0.8, 0.6))
    far = replace(ISSUE, id=3, centroid=(0.0, -1.0))
    others = [
        replace(near, id=4, route="sales"),
        replace(near, id=5, model="other"),
        replace(near, id=6, fingerprint=f"{FINGERPRINT_VERSION}:contradicted:number"),
    ]

    pairs = list(nearest_pairs([ISSUE, near, far, *others], "m", HdbscanGrouping()))

    assert [(one.id, other.id, round(likeness, 2)) for one, other, likeness in pairs] == [
        (2, 1, 0.8)
    ]


def test_chain_of_neighbours_is_not_swallowed() -> None:
    """Of three in a row the two that are each other's nearest are a pair, and the third is none."""
    row = [replace(ISSUE, id=2, centroid=(0.9, 0.436)), replace(ISSUE, id=3, centroid=(0.6, 0.8))]

    assert [(a.id, b.id) for a, b, _ in nearest_pairs([ISSUE, *row], "m", HdbscanGrouping())] in (
        [(1, 2)],
        [(2, 1)],
    )


def test_pattern_of_an_earlier_fingerprint_is_paired_with_its_own() -> None:
    """The one that has a past stands for all; other patterns and routes are not theirs."""
    now = replace(ISSUE, id=8, fingerprint="fp3:contradicted:number", claims=99)
    before = replace(ISSUE, id=9, fingerprint="fp2:contradicted:number")
    others = [
        replace(before, id=10, route="sales"),
        replace(before, id=11, fingerprint="fp2:baseless:number"),
        replace(before, id=12, fingerprint="fp2:baseless:addition"),
    ]

    pairs = [(one.id, other.id) for one, other, _ in version_pairs([now, *others, before])]

    assert pairs == [(11, 9), (8, 9)]


def world(*sizes: int, spread: float = 0.05) -> Matrix:
    """Rows around axes, shuffled the same way each time."""
    chance = np.random.default_rng(7)
    rows = np.concatenate(
        [np.eye(32, dtype=np.float32)[at] + spread * chance.standard_normal((size, 32))
         for at, size in enumerate(sizes)]
    )  # fmt: skip
    chance.shuffle(rows)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_two_groups_in_both_halves_are_found() -> None:
    """The larger comes first."""
    split = find_stable_split(world(60, 40), HdbscanGrouping())

    assert split is not None
    assert split.counts == (60, 40)
    assert [int(one.argmax()) for one in split.centroids] == [0, 1]


@pytest.mark.parametrize("rows", [world(100), world(6), world(100, spread=1.0)])
def test_one_group_or_none_is_not_split(rows: Matrix) -> None:
    """One group alone, too few rows, or rows that are scattered."""
    assert find_stable_split(rows, HdbscanGrouping()) is None


def grouped(client: Client) -> Issue:
    """An issue of twelve numbers, and one of six additions; the latter."""
    made = [*numbers(12), *added()[:6]]
    insert_verdicts(client, [verdict(one) for one in made])
    group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER)
    return list_issues(client)[1]


def test_merge_is_an_alias_that_can_be_taken_back(client: Client) -> None:
    """All failures count with the one that stands for both, new ones of the alias too."""
    issue = grouped(client)
    larger = list_issues(client)[0]

    merge_issues(client, issue.id, larger.id, actor="ann", now_ns=LATER + 1)

    assert [(one.id, one.claims) for one in list_issues(client)] == [(larger.id, 18)]
    insert_verdicts(client, [verdict(one) for one in added(first=300)[:2]])
    group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER + 2)
    assert [(one.id, one.claims) for one in list_issues(client)] == [(larger.id, 20)]

    undo_merge(client, issue.id, actor="ann", now_ns=LATER + 3)

    assert {(one.id, one.claims) for one in list_issues(client)} == {(larger.id, 14), (issue.id, 6)}


def test_wrong_merges_are_refused(client: Client) -> None:
    """An id that is not there, two that are one, and what is no alias."""
    issue = grouped(client)

    for one, other in ((issue.id, 5), (5, issue.id), (issue.id, issue.id)):
        with pytest.raises(InputError, match="expected"):
            merge_issues(client, one, other, actor="ann", now_ns=LATER)
    with pytest.raises(InputError, match="merged into another"):
        undo_merge(client, issue.id, actor="ann", now_ns=LATER)


def propose_split(client: Client, issue: Issue) -> None:
    """Put on record that what is near the second addition may be an issue of its own."""
    embedder = HashingEmbedder()
    near = embedder.embed([describe_failure(added()[1]).text])[0].tolist()
    value = {"model": embedder.id, "drawn": [5, 1], "middles": [list(issue.centroid), near]}
    record_events(client, [IssueEvent(issue.id, LATER + 3, PROPOSED_SPLIT, json.dumps(value))])


def broken(*_: object) -> None:
    """A database that went away."""
    raise InterruptedError


@pytest.mark.parametrize("step", ["insert_assignments", "record_events"])
def test_split_that_was_broken_off_is_done_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Before its failures were moved, or before it was on record: the second try ends it."""
    issue = grouped(client)
    propose_split(client, issue)
    with monkeypatch.context() as patched:
        patched.setattr(merge_and_split, step, broken)
        with pytest.raises(InterruptedError):
            split_issue(client, issue.id, actor="ann", now_ns=LATER + 4)

    made = split_issue(client, issue.id, actor="ann", now_ns=LATER + 5)

    found = {one.id: one.claims for one in list_issues(client)}
    assert found[made] >= 1
    assert found[made] + found[issue.id] == 6
    assert {event.kind for event in events_of(client, made)} == {"born", "state"}
    assert events_of(client, issue.id)[-1].value == f"{made:016x}"


def test_looking_for_splits_can_be_broken_off(client: Client) -> None:
    """Before each batch of failures is read; what was proposed of others is on record."""
    issue = grouped(client)
    window = DescriptionWindow(issue.model, HashingEmbedder().width, 0, MAX_TIME_NS)
    former = replace(ISSUE, fingerprint="fp1:contradicted:number")
    latter = replace(ISSUE, id=2, fingerprint="fp2:contradicted:number")
    updated = UpdatedIssues((former, latter, issue), frozenset({issue.id}), frozenset())

    with pytest.raises(InterruptedError):
        propose_merges_and_splits(
            client, window, updated, grouping=HdbscanGrouping(1), now_ns=LATER, on_progress=broken
        )

    assert [event.kind for event in events_of(client, 2)] == ["proposed_merge"]


def test_split_makes_an_issue_of_the_smaller_part(client: Client) -> None:
    """Failures move once and stay; both parts go on, and the same proposal is not done twice."""
    issue = grouped(client)
    embedder = HashingEmbedder()
    with pytest.raises(InputError, match="a proposed split"):
        split_issue(client, issue.id, actor="ann", now_ns=LATER)
    propose_split(client, issue)

    made = split_issue(client, issue.id, actor="ann", now_ns=LATER + 4)

    found = {one.id: one for one in list_issues(client)}
    assert found[made].claims + found[issue.id].claims == 6
    assert found[made].claims >= 1
    assert events_of(client, issue.id)[-1].value == f"{made:016x}"
    group_failures(client, embedder, HdbscanGrouping(), since_ns=0, now_ns=LATER + 5)
    again = {one.id: one for one in list_issues(client)}
    assert {id: one.claims for id, one in again.items()} == {
        id: one.claims for id, one in found.items()
    }
    assert again[made].title == "Unrelated to the passages · billing"
    with pytest.raises(InputError, match="a proposed split"):
        split_issue(client, issue.id, actor="ann", now_ns=LATER + 6)


def test_merge_is_proposed_once(client: Client) -> None:
    """Two issues of one partition that say nearly the same: the larger stands for both, maybe."""
    issue = grouped(client)
    twin = replace(issue, id=5, first_ns=NOON)
    insert_issues(client, [twin], version=1)
    record_events(client, [IssueEvent(5, NOON, "born", twin.fingerprint)])

    outcomes = [
        group_failures(
            client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER + at
        ).proposed
        for at in (1, 2)
    ]

    assert outcomes == [1, 0]
    assert json.loads(events_of(client, 5)[-1].value)["into"] == f"{issue.id:016x}"
    assert find_issue(client, 5) is not None


def test_a_refused_merge_is_not_proposed_again(client: Client) -> None:
    """It stands no more, the trail says who refused it, and there is nothing left to refuse."""
    issue = grouped(client)
    insert_issues(client, [replace(issue, id=5, first_ns=NOON)], version=1)
    record_events(client, [IssueEvent(5, NOON, "born", issue.fingerprint)])
    group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER + 1)

    refused = refuse_merge(client, 5, actor="ann", now_ns=LATER + 2, note="no")

    assert (refused.value, refused.actor) == (f"{issue.id:016x}", "ann")
    again = group_failures(
        client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER + 3
    )
    assert again.proposed == 0
    assert events_of(client, 5)[-1].kind == "refused_merge"
    with pytest.raises(InputError, match="a proposed merge"):
        refuse_merge(client, 5, actor="ann", now_ns=LATER + 4)


def test_a_refused_split_cannot_be_done(client: Client) -> None:
    """Until another one is proposed."""
    issue = grouped(client)
    with pytest.raises(InputError, match="a proposed split"):
        refuse_split(client, issue.id, actor="ann", now_ns=LATER)
    propose_split(client, issue)

    refuse_split(client, issue.id, actor="ann", now_ns=LATER + 4)

    with pytest.raises(InputError, match="a proposed split"):
        split_issue(client, issue.id, actor="ann", now_ns=LATER + 5)


@pytest.mark.parametrize(
    ("told", "is_due"),
    [
        ({}, True),
        ({PROPOSED_SPLIT: 1}, False),
        ({PROPOSED_SPLIT: 1, "split": 2}, True),
        ({PROPOSED_SPLIT: 3, "split": 2}, False),
        ({PROPOSED_SPLIT: 1, REFUSED_SPLIT: 2}, False),
    ],
)
def test_split_is_proposed_again_where_the_last_was_done(
    told: dict[str, int], is_due: bool
) -> None:
    """What stands is not proposed twice, and what a person refused not again."""
    assert may_split({kind: IssueEvent(1, at, kind) for kind, at in told.items()}) is is_due
