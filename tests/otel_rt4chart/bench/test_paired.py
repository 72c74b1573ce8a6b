"""Two runs over the same answers."""

from __future__ import annotations

import pytest

from otel_rt4chart.bench.paired import ComparedAnswer, compare_runs, mcnemar
from otel_rt4chart.bench.records import RowKey
from otel_rt4chart.core.errors import InputError


def answers(*flags: bool, wrong: int = 10) -> dict[RowKey, ComparedAnswer]:
    """Answers of a document each, the first `wrong` of them unfaithful."""
    return {
        RowKey(f"{n:02}", "h"): ComparedAnswer(f"d{n}", n < wrong, is_flagged)
        for n, is_flagged in enumerate(flags)
    }


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (0, 6, 2 / 64), (1, 9, 22 / 1024), (9, 1, 22 / 1024)],
)
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int, p: float) -> None:
    """By hand: twice the tail of the smaller count."""
    assert mcnemar(only_a, only_b) == pytest.approx(p)


def test_mcnemar_holds_for_thousands_of_answers() -> None:
    """No overflow, and a probability."""
    assert 0 < mcnemar(1_000, 1_100) < 0.05


def test_the_difference_has_its_interval() -> None:
    """All ten errors are found instead of two: F1 rises from 1/3 to 1."""
    few = answers(*[True] * 2, *[False] * 18)
    every = answers(*[True] * 10, *[False] * 10)

    found = compare_runs(few, every)
    f1 = next(one for one in found.differences if one.metric == "F1")

    assert (found.answers, found.groups, found.only_a, found.only_b) == (20, 20, 0, 8)
    assert found.p_value == pytest.approx(2 / 256)
    assert f1.a == pytest.approx(1 / 3)
    assert f1.b == 1.0
    assert f1.low is not None
    assert f1.high is not None
    assert 0 < f1.low < 2 / 3 < f1.high <= 1


def test_a_run_beside_itself_differs_in_nothing() -> None:
    """The interval has no width."""
    one = answers(*[True] * 7, *[False] * 13)

    found = compare_runs(one, one)

    assert found.p_value == 1.0
    assert {(d.difference, d.low, d.high) for d in found.differences if d.a is not None} == {
        (0.0, 0.0, 0.0)
    }


def test_answers_of_one_document_are_drawn_together() -> None:
    """Twenty answers of one document are one observation: no interval can be told from it."""
    few = answers(*[True] * 2, *[False] * 18)
    every = answers(*[True] * 10, *[False] * 10)
    merged = [{k: v._replace(group="d") for k, v in run.items()} for run in (few, every)]

    f1 = next(one for one in compare_runs(*merged).differences if one.metric == "F1")

    assert f1.low == f1.high == pytest.approx(2 / 3)


def test_answers_of_one_run_alone_are_left_out_and_counted() -> None:
    """Only pairs can be compared."""
    found = compare_runs(answers(*[True] * 4, wrong=2), answers(*[True] * 3, wrong=2))

    assert (found.answers, found.unshared) == (3, 1)


def test_runs_without_a_common_answer_or_with_other_labels_are_refused() -> None:
    """They are of other data."""
    with pytest.raises(InputError, match="no answer that both have"):
        compare_runs(answers(True), {RowKey("x", "h"): ComparedAnswer("d", True, True)})
    with pytest.raises(InputError, match="different labels of the answer 00"):
        compare_runs(answers(True, wrong=1), answers(True, wrong=0))


def spanned(*gold: int, hit: int = 1) -> dict[RowKey, ComparedAnswer]:
    """One flagged answer with these marked characters, of which some are found."""
    missed = len(gold) - hit
    one = ComparedAnswer("d", True, True, frozenset(gold), span_hit=hit, span_missed=missed)
    return {RowKey("a", "h"): one}


def test_runs_with_other_marked_spans_are_refused() -> None:
    """Their labels were changed in between: a difference of spans would be one of the labels."""
    with pytest.raises(InputError, match="different marked spans of the answer a"):
        compare_runs(spanned(1, 2), spanned(1, 2, 3))


def test_spans_are_compared_where_both_runs_have_them() -> None:
    """A judge of whole answers has none; the other one's must not count against it, or for it."""
    whole = {key: one.without_spans() for key, one in spanned(1, 2).items()}

    both, one = compare_runs(spanned(1, 2), spanned(1, 2)), compare_runs(spanned(1, 2), whole)

    span_f1 = [
        next(each for each in found.differences if each.metric == "span F1")
        for found in (both, one)
    ]
    assert span_f1[0].a == pytest.approx(2 / 3)
    assert span_f1[0].difference == 0.0
    assert (span_f1[1].a, span_f1[1].b, span_f1[1].difference) == (None, None, None)
