from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.rates.label_queue import (
    LabelCandidate,
    QueuedClaim,
    answered_part,
    draw_labels,
    draw_rates,
    next_claim,
    random_number,
)

candidates = st.lists(
    st.builds(
        LabelCandidate,
        st.integers(0, 10**6).map(str),
        st.sampled_from(["docs", "chat"]),
        st.sampled_from(["entailed", "flagged", "undecided"]),
        st.floats(0, 1),
        st.floats(1, 1000),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda one: one.claim,
)


def frame(size: int, seed: int = 0, *, start: int = 0) -> list[LabelCandidate]:
    """Claims of one route, one in five flagged."""
    chance = random.Random(seed)  # noqa: S311
    found = []
    for at in range(start, start + size):
        stratum = "flagged" if at % 5 == 0 else "entailed"
        score = chance.uniform(0.5, 1) if stratum == "flagged" else chance.uniform(0, 0.5)
        found.append(LabelCandidate(str(at), "docs", stratum, score, chance.choice([1.0, 4.0])))
    return found


@given(candidates, st.integers(1, 50))
def test_probabilities_are_in_bounds_and_no_claim_is_drawn_twice(
    found: list[LabelCandidate], size: int
) -> None:
    """At most `size` of each route, all with a probability in (0, 1], all of them known claims."""
    queue = draw_labels(found, size, seed="a")

    names = [one.claim for one in queue]
    assert len(set(names)) == len(names)
    assert {one.claim for one in found} >= set(names)
    assert all(0 < one.probability <= 1 for one in queue)
    for route in {one.route for one in found}:
        own = [one for one in found if one.route == route]
        drawn = [one for one in queue if one.route == route]
        assert len(drawn) == min(size, len(own))
        assert all(one.rank <= other.rank for one, other in pairwise(drawn))
        if len(own) <= size:
            assert {one.probability for one in drawn} == {1.0}


@given(candidates, st.randoms())
def test_a_draw_is_reproducible(found: list[LabelCandidate], chance: random.Random) -> None:
    """The same seed gives the same draw, in whatever order the claims come."""
    shuffled = list(found)
    chance.shuffle(shuffled)

    queue, again = (draw_labels(one, 5, seed="a") for one in (found, shuffled))

    assert [one.claim for one in queue] == [one.claim for one in again]
    assert [one.probability for one in queue] == pytest.approx([one.probability for one in again])


@given(candidates)
def test_rates_sum_to_one_and_are_bounded_below(found: list[LabelCandidate]) -> None:
    """In a stratum, a sure claim has at least seven tenths of the rate of a doubtful one."""
    rates = draw_rates(found)

    assert sum(rates) == pytest.approx(1)
    for stratum in {one.stratum for one in found}:
        each = [
            rate / one.weight
            for rate, one in zip(rates, found, strict=True)
            if one.stratum == stratum
        ]
        assert min(each) >= 0.699 * max(each)


def test_strata_share_a_part_equally_and_doubt_draws_more() -> None:
    """A rare verdict is not left without labels, and an unsure claim comes sooner."""
    sure = [LabelCandidate(str(at), "docs", "entailed", 0.01) for at in range(97)]
    unsure = [LabelCandidate("unsure", "docs", "entailed", 0.45)]
    rare = [LabelCandidate(f"rare {at}", "docs", "flagged", 0.9) for at in range(2)]

    rates = draw_rates([*sure, *unsure, *rare])

    assert rates[97] == pytest.approx(rates[0] * 0.2475**0.5 / 0.35)
    assert rates[98] + rates[99] > 0.125


def test_a_longer_draw_keeps_the_shorter_one_with_higher_probabilities() -> None:
    """Nobody's labels are lost when more are wanted."""
    found = frame(500)
    short, long = (draw_labels(found, size, seed="a") for size in (30, 90))

    assert [one.claim for one in long[:30]] == [one.claim for one in short]
    assert all(one.probability > two.probability for one, two in zip(long, short, strict=False))


def test_weights_of_one_draw_add_up_to_all_claims_on_average() -> None:
    """Horvitz and Thompson: the estimated number of claims is unbiased, strata apart."""
    found = frame(120)
    for stratum in ("flagged", "entailed"):
        own = sum(one.stratum == stratum for one in found)
        totals = [
            sum(
                1 / one.probability
                for one in draw_labels(found, 25, seed=str(seed))
                if one.stratum == stratum
            )
            for seed in range(400)
        ]

        assert sum(totals) / len(totals) == pytest.approx(own, rel=0.05)


def test_two_draws_with_new_claims_between_have_true_probabilities() -> None:
    """The union of both, each claim with the higher probability, is unbiased for all claims."""
    before, after = frame(80, 1), frame(60, 2, start=80)
    totals = []
    for seed in range(400):
        probabilities: dict[str, float] = {}
        first = draw_labels(before, 15, seed=str(seed))
        second = draw_labels([*before, *after], 40, seed=str(seed))
        for one in (*first, *second):
            known = probabilities.get(one.claim, 0.0)
            probabilities[one.claim] = max(known, one.probability)
        totals.append(sum(1 / one for one in probabilities.values()))

    assert sum(totals) / len(totals) == pytest.approx(140, rel=0.04)


def test_routes_take_turns() -> None:
    """Whoever stops early has labelled some of each route."""
    found = [one._replace(route=route, claim=f"{route} {one.claim}")
             for route in ("a", "b", "c") for one in frame(50)]  # fmt: skip

    queue = draw_labels(found, 10, seed="a")

    assert [one.route for one in queue] == ["a", "b", "c"] * 10


def test_a_draw_that_was_stopped_is_a_shorter_draw() -> None:
    """The claims answered before the first open one have the probabilities of that draw."""
    found = frame(300)
    queue = draw_labels(found, 60, seed="a")
    done = {one.claim for one in queue[:20]} | {queue[25].claim}

    part = answered_part(queue, done)

    shorter = draw_labels(found, 20, seed="a")
    assert [one.claim for one in part] == [one.claim for one in shorter]
    assert [one.probability for one in part] == pytest.approx([one.probability for one in shorter])
    assert answered_part(queue, {one.claim for one in queue}) == queue
    assert answered_part(queue, set()) == []


def test_nobody_gets_a_claim_twice() -> None:
    """Every claim goes to one rater, or to two different ones."""
    queue = draw_labels(frame(100), 30, seed="a", double_share=0.3)
    raters: dict[str, list[str]] = {}
    answered = 0
    for turn in range(200):
        rater = ("ann", "bob", "cho")[turn % 3]
        one = next_claim(queue, raters, rater)
        if one is not None:
            raters.setdefault(one.claim, []).append(rater)
            answered += 1

    assert answered == sum(one.raters for one in queue)
    assert all(len(set(names)) == len(names) for names in raters.values())
    assert all(len(raters[one.claim]) == one.raters for one in queue)


def test_the_share_for_two_raters_is_drawn_by_chance() -> None:
    """About the share that was asked for, and the same claims each time."""
    twice = [
        {one.claim for one in draw_labels(frame(500), 400, seed="a", double_share=share)
         if one.raters == 2}
        for share in (0.2, 0.2, 0.5, 0.0)
    ]  # fmt: skip

    assert twice[0] == twice[1]
    assert twice[0] < twice[2]
    assert 60 <= len(twice[0]) <= 100
    assert twice[3] == set()


def test_the_random_number_is_one_that_a_database_computes_too() -> None:
    """53 bits of SHA-256, as `sha256sum` prints it."""
    # printf 'seed\0claim' | sha256sum
    digest = 0x38F1F49BFCC4A6C7

    assert 0 < random_number("seed", "claim") < 1
    assert random_number("seed", "claim") == ((digest >> 11) + 0.5) / 2**53
    assert random_number("seed", "claim") != random_number("seedc", "laim")


@pytest.mark.parametrize(("size", "share"), [(0, 0.1), (5, -0.1), (5, 1.5)])
def test_an_impossible_draw_is_refused(size: int, share: float) -> None:
    """With what was expected."""
    with pytest.raises(InputError, match="expected a size of at least 1"):
        draw_labels(frame(5), size, seed="a", double_share=share)


def test_nothing_to_draw_is_an_empty_queue() -> None:
    """A period without claims."""
    assert draw_labels([], 5, seed="a") == []
    assert next_claim(list[QueuedClaim](), {}, "ann") is None
