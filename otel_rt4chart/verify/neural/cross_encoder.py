"""The embedded cross-encoder: it reads a claim with its evidence and marks wrong words."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.neural.model_folder import ModelFolder, identify
from otel_rt4chart.verify.neural.runtime import (
    Encoded,
    ModelInput,
    ModelSource,
    RecentCache,
    Runtime,
)

MODEL, TOKENIZER = "judge.onnx", "tokenizer.json"
LONGEST = 256  # tokens of claim and evidence, as in training
LONGEST_CLAIM = 203  # tokens of the claim, special ones included; training cuts longer claims
_CACHED_PAIRS, _CACHED_TOKENS = 4_096, 256
_DIGITS = 6
_METHOD = "1"  # part of the id: encoding pairs in another way gives other numbers
_EDGES = ".,;:!?…\"'“”‘’«»`()[]{}<>*_–—-"  # stripped from the edges of words

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WordMark:
    """A word, `claim[start:end]`, and the probability that it is wrong."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class NetworkReading:
    """The logarithms of the labels' probabilities, and a mark for every word of the claim."""

    entailed: float
    contradicted: float
    baseless: float
    marks: tuple[WordMark, ...]


class CrossEncoder:
    """Reads pairs of claim and evidence; threads may share it, a forked process opens it again.

    Nothing is cut: callers measure pairs with `length`, and one that is too long is refused. Each
    pair is run alone, up to `threads` at once, so its numbers do not depend on other pairs. Recent
    results are cached. A call blocks while the model computes.
    """

    longest = LONGEST

    def __init__(self, folder: Path, threads: int = 0) -> None:
        """Open judge.onnx and tokenizer.json there; SettingsError says what is wrong with it."""
        source = ModelSource(
            owner="the embedded judge",
            model=folder / MODEL,
            tokenizer=folder / TOKENIZER,
            outputs=("logits", "marks"),
            remedy="install rt4chart-models again",
        )
        self._runtime = Runtime(source, threads=threads, is_small=True)
        self._id = network_id(folder)
        self._known: RecentCache[Pair, NetworkReading] = RecentCache(_CACHED_PAIRS)
        # A pair is measured first, and read when all pairs of the answer are measured.
        self._tokens: RecentCache[Pair, Encoded] = RecentCache(_CACHED_TOKENS)

    @property
    def id(self) -> str:
        """A hash over model and tokenizer; with another id the numbers differ."""
        return self._id

    def length(self, claim: str, evidence: str) -> int:
        """The tokens of the pair; at most `longest` fit."""
        return len(self._encoded(claim, evidence))

    def read(self, pairs: Sequence[Pair]) -> list[NetworkReading]:
        """One result for each pair of claim and evidence, in order.

        JudgeError where a pair is too long or the model fails.
        """
        found = {pair: self._known.get(pair) for pair in pairs}
        strange = {pair: self._encoded(*pair) for pair, read in found.items() if read is None}
        if longest := max((len(one) for one in strange.values() if len(one) > LONGEST), default=0):
            raise JudgeError(f"expected claim and evidence of {LONGEST} tokens, got {longest}")
        given = self._runtime.run_each(
            [ModelInput(one.ids, one.type_ids) for one in strange.values()]
        )
        for (pair, encoded), (logits, marks) in zip(strange.items(), given, strict=True):
            found[pair] = self._known.put(pair, _network_reading(pair[0], encoded, logits, marks))
        return [read for pair in pairs if (read := found[pair])]

    def _encoded(self, claim: str, evidence: str) -> Encoded:
        known = self._tokens.get((claim, evidence))
        if known is not None:
            return known
        return self._tokens.put((claim, evidence), self._runtime.encode(claim, evidence))


def network_id(folder: Path) -> str:
    """The id of the network in this folder, which is read and not opened."""
    files = ModelFolder("", folder / MODEL, folder / TOKENIZER, {})
    return f"cross/{identify(files, _METHOD).digest}"


def marked_runs(claim: str, marks: Sequence[WordMark], at_least: float) -> list[str]:
    """Runs of neighbouring words marked with at least that probability, the most probable first."""
    runs: list[tuple[float, int, int]] = []
    for mark in marks:
        if mark.probability < at_least:
            continue
        sure, start, end = runs[-1] if runs else (0.0, 0, -1)
        if runs and not claim[end : mark.start].strip():
            runs[-1] = (max(sure, mark.probability), start, mark.end)
        else:
            runs.append((mark.probability, mark.start, mark.end))
    runs.sort(key=lambda one: -one[0])
    return [claim[start:end] for _, start, end in runs]


def _network_reading(
    claim: str, encoded: Encoded, logits: Sequence[float], marks: Sequence[float]
) -> NetworkReading:
    if (len(logits), len(marks)) != (3, len(encoded)):
        raise JudgeError(
            f"{MODEL}: expected 3 logits and {len(encoded)} marks, "
            f"got {len(logits)} and {len(marks)}"
        )
    return NetworkReading(*_logarithms(logits), tuple(_marks(claim, encoded, marks)))


def _logarithms(logits: Sequence[float]) -> tuple[float, float, float]:
    highest = max(logits)
    total = highest + math.log(sum(math.exp(one - highest) for one in logits))
    entailed, contradicted, baseless = (round(one - total, _DIGITS) for one in logits)
    return entailed, contradicted, baseless


def _marks(claim: str, encoded: Encoded, logits: Sequence[float]) -> Iterator[WordMark]:
    """The claim's words, each with the highest probability among its tokens."""
    words = [(one.start(), one.end()) for one in re.finditer(r"\S+", claim)]
    begins = [start for start, _ in words]
    found: dict[tuple[int, int], float] = {}
    for (left, right), sequence, logit in zip(
        encoded.offsets, encoded.sequence_ids, logits, strict=True
    ):
        if sequence != 0 or left == right:
            continue
        start, end = _within(claim, *words[bisect_right(begins, left) - 1])
        if left < end and start < right:
            found[start, end] = max(found.get((start, end), 0.0), _probability(logit))
    return (WordMark(start, end, most) for (start, end), most in sorted(found.items()))


def _within(claim: str, start: int, end: int) -> tuple[int, int]:
    """The word without the punctuation at its edges; empty where it is nothing else."""
    word = claim[start:end]
    start = end - len(word.lstrip(_EDGES))
    return start, max(start, start + len(word.strip(_EDGES)))


def _probability(logit: float) -> float:
    clipped = max(-60.0, min(60.0, logit))
    return round(1.0 / (1.0 + math.exp(-clipped)), _DIGITS)
