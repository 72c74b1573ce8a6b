from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.thresholds import (
    ScoredVerdict,
    ThresholdChoice,
    choose_threshold,
    effective_counts,
    entailed_verdicts,
    flagged_verdicts,
    p_value,
)


def verdicts(seed: int, size: int, *, even: bool = True) -> list[ScoredVerdict]:
    """Verdicts that are wrong with probability 1 - score; unevenly drawn where asked."""
    chance = random.Random(seed)  # noqa: S311
    found = []
    for at in range(size):
        score = chance.random()
        expansion = 1.0 if even else chance.choice([1.0, 2.0, 5.0])
        found.append(ScoredVerdict(score, chance.random() > score, str(at), expansion))
    return found


def real_error(threshold: float) -> float:
    """The share of wrong verdicts above a threshold in that world."""
    return (1 - threshold) / 2


@pytest.mark.parametrize("even", [True, False], ids=["even", "uneven"])
def test_thresholds_keep_their_error_at_the_stated_confidence(even: bool) -> None:
    """At 90%, at most 1 of 10 choices is worse than stated; most labels find a threshold."""
    broken = chosen = 0
    for seed in range(200):
        found = choose_threshold(verdicts(seed, 500, even=even), error=0.2, confidence=0.9)
        if found.threshold is not None:
            chosen += 1
            broken += real_error(found.threshold) > 0.2

    assert broken <= 20
    assert chosen >= (180 if even else 100)


def test_p_values_are_rarely_small_at_the_border() -> None:
    """Where verdicts are wrong just as often as stated, at most a tenth is below .1."""
    chance = random.Random(1)  # noqa: S311
    for even in (True, False):
        low = 0
        for _ in range(500):
            found = [
                ScoredVerdict(
                    1.0,
                    chance.random() < 0.2,
                    str(at // (1 if even else 2)),
                    1.0 if even else chance.choice([1.0, 3.0]),
                )
                for at in range(60)
            ]
            low += p_value(*effective_counts(found), 0.2) <= 0.1
        assert low <= 62


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.randoms(), st.booleans())
def test_the_order_of_labels_is_nothing(seed: int, chance: random.Random, even: bool) -> None:
    """The same labels prove the same."""
    found = verdicts(seed, 150, even=even)
    shuffled = list(found)
    chance.shuffle(shuffled)

    assert choose_threshold(found, error=0.3) == choose_threshold(shuffled, error=0.3)


def test_no_labels_ask_for_as_many_as_could_prove_it() -> None:
    """Thirty-three right ones of a judge that is never wrong, at 10% and 90% confidence."""
    assert choose_threshold([], error=0.1) == ThresholdChoice(None, 0, 0, 33)
    right = [ScoredVerdict(1.0, False, str(at)) for at in range(33)]
    assert choose_threshold(right, error=0.1) == ThresholdChoice(0.0, 33, 0)
    assert choose_threshold(right[1:], error=0.1) == ThresholdChoice(None, 32, 0, 1)


def test_too_few_labels_say_how_many_are_missing() -> None:
    """With that many, at the same share of errors, there is a threshold."""
    few = [ScoredVerdict(0.9, at % 12 == 11, str(at)) for at in range(36)]

    found = choose_threshold(few, error=0.15)

    assert (found.threshold, found.labels, found.errors) == (None, 36, 3)
    assert found.more_labels is not None
    enough = 36 + found.more_labels
    many = [ScoredVerdict(0.9, at % 12 == 11, str(at)) for at in range(enough)]
    assert choose_threshold(many, error=0.15).threshold == 0.0


def test_a_judge_that_is_wrong_too_often_has_no_threshold_and_no_number() -> None:
    """More labels would not help."""
    always = [ScoredVerdict(0.9, True, str(at)) for at in range(50)]

    assert choose_threshold(always, error=0.2) == ThresholdChoice(None, 50, 50)


def test_claims_of_one_answer_are_one_piece_of_evidence() -> None:
    """A hundred right verdicts of five answers prove less than of a hundred answers."""
    apart = [ScoredVerdict(0.9, False, str(at)) for at in range(100)]
    together = [ScoredVerdict(0.9, False, str(at % 5)) for at in range(100)]

    assert choose_threshold(apart, error=0.1).threshold == 0.0
    assert choose_threshold(together, error=0.1).threshold is None


def test_flagged_and_entailed_verdicts_turn_the_score() -> None:
    """An even disagreement of raters is an error on both sides."""
    labels = [
        TrustedLabel("a", "flagged", 0.75, is_flagged=True, wrong=wrong, probability=0.5)
        for wrong in (0.0, 0.5, 1.0)
    ]

    assert flagged_verdicts(labels) == [
        ScoredVerdict(0.75, True, "a", 2.0),
        ScoredVerdict(0.75, True, "a", 2.0),
        ScoredVerdict(0.75, False, "a", 2.0),
    ]
    assert entailed_verdicts(labels) == [
        ScoredVerdict(0.25, False, "a", 2.0),
        ScoredVerdict(0.25, True, "a", 2.0),
        ScoredVerdict(0.25, True, "a", 2.0),
    ]


@pytest.mark.parametrize(
    ("error", "confidence"), [(0.0, 0.9), (1.0, 0.9), (0.1, 1.0), (1e-300, 0.9)]
)
def test_impossible_shares_are_refused(error: float, confidence: float) -> None:
    """Certainty takes all labels there are."""
    with pytest.raises(InputError, match="expected shares from 0"):
        choose_threshold([], error=error, confidence=confidence)
