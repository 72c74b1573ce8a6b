"""The figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.bench.metrics import ConfusionCounts, LabelledOutcome, score, score_by
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange

ENTAILED, CONTRADICTED, BASELESS = (
    AnswerLabel.ENTAILED,
    AnswerLabel.CONTRADICTED,
    AnswerLabel.BASELESS,
)


def outcome(
    gold: AnswerLabel,
    predicted: AnswerLabel,
    *,
    gold_spans: tuple[AnswerRange, ...] | None = (),
    predicted_spans: tuple[AnswerRange, ...] = (),
    task: str = "QA",
) -> LabelledOutcome:
    """One answer of two claims."""
    return LabelledOutcome(
        task, "set", gold.is_unfaithful, gold, predicted, gold_spans, predicted_spans, claims=2
    )


def test_answers_are_counted_by_whether_they_are_flagged() -> None:
    """Contradicted and baseless are both flags; undecided and no claims are none."""
    scores = score(
        "overall",
        [
            outcome(CONTRADICTED, BASELESS),
            outcome(BASELESS, ENTAILED),
            outcome(BASELESS, AnswerLabel.UNDECIDED),
            outcome(ENTAILED, CONTRADICTED),
            outcome(ENTAILED, AnswerLabel.NO_CLAIMS),
        ],
    )

    assert scores.answer == ConfusionCounts(1, 1, 1, 2)
    assert scores.flag_all == ConfusionCounts(3, 2, 0, 0)
    assert (scores.answers, scores.hallucinated, scores.undecided, scores.claims) == (5, 3, 1, 10)


def test_precision_recall_f1_and_balanced_accuracy() -> None:
    """By their definitions."""
    counts = ConfusionCounts(true_positive=6, false_positive=2, true_negative=8, false_negative=4)

    assert (counts.precision, counts.recall) == (0.75, 0.6)
    assert counts.f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)
    assert counts.balanced_accuracy == pytest.approx(0.7)


def test_what_is_not_defined_is_none() -> None:
    """Nothing flagged, nothing unfaithful, one class only."""
    empty = ConfusionCounts()
    only_good = ConfusionCounts(true_negative=3)

    assert (empty.precision, empty.recall, empty.f1, empty.balanced_accuracy) == (None,) * 4
    assert (only_good.precision, only_good.recall, only_good.balanced_accuracy) == (None,) * 3


def test_flagging_everything_is_half_right_by_balanced_accuracy() -> None:
    """Whatever the share of unfaithful answers."""
    scores = score("overall", [outcome(BASELESS, BASELESS)] * 9 + [outcome(ENTAILED, BASELESS)])

    assert scores.flag_all.balanced_accuracy == 0.5
    assert scores.flag_all.f1 == pytest.approx(18 / 19)


def test_characters_are_counted_once_however_many_spans_cover_them() -> None:
    """The union of the ranges on either side."""
    scores = score(
        "overall",
        [
            outcome(
                BASELESS,
                BASELESS,
                gold_spans=(AnswerRange(0, 10), AnswerRange(5, 12)),
                predicted_spans=(AnswerRange(8, 20), AnswerRange(8, 20)),
            )
        ],
    )

    assert scores.span == ConfusionCounts(true_positive=4, false_positive=8, false_negative=8)


def test_an_answer_without_marked_spans_takes_no_part_in_the_span_figures() -> None:
    """It is judged as a whole only."""
    unmarked = outcome(BASELESS, BASELESS, gold_spans=None, predicted_spans=(AnswerRange(0, 9),))

    assert score("overall", [unmarked]).span == ConfusionCounts()


def test_three_way_counts_leave_out_what_people_did_not_tell() -> None:
    """Only rows with a label."""
    told = outcome(CONTRADICTED, BASELESS)
    untold = LabelledOutcome("QA", "set", True, None, BASELESS, (), (), 1)

    assert score("overall", [told, untold]).three_way == {(CONTRADICTED, BASELESS): 1}


def test_groups_come_by_name_with_their_own_figures() -> None:
    """Each outcome in one group."""
    groups = score_by(
        lambda one: one.task,
        [outcome(BASELESS, BASELESS, task="b"), outcome(ENTAILED, ENTAILED, task="a")],
    )

    assert [(group.name, group.answers, group.hallucinated) for group in groups] == [
        ("a", 1, 0),
        ("b", 1, 1),
    ]


LABELS = st.sampled_from([ENTAILED, CONTRADICTED, BASELESS])


@given(st.lists(st.tuples(LABELS, LABELS), max_size=30))
def test_every_answer_is_counted_exactly_once(pairs: list[tuple[AnswerLabel, AnswerLabel]]) -> None:
    """The four counts add up, and every figure lies in [0, 1]."""
    scores = score("overall", [outcome(gold, predicted) for gold, predicted in pairs])
    counts = scores.answer
    figures = (counts.precision, counts.recall, counts.f1, counts.balanced_accuracy)

    assert (
        counts.true_positive + counts.false_positive + counts.true_negative + counts.false_negative
        == len(pairs)
    )
    assert all(figure is None or 0.0 <= figure <= 1.0 for figure in figures)
