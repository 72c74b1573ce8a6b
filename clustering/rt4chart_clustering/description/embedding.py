"""Embedders: texts to vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from otel_rt4chart.judges.embedded_models import build_embedder as build_encoder
from otel_rt4chart.verify.neural.local_embedder import LocalEmbedder

Matrix = NDArray[np.float32]
# scikit-learn takes 1.6 s of CPU to import, and most commands embed nothing: it is imported where
# it is used. A command without it still fails at the start, with what to install.
if find_spec("sklearn") is None:
    raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")


class TextEmbedder(Protocol):
    """Turns each text into a vector of length 1 with `width` numbers."""

    @property
    def id(self) -> str:
        """Name and version. Vectors of different ids must not be compared."""

    @property
    def width(self) -> int:
        """The number of columns."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row a text, of length 1; a text without words is a row of zeros."""


class HashingEmbedder:
    """Hashed words, word pairs and character n-grams.

    It knows no synonyms, but it needs no model and its vectors never change.
    """

    id = "hashing/1"
    width = 256

    def __init__(self) -> None:
        """Nothing is fitted, so that equal texts have equal vectors in every run."""
        from sklearn.feature_extraction.text import HashingVectorizer

        self._words = HashingVectorizer(n_features=self.width, ngram_range=(1, 2), dtype=np.float32)
        self._pieces = HashingVectorizer(
            n_features=self.width, analyzer="char_wb", ngram_range=(3, 5), dtype=np.float32
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of hashed counts, in which words and n-grams have equal weight."""
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        rows: Matrix = (self._words.transform(texts) + self._pieces.transform(texts)).toarray()
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        return rows


class MeaningEmbedder:
    """The vectors of the embedded encoder."""

    def __init__(self, encoder: LocalEmbedder) -> None:
        """`encoder` may be shared."""
        self._encoder = encoder
        self.id = encoder.id
        self.width = encoder.width

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of the encoder; a text without words is a row of zeros."""
        rows = np.zeros((len(texts), self.width), dtype=np.float32)
        worded = [at for at, text in enumerate(texts) if re.search(r"\w", text)]
        if worded:
            rows[worded] = self._encoder.embed([texts[at] for at in worded])
        return rows


def build_embedder(name: str) -> TextEmbedder:
    """The embedder `local` or `hashing`; SettingsError says what to install for `local`."""
    return MeaningEmbedder(build_encoder()) if name == "local" else HashingEmbedder()
