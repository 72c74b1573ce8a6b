"""Issues from failures that match none, and the pool that these are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.description.describe import FINGERPRINT_VERSION, describe_failure
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.assign_failures import assignment_of, matching_issue, pool_limit
from rt4chart_clustering.grouping.create_issues import FoundIssue, find_issues
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.identity import derive_issue_id, nearest_issue
from rt4chart_clustering.grouping.pool import UnassignedPool
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issues import Issue
from rt4chart_collector.store.issues.match_failures import UnassignedFailure
from tests.rt4chart_clustering.made import ADDED, NOON, added, failure, numbers

EMBEDDER = HashingEmbedder()
THRESHOLDS = HdbscanGrouping().thresholds
PARTITION = ("shop", "billing", f"{FINGERPRINT_VERSION}:baseless:prior_knowledge")
EVERYTHING = [*numbers(7), *numbers(5, route="sales", first=50), *added()]


# The same failures come again in every example.
described = cache(describe_failure)


@cache
def vector(text: str) -> list[float]:
    """The text's vector."""
    found: list[float] = EMBEDDER.embed([text])[0].tolist()
    return found


def unplaced(one: Failure, *, draw: int = 0) -> UnassignedFailure:
    """The failure beside no issue."""
    partition = (one.service, one.route, described(one).fingerprint)
    return UnassignedFailure(one.key, one.time_ns, one.version + 1, partition, 0, 0, 2.0, draw)


def issues_of(failures: Sequence[Failure], known: Sequence[Issue] = ()) -> list[FoundIssue]:
    """The issues of these failures, partition by partition."""
    pool = UnassignedPool(partial(pool_limit, thresholds=THRESHOLDS))
    pool.put(unplaced(one, draw=at) for at, one in enumerate(failures))
    vectors = {one.key: vector(described(one).text) for one in failures}
    return [
        one
        for partition in pool.partitions(5)
        for one in find_issues(
            partition,
            pool.kept(partition),
            vectors,
            [issue for issue in known if issue.partition == partition],
            model=EMBEDDER.id,
            grouping=HdbscanGrouping(),
            now_ns=NOON,
        )
    ]


def test_pattern_on_a_route_is_an_issue_whatever_it_is_about() -> None:
    """Seven wrong numbers about seven things are one issue, and another route has its own."""
    found = issues_of([*numbers(7), *numbers(5, route="sales", first=50)])

    assert [(one.issue.partition, len(one.members)) for one in found] == [
        (("shop", "billing", f"{FINGERPRINT_VERSION}:unfaithful:number"), 7),
        (("shop", "sales", f"{FINGERPRINT_VERSION}:unfaithful:number"), 5),
    ]


def test_too_few_are_no_issue_yet() -> None:
    """Four of a kind wait, and nothing comes of nothing."""
    assert issues_of(numbers(4)) == issues_of([]) == []


def test_unexplained_failures_are_clustered_by_what_they_say() -> None:
    """Claims that add the same make an issue; those that add this and that wait."""
    (found,) = issues_of(added())

    claims = {one.key: one.claim for one in added()}
    assert found.issue.partition == PARTITION
    assert {claims[member.key] for member in found.members} == set(ADDED)
    assert all(0 <= member.distance <= 1 for member in found.members)
    assert found.issue.model == EMBEDDER.id


@pytest.fixture(scope="module")
def unshuffled() -> object:
    """The issues of all failures in their first order."""
    return issues_of(EVERYTHING)


@given(st.permutations(EVERYTHING))
def test_order_of_failures_does_not_matter(unshuffled: object, shuffled: list[Failure]) -> None:
    """The same failures in any order make the same issues with the same ids and members."""
    assert issues_of(shuffled) == unshuffled


def test_ids_of_different_issues_differ() -> None:
    """Each route and pattern has an id of its own, of 64 bits."""
    ids = {one.issue.id for one in issues_of(EVERYTHING)}

    assert len(ids) == 3
    assert all(0 <= one < 2**64 for one in ids)
    assert derive_issue_id(PARTITION, "a") != derive_issue_id(PARTITION)


def test_group_near_a_known_issue_is_that_issue() -> None:
    """Its failures did not match one by one, but their middle lies by the issue's."""
    (before,) = issues_of(added())
    assert before.is_new

    (again,) = issues_of([*added()[1:], failure(900, ADDED[0], nearest="Nothing.")], [before.issue])

    assert again.issue.id == before.issue.id
    assert not again.is_new


def test_middles_of_another_space_are_not_compared() -> None:
    """An issue whose vectors have another width is no neighbour; of equals the lower id is."""
    (found,) = issues_of(added())
    other = replace(found.issue, id=1, centroid=(1.0,))

    assert nearest_issue(found.issue.centroid, [other]) is None
    twin = replace(found.issue, id=0)
    near = nearest_issue(found.issue.centroid, [found.issue, twin, other])
    assert near is not None
    assert near[1] == twin


def test_a_failure_matches_where_it_was_or_what_is_near() -> None:
    """A pattern takes all of its own; what the rules do not explain must be near enough."""
    far = replace(unplaced(added()[0]), issue=7, distance=0.46)
    pattern = replace(unplaced(numbers(1)[0]), issue=8, distance=2.0)

    assert matching_issue(far, THRESHOLDS) == 0
    assert matching_issue(replace(far, distance=0.45), THRESHOLDS) == 7
    assert matching_issue(pattern, THRESHOLDS) == 8
    assert matching_issue(replace(far, previous_issue=9), THRESHOLDS) == 9
    assert assignment_of(pattern, 8).distance == 2.0


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=40), st.integers(1, 10))
def test_pool_keeps_the_lowest_draws(draws: list[int], size: int) -> None:
    """Of any number of failures, in any order, the same ones are kept; all of them are counted."""
    made = [failure(at, "It is so.") for at in range(len(draws))]
    rows = [replace(unplaced(one), draw=draw) for one, draw in zip(made, draws, strict=True)]
    pool = UnassignedPool(lambda _: size)

    pool.put(rows)

    for partition in pool.partitions(1):
        kept = pool.kept(partition)
        assert sorted(one.draw for one in kept) == sorted(draws)[:size]
        assert [one.key for one in kept] == sorted(one.key for one in kept)
        assert pool.count(partition) == len(pool) == len(draws)


def test_vectors_come_as_single_precision() -> None:
    """A centroid is the same number after it was stored."""
    (found,) = issues_of(added())

    assert found.issue.centroid == tuple(np.array(found.issue.centroid, np.float32).tolist())
