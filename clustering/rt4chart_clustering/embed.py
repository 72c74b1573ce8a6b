"""Texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer

Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Makes a unit row of `width` numbers of each text; `id` names the space they lie in."""

    @property
    def id(self) -> str:
        """Name and version: vectors under different ids must not be compared."""

    @property
    def width(self) -> int:
        """The number of columns."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row a text, of length 1; a text without words is a row of zeros."""


class HashingEmbedder:
    """Words and word pairs, hashed: lexical only, but it needs no model and never changes."""

    id = "hashing/1"
    width = 256

    def __init__(self) -> None:
        """Nothing is fitted: equal texts have equal vectors in every run."""
        self._hashing = HashingVectorizer(
            n_features=self.width, ngram_range=(1, 2), norm="l2", dtype=np.float32
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of hashed counts."""
        rows: Matrix = self._hashing.transform(texts).toarray()
        return rows
