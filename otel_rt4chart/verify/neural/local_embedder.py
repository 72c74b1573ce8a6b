"""The embedded encoder: texts to vectors on the CPU, without an endpoint."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.neural.model_folder import ModelFolder, identify
from otel_rt4chart.verify.neural.runtime import ModelInput, ModelSource, RecentCache, Runtime

MODEL, TOKENIZER = "encoder.onnx", "tokenizer.json"
WIDTH = 384
LONGEST = 256  # the tokens of one input in its training
_FRAME = 2  # [CLS] and [SEP]
_CACHED_TEXTS = 8_192  # vectors of 1.5 kB
_METHOD = "1"  # part of the id: another way to split or to average gives other vectors

Vector = tuple[float, ...]


class LocalEmbedder:
    """all-MiniLM-L6-v2 in int8, an `Embedder`: one unit vector of 384 numbers for each text.

    Each text is run alone, so the same text always gets the same vector: in a batch the last
    digits differ, for between a fifth more speed and a seventh less. A sentence of 25 tokens takes
    3.4 ms on one thread (7.5 in float32); the cosine with its float32 vector is .995 on average.

    A text of more than 256 tokens is read in windows, never cut: its vector is their mean, weighted
    by tokens. Recent vectors are cached. A call blocks while the model computes. Threads may share
    an embedder; a forked process opens the model again.
    """

    width = WIDTH
    is_remote = False

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """Open encoder.onnx and tokenizer.json there; SettingsError says what is wrong with it."""
        source = ModelSource(
            owner="the embedded encoder",
            model=folder / MODEL,
            tokenizer=folder / TOKENIZER,
            outputs=("vector",),
            remedy="install rt4chart-models again",
        )
        self._runtime = Runtime(source, threads=threads, is_small=True)
        digest = identify(ModelFolder("", source.model, source.tokenizer, {}), _METHOD).digest
        self._id = f"minilm-l6-v2/{digest}"
        self._known: RecentCache[str, bytes] = RecentCache(_CACHED_TEXTS)

    @property
    def id(self) -> str:
        """The model's name and hash; vectors with different ids are not comparable."""
        return self._id

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in order; JudgeError where the model fails."""
        known = {text: self._known.get(text) for text in texts}
        strange = [text for text, kept in known.items() if kept is None]
        for text, vector in zip(strange, self._computed(strange), strict=True):
            known[text] = self._known.put(text, array("f", vector).tobytes())
        return [tuple(memoryview(kept).cast("f")) for text in texts if (kept := known[text])]

    def _computed(self, texts: Sequence[str]) -> Iterator[list[float]]:
        windows = [list(_windows(self._runtime.encode(text).ids)) for text in texts]
        flat = [ModelInput(ids, [0] * len(ids)) for parts in windows for ids in parts]
        rows = iter(self._runtime.run_each(flat))
        for parts in windows:
            yield _mean([(len(ids) - _FRAME, _checked(*next(rows))) for ids in parts])


def _windows(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """The tokens in as few windows of similar length as fit, each with the special tokens."""
    first, inner, last = ids[0], ids[1:-1], ids[-1]
    count = max(1, math.ceil(len(inner) / (LONGEST - _FRAME)))
    bounds = [len(inner) * at // count for at in range(count + 1)]
    for start, end in pairwise(bounds):
        yield [first, *inner[start:end], last]


def _checked(vector: list[float]) -> list[float]:
    if len(vector) != WIDTH:
        raise JudgeError(f"{MODEL}: expected vectors of {WIDTH} numbers, got {len(vector)}")
    return vector


def _mean(weighted: Sequence[tuple[int, list[float]]]) -> list[float]:
    """The unit vector of the weighted mean; a single vector is returned as it is."""
    if len(weighted) == 1:
        return weighted[0][1]
    total = [0.0] * WIDTH
    for weight, vector in weighted:
        total = [a + weight * b for a, b in zip(total, vector, strict=True)]
    return _unit(total)


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else list(vector)
