"""Soft membership: shares of issues from clusters, and what a run stores of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rt4chart_clustering.grouping.algorithm import SoftGroups
from rt4chart_clustering.grouping.measure_memberships import MIN_SHARE, issue_shares, memberships
from rt4chart_collector.store.issues.memberships import JointFailure

NO_OUTLIERS = np.zeros(3, dtype=np.float32)
ONE, TWO, ALIAS = 11, 22, 33
PROBABILITIES = arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.floats(0, 1, width=16),
)


def failure(at: int, issue: int) -> JointFailure:
    """A failure with this issue."""
    return JointFailure((f"trace-{at}", "span", 0), at, at + 1, (1.0,), issue)


def test_a_failure_between_two_clusters_belongs_to_both_issues() -> None:
    """In proportion to its probabilities, where each cluster is one issue."""
    soft = SoftGroups(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], dtype=np.float32), NO_OUTLIERS)
    is_in = np.array([[True, False], [False, True], [False, True]])

    assert issue_shares(soft, is_in) == pytest.approx(is_in.astype(float))

    between = SoftGroups(np.array([[0.6, 0.3]], dtype=np.float32), NO_OUTLIERS[:1])
    shares = issue_shares(
        SoftGroups(np.vstack([soft.shares, between.shares]), np.zeros(4, dtype=np.float32)),
        np.vstack([is_in, [[False, False]]]),
    )

    assert shares[3, 0] == pytest.approx(0.6 * 1 / 1.6)
    assert shares[3, 1] == pytest.approx(0.3 * 2 / 2.3)


@given(PROBABILITIES, st.data())
def test_shares_never_add_up_to_more_than_the_probability_of_a_cluster(
    found: np.ndarray[tuple[int, int], np.dtype[np.float32]], data: st.DataObject
) -> None:
    """Whatever issues the rows are in, each in at most one."""
    soft = SoftGroups(found / np.maximum(found.sum(axis=1, keepdims=True), 1), found[:, 0])
    chosen = data.draw(st.lists(st.integers(0, 2), min_size=len(found), max_size=len(found)))
    is_in = np.array([[one == 1, one == 2] for one in chosen])

    shares = issue_shares(soft, is_in)

    assert shares.shape == is_in.shape
    assert np.all(shares >= 0)
    assert np.all(shares.sum(axis=1) <= soft.shares.sum(axis=1) + 1e-5)


def test_shares_are_those_of_the_merged_issue() -> None:
    """A failure of an alias counts for the issue that it stands for."""
    soft = SoftGroups(np.array([[1.0], [1.0], [1.0]], dtype=np.float32), NO_OUTLIERS)
    rows = [failure(0, ONE), failure(1, ALIAS), failure(2, TWO)]

    found = memberships(rows, soft, {ALIAS: ONE}, service="desk", version=9)

    assert [one.issues for one in found] == [(ONE, TWO)] * 3
    assert found[0].shares == pytest.approx((2 / 3, 1 / 3), abs=1e-3)
    assert [one.description_version for one in found] == [1, 2, 3]


def test_small_shares_are_left_out_and_the_outlier_score_is_kept() -> None:
    """A failure that belongs to nothing has a row without issues."""
    soft = SoftGroups(
        np.array([[1.0], [MIN_SHARE / 2], [0.0]], dtype=np.float32),
        np.array([0.0, 0.5, 0.9], dtype=np.float32),
    )

    found = memberships([failure(at, ONE) for at in range(3)], soft, {}, service="desk", version=9)

    assert [one.issues for one in found] == [(ONE,), (), ()]
    assert [one.outlier for one in found] == pytest.approx([0, 0.5, 0.9])


def test_failures_without_an_issue_have_no_shares() -> None:
    """Before there is any issue, nothing is shared out."""
    soft = SoftGroups(np.ones((3, 1), dtype=np.float32), NO_OUTLIERS)

    found = memberships([failure(at, 0) for at in range(3)], soft, {}, service="", version=9)

    assert [one.shares for one in found] == [()] * 3
