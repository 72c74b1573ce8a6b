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
