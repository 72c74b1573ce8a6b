from __future__ import annotations

import pytest

from benchmarks.judge.figures import (
    Cut,
    Tally,
    auroc,
    balancing,
    calibration_error,
    cut,
    intervals,
    kept_error,
    macro_f1,
    reliability,
    risks,
)


def test_probabilities_that_come_true_have_no_calibration_error() -> None:
    """Of ten claims at .2 two come true, of ten at .7 seven."""
    said = [0.2] * 10 + [0.7] * 10
    truths = [True] * 2 + [False] * 8 + [True] * 7 + [False] * 3

    bins = reliability(said, truths)

    assert [one.n for one in bins] == [10, 10]
    assert calibration_error(bins) == pytest.approx(0.0)


def test_calibration_error_is_the_mean_distance_by_weight() -> None:
    """A quarter of the mass is .5 off, the rest is right; weights move it to one half."""
    said, truths = [0.5] + [1.0] * 3, [False] + [True] * 3

    assert calibration_error(reliability(said, truths)) == pytest.approx(0.125)
    assert calibration_error(reliability(said, truths, [3.0, 1, 1, 1])) == pytest.approx(0.25)
    assert calibration_error(reliability([], [])) is None


def test_bins_hold_about_the_same_mass_and_keep_equal_values_together() -> None:
    """A hundred different values make ten tens; one value makes one bin."""
    spread = [at / 100 for at in range(100)]

    assert [one.n for one in reliability(spread, [True] * 100)] == [10] * 10
    assert [one.n for one in reliability([0.3] * 100, [True] * 100)] == [100]


def test_weights_make_every_group_weigh_the_same() -> None:
    """Three of one and one of another."""
    assert balancing(["a", "a", "a", "b"]) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2.0])


def test_area_under_the_curve_counts_ties_half() -> None:
    """Of four pairs three are in order and one is tied."""
    assert auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == pytest.approx(0.875)
    assert auroc([1.0, 1.0], [True, False]) == pytest.approx(0.5)
    assert auroc([0.3], [True]) is None


def test_macro_f1_is_over_the_labels_that_occur() -> None:
    """A label that nobody means and nobody gives takes no part."""
    pairs = [("a", "a"), ("a", "b"), ("b", "b")]

    assert macro_f1(pairs, "abc") == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert macro_f1([], "abc") is None


def test_risk_of_the_surest_does_not_depend_on_the_order_of_the_equally_sure() -> None:
    """The two that are equally sure share their error."""
    first = risks([0.9, 0.5, 0.5, 0.1], [False, True, False, True])
    other = risks([0.5, 0.1, 0.9, 0.5], [False, True, False, True])

    assert list(first) == pytest.approx([0.0, 0.25, 1 / 3, 0.5])
    assert list(other) == pytest.approx(list(first))
    assert kept_error(first, 1.0) == pytest.approx(0.5)
    assert kept_error(first, 0.25) == pytest.approx(0.0)
    assert kept_error(risks([], []), 0.5) is None


def test_a_higher_threshold_escalates_no_less_and_leaves_no_more_errors() -> None:
    """The second judge is always right."""
    sure, wrong = [0.9, 0.8, 0.6, 0.6, 0.2], [False, True, False, True, True]

    cuts = [cut(sure, wrong, at / 10) for at in range(11)]

    assert [one.escalated for one in cuts] == sorted(one.escalated for one in cuts)
    assert [one.error_left for one in cuts] == sorted((c.error_left for c in cuts), reverse=True)
    assert cuts[8] == Cut(0.8, 1 - 2 / 5, 0.5, 1 / 5)
    assert cut(sure, wrong, 1.0) == Cut(1.0, 1.0, None, 0.0)


def test_intervals_are_the_same_twice_and_widen_with_fewer_documents() -> None:
    """The same answers in twenty documents and in two."""
    one, two = Tally(8, 2, 3, 7), Tally(5, 5, 4, 6)
    many = [[one, two] * 10]

    narrow, mean = intervals(many)

    assert (narrow, mean) == intervals(many)
    assert narrow == mean
    assert narrow is not None
    wide, _ = intervals([[one, two]])
    assert wide is not None
    assert wide[1] - wide[0] > narrow[1] - narrow[0] > 0
    assert intervals([[Tally(1, 1, 0, 0)]]) == (None, None)
