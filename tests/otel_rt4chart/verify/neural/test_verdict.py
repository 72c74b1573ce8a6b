from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Judgement, Label
from otel_rt4chart.verify.neural.onnx_judge import ScoredPremise, decide
from otel_rt4chart.verify.neural.pair_classifier import LabelProbabilities
from otel_rt4chart.verify.neural.premise import Premise

FOR, AGAINST, NEITHER = (
    LabelProbabilities(0.9, 0.02, 0.08),
    LabelProbabilities(0.1, 0.8, 0.1),
    LabelProbabilities(0.1, 0.1, 0.8),
)


def read(*given: tuple[tuple[int, ...], LabelProbabilities]) -> list[ScoredPremise]:
    """Premises of these sentences, with these odds."""
    return [ScoredPremise(Premise("text", indices), odds) for indices, odds in given]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            [((1,), NEITHER), ((2,), FOR), ((1, 2), FOR)],
            Judgement(Label.ENTAILED, (2,), 0.9, "P(entailed) is 0.90 by one sentence"),
        ),
        (
            [((1,), NEITHER), ((2,), NEITHER), ((1, 2), FOR)],
            Judgement(Label.ENTAILED, (1, 2), 0.9, "P(entailed) is 0.90 by 2 sentences together"),
        ),
        (
            [((1,), AGAINST), ((2,), LabelProbabilities(0.05, 0.9, 0.05)), ((1, 2), NEITHER)],
            Judgement(Label.CONTRADICTED, (2, 1), 0.9, "P(contradicted) is 0.90 by one sentence"),
        ),
        (
            [((1,), AGAINST), ((2,), NEITHER), ((1, 2), FOR)],
            Judgement(Label.ENTAILED, (1, 2), 0.9, "P(entailed) is 0.90 by 2 sentences together"),
        ),
        (
            [((1,), NEITHER), ((2,), LabelProbabilities(0.4, 0.0, 0.6))],
            Judgement(
                Label.BASELESS,
                (),
                0.6,
                "of 2 sentences none entails or contradicts it: P(entailed) is at most 0.40",
            ),
        ),
        (
            [((4,), NEITHER), ((4,), FOR)],
            Judgement(Label.ENTAILED, (4,), 0.9, "P(entailed) is 0.90 by one sentence"),
        ),
    ],
    ids=["alone", "together", "against", "more for than against", "neither", "pieces"],
)
def test_the_likeliest_word_for_or_against_counts(
    given: list[tuple[tuple[int, ...], LabelProbabilities]], expected: Judgement
) -> None:
    """Its evidence are the sentences that say so alone, best first, else those read together."""
    assert decide(read(*given), 0.0) == expected


@pytest.mark.parametrize(
    ("threshold", "label"),
    [(0.0, Label.ENTAILED), (0.6, Label.ENTAILED), (0.7, Label.BASELESS)],
)
def test_a_threshold_asks_for_more_or_takes_less(threshold: float, label: Label) -> None:
    """What misses it is baseless, not contradicted, unless contradicted is likeliest."""
    assert decide(read(((1,), LabelProbabilities(0.65, 0.2, 0.15))), threshold).label is label
    assert decide(read(((1,), LabelProbabilities(0.35, 0.2, 0.45))), 0.3).label is Label.ENTAILED
