from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import AnswerSums, claim_rate, design_effect, effective_size
from otel_rt4chart.verify.rates.population import (
    Population,
    ScoredAnswer,
    ScoredClaim,
    population_of,
    score_of,
    stratum_of,
)

claims = st.builds(
    ScoredClaim, st.sampled_from(["entailed", "flagged", "undecided"]), st.floats(0, 1)
)
answers = st.lists(
    st.builds(ScoredAnswer, st.lists(claims, max_size=5), st.floats(1, 50)), min_size=2, max_size=20
).filter(lambda found: any(one.claims for one in found))


@given(answers)
def test_shares_of_the_strata_sum_to_one(found: list[ScoredAnswer]) -> None:
    """Whatever the weights; no share is negative."""
    population = population_of(found)

    assert sum(population.shares.values()) == pytest.approx(1)
    assert min(population.shares.values()) >= 0
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in population.scores.values())


@given(answers)
def test_merged_strata_are_those_of_claims_with_one_stratum(found: list[ScoredAnswer]) -> None:
    """Merging the sums is the same as merging the claims."""
    into = {"undecided": "entailed"}
    moved = [
        ScoredAnswer(
            [ScoredClaim(into.get(one.stratum, one.stratum), one.score) for one in answer.claims],
            answer.weight,
        )
        for answer in found
    ]

    merged, expected = population_of(found).merged(into), population_of(moved)

    order = [merged.strata.index(name) for name in expected.strata]
    order += [len(order) + at for at in order]
    assert [merged.totals[at] for at in order] == pytest.approx(expected.totals)
    for row, other in zip(order, expected.squares, strict=True):
        assert [merged.squares[row][at] for at in order] == pytest.approx(other)


def test_variance_of_the_verdicts_is_that_of_the_raw_rate() -> None:
    """With level 1 for flagged claims, it is the variance behind the raw rate's interval."""
    rows = [(1.0, 5, 3), (2.0, 4, 0), (1.0, 3, 3), (5.0, 2, 1), (1.0, 6, 0), (1.5, 5, 1)]
    found = [
        ScoredAnswer(
            [ScoredClaim("flagged", 1.0)] * x + [ScoredClaim("entailed", 0.0)] * (m - x), w
        )
        for w, m, x in rows
    ]
    sums = AnswerSums(
        answers=len(rows),
        claims=sum(m for _, m, _ in rows),
        wm=sum(w * m for w, m, _ in rows),
        wx=sum(w * x for w, _, x in rows),
        wwm=sum(w * w * m for w, m, _ in rows),
        wwxx=sum(w * w * x * x for w, _, x in rows),
        wwxm=sum(w * w * x * m for w, m, x in rows),
        wwmm=sum(w * w * m * m for w, m, _ in rows),
    )
    rate = claim_rate(sums).value
    assert rate is not None
    expected = design_effect(sums, rate, effective_size(sums)) * rate * (1 - rate)

    by_level = population_of(found).variance({"flagged": 1.0, "entailed": 0.0}, 0.0)
    by_score = population_of(found).variance({"flagged": 0.0, "entailed": 0.0}, 1.0)

    assert by_level == pytest.approx(expected / effective_size(sums))
    assert by_score == pytest.approx(by_level)


def test_a_single_answer_has_the_largest_variance() -> None:
    """Nothing is known of how answers differ."""
    only = population_of([ScoredAnswer([ScoredClaim("entailed", 0.1)] * 3)])

    assert only.variance({"entailed": 0.0}, 0.0) == 0.25


def test_answers_without_claims_are_left_out() -> None:
    """An empty population has no strata."""
    assert population_of([ScoredAnswer([])]) == Population((), 0, 0, (), ())


@pytest.mark.parametrize(
    ("label", "confidence", "expected"),
    [
        (Label.ENTAILED, 0.8, ("entailed", pytest.approx(0.2))),
        (Label.CONTRADICTED, 0.8, ("flagged", 0.8)),
        (Label.BASELESS, 0.7, ("flagged", 0.7)),
        (Label.UNDECIDED, 0.0, ("undecided", 0.5)),
    ],
)
def test_a_verdict_has_a_stratum_and_a_score(
    label: Label, confidence: float, expected: tuple[str, float]
) -> None:
    """The score is the probability that the claim is wrong."""
    assert (stratum_of(label), score_of(label, confidence)) == expected
