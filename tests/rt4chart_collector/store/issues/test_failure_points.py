"""Failures with their vectors, drawn for a map."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.failure_samples import FailurePoints, failure_points
from rt4chart_collector.store.issues.failures import (
    Description,
    failures,
    insert_descriptions,
)
from tests.rt4chart_clustering.issues import FIRST, store_issue
from tests.rt4chart_clustering.made import NOON, added, numbers, verdict


def described(client: Client, model: str, *, number: int = 100) -> None:
    """The stored failures have vectors in that space."""
    found = failures(client, since_ns=0)[:number]
    made = [
        Description(one, "fp2:x", "words", (float(at), 1.0), (1.0,)) for at, one in enumerate(found)
    ]
    insert_descriptions(client, made, model=model, joint_version="joint/1")


def drawn(
    client: Client, *, limit: int = 100, since_ns: int = 0, route: str | None = None
) -> FailurePoints:
    """What is drawn of them."""
    return failure_points(client, QueryScope(since_ns, route=route), limit=limit)


def test_failures_come_with_their_vectors_and_issues(any_client: Client) -> None:
    """Those that are not described are counted; of two spaces the fuller one is taken."""
    store_issue(any_client, numbers(4))
    waiting = [replace(one, route="trial") for one in added()[:2]]
    insert_verdicts(any_client, [verdict(one) for one in waiting])
    described(any_client, "full", number=5)
    described(any_client, "other", number=1)

    found = drawn(any_client)

    assert (found.failures, found.described, found.model) == (6, 5, "full")
    assert sorted((one.route, one.issue) for one in found.drawn) == [
        *[("billing", FIRST)] * (5 - sum(one.route == "trial" for one in found.drawn)),
        *[("trial", 0)] * sum(one.route == "trial" for one in found.drawn),
    ]
    assert all(len(one.vector) == 2 for one in found.drawn)


def test_the_same_failures_are_drawn_again(client: Client) -> None:
    """At most so many, of that time and route."""
    store_issue(client, numbers(8))
    described(client, "full")

    found = drawn(client, limit=3)

    assert found == drawn(client, limit=3)
    assert len(found.drawn) == 3
    assert (found.failures, found.described) == (8, 8)
    for name in ("other", ""):
        assert drawn(client, route=name) == FailurePoints((), 0, 0, "")
    assert drawn(client, since_ns=NOON + 10**12).drawn == ()


def test_a_description_of_an_earlier_verdict_is_not_drawn(client: Client) -> None:
    """Its claim may say something else by now."""
    (one,) = numbers(1)
    insert_verdicts(client, [verdict(one)])
    described(client, "full")
    later = verdict(one)
    insert_verdicts(client, [replace(later, decided_ns=later.decided_ns + 1)])

    assert drawn(client).drawn == ()
