from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from benchmarks.clustering.agreement import at_most
from benchmarks.clustering.comparison import (
    choose,
    choose_routed,
    compared,
    described,
    measure,
    measure_routed,
    routed_table,
    shares,
    table,
)
from benchmarks.clustering.rows import Failing
from benchmarks.clustering.systems import (
    Grouping,
    System,
    bertopic,
    bertopic_all,
    claims,
    families,
    fingerprints,
    laid_out,
)
from otel_rt4chart.verify.core.model import Clash

TOPICS = {"rent": "The rent of the flat", "mine": "The depth of the mine"}


def failing(topic: str, pattern: str, number: int) -> Failing:
    """A failure of that pattern about that topic."""
    about = TOPICS[topic]
    source = f"{about} is {number} units and it was approved by the council."
    claim = (
        f"{about} is {number + 7} units and it was approved by the council."
        if pattern == "number"
        else f"{about} is {number} units and it was never approved by the council."
    )
    clash = Clash("number", str(number + 7), str(number))
    clashes = (clash,) if pattern == "number" else (Clash("term", "never"),)
    return Failing(claim, "contradicted", (source,), clashes, pattern, topic, f"{topic} {number}")


ROWS = [
    failing(topic, pattern, number)
    for topic in TOPICS
    for pattern in ("number", "negation")
    for number in range(20, 32)
]
OURS = System("ours", laid_out, (15, 20), is_ours=True)


@pytest.mark.parametrize("group", [laid_out, fingerprints, families])
def test_ours_follows_the_pattern_and_not_the_topic(group: object) -> None:
    """Two patterns about two topics are two groups."""
    assert callable(group)

    found = measure(System("ours", group, (15,), is_ours=True), ROWS, 15)

    assert found.ari_pattern == pytest.approx(1)
    assert found.ari_topic < 0
    assert found.noise == 0
    assert found.near_pattern == pytest.approx(1)


def test_claims_embeddings_follow_the_topic() -> None:
    """As the table has them for comparison."""
    found = measure(System("claims", claims, (15,)), ROWS, 15)

    assert found.ari_topic > found.ari_pattern


def test_a_pattern_that_is_not_known_is_left_out_of_the_agreement() -> None:
    """The row is grouped all the same."""
    unknown = [failing("rent", "number", 40)]
    rows = ROWS + [Failing(o.claim, o.label, o.beside, o.clashes, "", o.topic) for o in unknown]

    assert measure(OURS, rows, 15).ari_pattern == pytest.approx(1)
    assert "25" not in described(rows).split(";")[0]


def test_the_setting_is_the_one_that_tunes_best() -> None:
    """The first of equals."""
    assert choose(OURS, ROWS) == 15


def test_tables_tell_what_was_measured() -> None:
    """Shares of operations, a row a system, and the best of the others."""
    measured = [measure(OURS, ROWS, 15)]
    beside = [measure(System("claims", claims, (15,)), ROWS, 15)]

    assert shares(ROWS) == {"number": 0.5, "polarity": 0.5}
    assert table(measured).splitlines()[2].startswith("| ours | 15 | 2 | 0.00 | 1.000 (1.00 to")
    assert "Best of the others" in compared(beside)


def test_routes_are_grouped_apart() -> None:
    """A group ends at its route's border, and within a route it is the pattern."""
    found = measure_routed(System("ours", families, (0,), is_ours=True), ROWS, 0)

    assert found.groups == 4
    assert found.within == pytest.approx(1)
    assert found.ari_pattern < 1
    assert found.ari_topic > 0
    assert choose_routed(System("ours", families, (0,)), ROWS) == 0
    assert routed_table([found]).splitlines()[2].startswith("| ours | 0 | 4 | 0.00 | 1.000 |")


@pytest.mark.parametrize("group", [claims, bertopic, bertopic_all])
def test_too_few_rows_are_noise(group: Callable[[Sequence[Failing], float], Grouping]) -> None:
    """A small route is not an error, for no way."""
    assert (group(ROWS[:4], 5).labels == -1).all()


def test_a_route_with_too_few_rows_is_noise() -> None:
    """The others are grouped."""
    rows = [*ROWS[:30], failing("mine", "number", 50)]

    found = measure_routed(System("claims", claims, (15,)), rows, 15)

    assert 0 < found.noise <= 1


def test_what_divides_patterns_cannot_agree_with_them_fully() -> None:
    """Two operations of one pattern cost agreement, even where each is told rightly."""
    rows = [replace(one, pattern="any") if one.topic == "rent" else one for one in ROWS]

    assert at_most(ROWS) == pytest.approx(1)
    assert at_most(rows) < 1
