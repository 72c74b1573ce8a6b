"""What changed in a route's deployment at a time."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from rt4chart_collector.incident.changes import UncomparedValues, uncompared_values
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.trends import (
    DeploymentChange,
    attribute_traffic,
    deployment_changes,
)
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

TICK = 300 * SECOND
AT = NOON // TICK * TICK


def answer(number: int, at_ns: int, release: str, model: str = "m-1") -> Verdict:
    """A verified answer of a release."""
    made = verdict(number, start_ns=at_ns)
    return replace(made, candidate=replace(made.candidate, release=release, model=model))


def found(client: Client) -> list[DeploymentChange]:
    """The changes at `AT`, an hour before and after."""
    scope = QueryScope(AT - 3600 * SECOND, AT + 3600 * SECOND, VERIFIER, "shop", "support")
    return deployment_changes(client, scope, at_ns=AT)


def test_a_release_that_came_is_named_before_the_one_that_went(any_client: Client) -> None:
    """With its shares before and after and when it was first seen; what stayed is not told."""
    earlier = [answer(at, AT - 12 * TICK + at * SECOND, "1.0") for at in range(1, 9)]
    mixed = [answer(20 + at, AT + 2 * TICK, "1.1") for at in range(3)]
    insert_verdicts(any_client, [*earlier, *mixed, answer(30, AT + TICK, "1.0")])

    came, went = found(any_client)

    assert came == DeploymentChange("release", "1.1", AT + 2 * TICK, 0.0, 0.75, 3)
    assert (went.value, went.before, went.after) == ("1.0", 1.0, 0.25)


def test_several_attributes_are_in_order_of_how_much_they_moved(client: Client) -> None:
    """A model that half of the answers have is told after a release that all have."""
    insert_verdicts(
        client,
        [
            *(answer(at, AT - TICK, "1.0") for at in range(1, 5)),
            *(answer(at, AT + TICK, "1.1", "m-1" if at % 2 else "m-2") for at in range(10, 14)),
        ],
    )

    assert [(one.attribute, one.value) for one in found(client)] == [
        ("release", "1.1"),
        ("model", "m-2"),
        ("release", "1.0"),
        ("model", "m-1"),
    ]


def test_shares_are_those_of_all_answers_however_many_values_there_are(client: Client) -> None:
    """Of 260 releases 200 are compared; the share of one is not that of the compared alone."""
    before = [answer(at, AT - TICK + at, f"r{at}") for at in range(1, 261)]
    after = [answer(1000 + at, AT + TICK + at, "new") for at in range(100)]
    others = [answer(2000 + at, AT + TICK + at, f"r{at}") for at in range(1, 101)]
    insert_verdicts(client, [*before, *after, *others])

    (came,) = found(client)
    scope = QueryScope(AT - 3600 * SECOND, AT + 3600 * SECOND, VERIFIER, "shop", "support")
    releases = [
        one for one in attribute_traffic(client, scope, at_ns=AT) if one.attribute == "release"
    ]

    assert (came.value, came.before, came.after) == ("new", 0.0, 0.5)
    assert (len(releases), releases[0].values) == (200, 261)
    assert uncompared_values(releases) == (UncomparedValues("release", 61, 261),)


def test_nothing_is_told_where_there_was_nothing_before(client: Client) -> None:
    """A route that begins changes nothing."""
    insert_verdicts(client, [answer(1, AT + TICK, "1.1")])

    assert found(client) == []
