"""Ids of issues: a failure keeps its issue, and the ids do not depend on the order of arrival."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issues import list_issues
from tests.conftest import ReusedDatabase
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers, verdict

EVERYTHING = [
    *numbers(7),
    *numbers(6, route="sales", first=50),
    *added(),
    *added(first=200),
    *numbers(5, first=300),
]
SLOW = settings(max_examples=5, suppress_health_check=list(HealthCheck))


def places(client: Client) -> dict[ClaimKey, int]:
    """The issue of each failure that has one."""
    return {
        one.key: issue.id
        for issue in list_issues(client)
        for one in assignments_of(client, issue.ids)
    }


def days(client: Client, parts: Sequence[Sequence[Failure]]) -> list[dict[ClaimKey, int]]:
    """Where failures are after each day: its verdicts come, and a run follows, or two."""
    found = []
    for day, part in enumerate(parts):
        insert_verdicts(client, [verdict(one) for one in part])
        for again in range(1 + day % 2):
            now_ns = NOON + (3600 + 10 * day + again) * SECOND
            group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=now_ns)
            found.append(places(client))
    return found


@contextmanager
def emptied(database: ReusedDatabase) -> Iterator[Client]:
    """The database without rows, for one example."""
    yield from database.emptied()


@pytest.fixture(scope="module")
def unshuffled(embedded_database: ReusedDatabase) -> list[dict[ClaimKey, int]]:
    """Where all failures are after one day on which they came in their first order."""
    with emptied(embedded_database) as client:
        return days(client, [EVERYTHING])


@SLOW
@given(st.permutations(EVERYTHING), st.lists(st.integers(0, len(EVERYTHING)), max_size=2))
def test_no_id_changes_when_days_are_added(
    embedded_database: ReusedDatabase, order: list[Failure], cuts: list[int]
) -> None:
    """However failures fall into days: each keeps its issue, and a second run changes none."""
    bounds = [0, *sorted(cuts), len(order)]
    parts = [order[start:end] for start, end in pairwise(bounds)]

    with emptied(embedded_database) as client:
        found = days(client, parts)

    for before, after in pairwise(found):
        assert before.items() <= after.items()
    assert set(found[-1]) >= {
        one.key for one in [*numbers(7), *numbers(6, route="sales", first=50)]
    }


@SLOW
@given(st.permutations(EVERYTHING))
def test_two_databases_derive_the_same_ids(
    embedded_database: ReusedDatabase,
    unshuffled: list[dict[ClaimKey, int]],
    order: list[Failure],
) -> None:
    """An id is a function of the failures: not of the moment, the machine or their order."""
    with emptied(embedded_database) as client:
        assert days(client, [order]) == unshuffled
