from __future__ import annotations

from otel_rt4chart.verify.core.model import AnswerRange, ClaimStatus, Label
from rt4chart_collector.console.answers.differences import (
    MAX_DIFFERENCES,
    LabelDifference,
    differences,
)
from rt4chart_collector.store.answers.claims import ClaimOutline


def outlined(index: int, label: Label, start: int, end: int) -> ClaimOutline:
    """A claim without its words."""
    return ClaimOutline(index, label, ClaimStatus.SUPPORTED, AnswerRange(start, end), ())


def test_claims_about_the_same_words_are_compared() -> None:
    """Verifiers cut an answer in their own ways: the narrow range of one lies in the other's."""
    ours = [
        outlined(0, Label.ENTAILED, 0, 20),
        outlined(1, Label.CONTRADICTED, 30, 37),
        outlined(2, Label.NOT_A_CLAIM, 50, 60),
    ]
    theirs = [
        outlined(0, Label.NOT_A_CLAIM, 0, 5),
        outlined(1, Label.ENTAILED, 0, 20),
        outlined(2, Label.ENTAILED, 21, 48),
        outlined(3, Label.BASELESS, 50, 60),
    ]

    assert differences(ours, theirs) == [LabelDifference(1, "contradicted", 2, "entailed")]


def test_unfaithful_ones_come_first_and_twenty_are_told() -> None:
    """What matters is not lost among what is undecided."""
    ours = [outlined(n, Label.ENTAILED, n * 10, n * 10 + 9) for n in range(100)]
    theirs = [
        outlined(n, Label.BASELESS if n == 90 else Label.UNDECIDED, n * 10, n * 10 + 9)
        for n in range(100)
    ]

    found = differences(ours, theirs)

    assert (found[0].index, len(found)) == (90, MAX_DIFFERENCES)


def test_ten_thousand_claims_are_compared_by_their_neighbours() -> None:
    """Each with a few, not with all."""
    ours = [outlined(n, Label.ENTAILED, n * 10, n * 10 + 9) for n in range(10_000)]

    assert differences(ours, ours) == []
