"""Ids: what a failure was given it keeps, whatever comes, in whatever order and how often."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from itertools import pairwise

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
from tests.conftest import fresh
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers, verdict

EVERYTHING = [
    *numbers(7),
    *numbers(6, route="sales", first=50),
    *added(),
    *added(first=200),
    *numbers(5, first=300),
]
new_database = contextmanager(fresh)
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


@SLOW
@given(st.permutations(EVERYTHING), st.lists(st.integers(0, len(EVERYTHING)), max_size=2))
def test_no_id_changes_when_days_are_added(
    store_dsn: str, order: list[Failure], cuts: list[int]
) -> None:
    """However failures fall into days: each keeps its issue, and a second run changes none."""
    bounds = [0, *sorted(cuts), len(order)]
    parts = [order[start:end] for start, end in pairwise(bounds)]

    with new_database(store_dsn) as client:
        found = days(client, parts)

    for before, after in pairwise(found):
        assert before.items() <= after.items()
    assert set(found[-1]) >= {
        one.key for one in [*numbers(7), *numbers(6, route="sales", first=50)]
    }


@SLOW
@given(st.permutations(EVERYTHING))
def test_two_databases_mint_the_same_ids(store_dsn: str, order: list[Failure]) -> None:
    """An id is a function of the failures: not of the moment, the machine or their order."""
    with new_database(store_dsn) as one, new_database(store_dsn) as other:
        assert days(one, [order]) == days(other, [EVERYTHING])
