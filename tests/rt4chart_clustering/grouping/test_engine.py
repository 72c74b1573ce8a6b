"""Clusters of vectors: dense ones found, scattered rows left alone, and examples chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.description.embedding import HashingEmbedder, Matrix
from rt4chart_clustering.grouping.algorithm import centroid_of, choose_examples
from rt4chart_clustering.grouping.engine import NOISE, HdbscanGrouping
from tests.rt4chart_clustering.made import ADDED, SCATTERED

OTHERS = tuple(f"Verified users receive a one-time {word} extension." for word in "abcdef")


def vectors(*texts: str) -> Matrix:
    """The texts' rows."""
    return HashingEmbedder().embed(texts)


def test_two_dense_groups_and_noise_are_told_apart() -> None:
    """Each group has its label, and scattered rows have none."""
    labels = HdbscanGrouping().labels(vectors(*ADDED, *SCATTERED, *OTHERS)).tolist()

    assert len(set(labels[:6])) == len(set(labels[12:])) == 1
    assert labels[0] != labels[12]
    assert set(labels[6:12]) == {NOISE}


@pytest.mark.parametrize("texts", [ADDED, ("The same words.",) * 8, (*ADDED, *SCATTERED)])
def test_single_cluster_is_found(texts: tuple[str, ...]) -> None:
    """One group alone, identical rows, or a group among noise: it is a cluster."""
    labels = HdbscanGrouping().labels(vectors(*texts)).tolist()

    assert labels[:6] == [labels[0]] * 6 != [NOISE] * 6


def test_scattered_rows_are_noise() -> None:
    """What has nothing in common makes no cluster."""
    assert HdbscanGrouping().labels(vectors(*SCATTERED)).tolist() == [NOISE] * 6


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_rows_are_noise(count: int) -> None:
    """Fewer rows than a cluster needs give none, and no error."""
    assert HdbscanGrouping().labels(vectors(*ADDED[:count])).tolist() == [NOISE] * count


def test_rows_of_zeros_are_noise() -> None:
    """Texts without words are not alike for that."""
    assert HdbscanGrouping().labels(np.zeros((9, 4), dtype=np.float32)).tolist() == [NOISE] * 9


def test_middle_is_a_unit_row_with_distances() -> None:
    """The centroid has length 1, and a row on it has distance 0."""
    centroid, distances = centroid_of(vectors("a claim", "a claim"))

    assert np.linalg.norm(centroid) == pytest.approx(1)
    assert distances == pytest.approx([0, 0], abs=1e-6)


@given(st.lists(st.text(), max_size=4))
def test_embedding_has_unit_rows_and_never_changes(texts: list[str]) -> None:
    """A row has length 1, or 0 where the text has no words, and is the same each time."""
    rows = HashingEmbedder().embed(texts)

    assert rows.shape == (len(texts), HashingEmbedder.width)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))
    assert np.array_equal(rows, HashingEmbedder().embed(texts))


def test_examples_are_typical_first_then_unlike() -> None:
    """The medoid, then what is farthest from it; equal claims are not shown twice."""
    texts = ("priority email support", "priority email support", "priority email", "free parking")

    chosen = choose_examples(vectors(*texts), number=4)

    assert chosen == [0, 3, 2]


def test_examples_of_nothing_are_none() -> None:
    """No claims, no examples."""
    assert choose_examples(vectors(), number=3) == []


def test_soft_membership_is_sure_within_a_cluster_and_shared_between_two() -> None:
    """A row halfway between two clusters belongs to both, and rows of a cluster to theirs."""
    generator = np.random.default_rng(7)
    centres = np.eye(16, dtype=np.float32)[:2]
    rows = np.repeat(centres, 20, axis=0) + generator.normal(0, 0.05, (40, 16))
    rows = np.vstack([rows, [[1.0, 0.9, *[0.0] * 14]]])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    soft = HdbscanGrouping().soft_groups(rows.astype(np.float32))

    assert soft.shares.shape == (41, 2)
    assert len(set(soft.shares[:20].argmax(axis=1).tolist())) == 1
    assert len(set(soft.shares[20:40].argmax(axis=1).tolist())) == 1
    assert soft.shares[40].min() > soft.shares[:40].min(axis=1).max()
    assert soft.outliers[40] > np.median(soft.outliers[:40])


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_rows_have_no_soft_membership(count: int) -> None:
    """There is no cluster that they could belong to."""
    soft = HdbscanGrouping().soft_groups(vectors(*ADDED[:count]))

    assert soft.shares.shape == (count, 0)
    assert soft.outliers.shape == (count,)


def test_identical_rows_are_the_middle_of_their_cluster() -> None:
    """An infinite density divides by zero nowhere."""
    soft = HdbscanGrouping().soft_groups(np.repeat(np.eye(3, dtype=np.float32), 8, axis=0))

    assert np.isfinite(soft.shares).all()
    assert np.isfinite(soft.outliers).all()
    assert soft.shares.max(axis=1) == pytest.approx(1, abs=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(5, 40))
def test_soft_shares_are_probabilities(seed: int, count: int) -> None:
    """Each from 0 to 1, those of a row at most 1 together."""
    rows = np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    soft = HdbscanGrouping().soft_groups(rows)

    assert np.all((soft.shares >= 0) & (soft.shares <= 1 + 1e-6))
    assert np.all(soft.shares.sum(axis=1) <= 1 + 1e-5)
    assert np.all((soft.outliers >= 0) & (soft.outliers <= 1 + 1e-6))
