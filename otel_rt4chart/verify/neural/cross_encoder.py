"""The embedded cross-encoder: a claim read beside its evidence, with the words that look wrong."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.neural.model_folder import ModelFolder, identify
from otel_rt4chart.verify.neural.runtime import Encoded, Runtime, Source, Tokens
from otel_rt4chart.verify.neural.score_cache import Kept

MODEL, TOKENIZER = "judge.onnx", "tokenizer.json"
LONGEST = 256  # tokens of claim and evidence, as in training
LONGEST_CLAIM = 203  # of them, with those that frame it: in training what is beyond is cut
_KEPT = 4_096
_DIGITS = 6
_METHOD = "1"  # part of the id: another way to lay a pair before the model gives other numbers
_EDGES = ".,;:!?…\"'“”‘’«»`()[]{}<>*_–—-"  # no part of the word that they stand at

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mark:
    """A word of the claim by its characters, and how likely it is wrong."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class Read:
    """Logarithms of the three labels' probabilities, and every word of the claim with its own."""

    entailed: float
    contradicted: float
    baseless: float
    marks: tuple[Mark, ...]


class CrossEncoder:
    """Reads pairs of claim and evidence; threads may share it, a forked process opens it again.

    Nothing is cut: who asks sees by `length` what fits, and what does not is refused. Each pair is
    run alone, `threads` of them side by side, whoever asks: it is given the same whichever pairs
    are asked beside it. What was asked for lately is remembered. A call blocks while the model
    computes.
    """

    longest = LONGEST

    def __init__(self, folder: Path, threads: int = 0) -> None:
        """Open judge.onnx and tokenizer.json there; SettingsError says what is wrong with it."""
        source = Source(
            owner="the embedded judge",
            model=folder / MODEL,
            tokenizer=folder / TOKENIZER,
            outputs=("logits", "marks"),
            remedy="install rt4chart-models again",
        )
        self._runtime = Runtime(source, threads=threads, is_small=True)
        digest = identify(ModelFolder("", source.model, source.tokenizer, {}), _METHOD).digest
        self._id = f"cross/{digest}"
        self._known: Kept[Pair, Read] = Kept(_KEPT)

    @property
    def id(self) -> str:
        """A hash over model and tokenizer: under another id the numbers are others."""
        return self._id

    def length(self, claim: str, evidence: str) -> int:
        """The tokens of the pair as it would be read; `longest` of them fit."""
        return len(self._encoded(claim, evidence))

    def read(self, pairs: Sequence[Pair]) -> list[Read]:
        """One a pair of claim and evidence, in order.

        JudgeError where a pair is too long or the model fails.
        """
        found = {pair: self._known.get(pair) for pair in pairs}
        strange = {pair: self._encoded(*pair) for pair, read in found.items() if read is None}
        if longest := max((len(one) for one in strange.values() if len(one) > LONGEST), default=0):
            raise JudgeError(f"expected claim and evidence of {LONGEST} tokens, got {longest}")
        given = self._runtime.run_each([Tokens(one.ids, one.type_ids) for one in strange.values()])
        for (pair, encoded), (logits, marks) in zip(strange.items(), given, strict=True):
            found[pair] = self._known.put(pair, _read(pair[0], encoded, logits, marks))
        return [read for pair in pairs if (read := found[pair])]

    def _encoded(self, claim: str, evidence: str) -> Encoded:
        return self._runtime.encode(claim, evidence)


def marked_runs(claim: str, marks: Sequence[Mark], at_least: float) -> list[str]:
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


def _read(claim: str, encoded: Encoded, logits: Sequence[float], marks: Sequence[float]) -> Read:
    if (len(logits), len(marks)) != (3, len(encoded)):
        raise JudgeError(
            f"{MODEL}: expected 3 logits and {len(encoded)} marks, "
            f"got {len(logits)} and {len(marks)}"
        )
    return Read(*_logarithms(logits), tuple(_marks(claim, encoded, marks)))


def _logarithms(logits: Sequence[float]) -> tuple[float, float, float]:
    highest = max(logits)
    total = highest + math.log(sum(math.exp(one - highest) for one in logits))
    entailed, contradicted, baseless = (round(one - total, _DIGITS) for one in logits)
    return entailed, contradicted, baseless


def _marks(claim: str, encoded: Encoded, logits: Sequence[float]) -> Iterator[Mark]:
    """The claim's words, each with the most that one of its tokens has."""
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
    return (Mark(start, end, most) for (start, end), most in sorted(found.items()))


def _within(claim: str, start: int, end: int) -> tuple[int, int]:
    """The word without the punctuation at its edges; empty where it is nothing else."""
    word = claim[start:end]
    start = end - len(word.lstrip(_EDGES))
    return start, max(start, start + len(word.strip(_EDGES)))


def _probability(logit: float) -> float:
    clipped = max(-60.0, min(60.0, logit))
    return round(1.0 / (1.0 + math.exp(-clipped)), _DIGITS)
