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
    """Words, word pairs and pieces of words, hashed: lexical only.

    It knows no synonyms; in return it needs no model, fits nothing, and never changes.
    """

    id = "hashing/1"
    width = 256

    def __init__(self) -> None:
        """Nothing is fitted: equal texts have equal vectors in every run."""
        self._words = HashingVectorizer(n_features=self.width, ngram_range=(1, 2), dtype=np.float32)
        self._pieces = HashingVectorizer(
            n_features=self.width, analyzer="char_wb", ngram_range=(3, 5), dtype=np.float32
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of hashed counts, words and pieces of words weighing the same."""
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        rows: Matrix = (self._words.transform(texts) + self._pieces.transform(texts)).toarray()
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        return rows
