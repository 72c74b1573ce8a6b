"""A running token classifier: which characters of an answer its passages do not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.neural.model_folder import ModelFolder
from otel_rt4chart.verify.neural.pair_classifier import (
    LabelMap,
    LabelProbabilities,
    check_width,
    normalised,
)
from otel_rt4chart.verify.neural.runtime import ModelInput, ModelSource, Runtime

LONGEST = 4_096  # tokens of prompt and answer; the detectors of RAGTruth were trained up to here
_OUTPUT = "logits"
_EXPORT_AGAIN = "export it for token classification, with dynamic axes (docs/deploy/judges.md)"


@dataclass(frozen=True, slots=True)
class TokenReading:
    """A token of the answer, `answer[start:end]`, its label, and the labels' probabilities."""

    start: int
    end: int
    label: Label
    odds: LabelProbabilities


class FlaggedRange(NamedTuple):
    """Characters of the answer that no passage supports, `answer[start:end]`.

    `probability` is the highest among its tokens, of not being supported.
    """

    start: int
    end: int
    label: Label
    probability: float


class SpanClassifier:
    """Reads a prompt with an answer, and gives each token of the answer its label.

    Threads may share it. Nothing is cut: callers measure with `length`, and what is too long is
    refused. `longest` is the most tokens of prompt and answer together.
    """

    def __init__(
        self, folder: ModelFolder, labels: LabelMap, *, threads: int = 0, threshold: float = 0.0
    ) -> None:
        """Open the model and run it once; `threads` 0 stands for all cores, 4 at most.

        A token is supported from P(entailed) `threshold` on; 0 takes the likeliest label.
        """
        pad = folder.config.get("pad_token_id")
        source = ModelSource(
            owner="an onnx-spans judge",
            model=folder.model,
            tokenizer=folder.tokenizer,
            outputs=(_OUTPUT,),
            remedy=_EXPORT_AGAIN,
            pad=pad if isinstance(pad, int) else 0,
        )
        self._runtime = Runtime(source, threads=threads)
        self._labels, self._threshold = labels, threshold
        self.longest = min(LONGEST, folder.positions, self._runtime.limit or LONGEST)
        try:
            encoded = self._runtime.encode("a", "a")
            width = len(self._runtime.run_tokens(ModelInput(encoded.ids, encoded.type_ids))[0])
        except JudgeError as error:
            raise SettingsError(f"{error}; {_EXPORT_AGAIN}") from error
        check_width(labels, width)

    def length(self, prompt: str, answer: str) -> int:
        """The tokens of prompt and answer, special tokens included."""
        return len(self._runtime.encode(prompt, answer))

    def read(self, prompt: str, answer: str) -> list[TokenReading]:
        """The tokens of the answer in order, without those of no character.

        JudgeError where the two are too long or the model fails.
        """
        encoded = self._runtime.encode(prompt, answer)
        if len(encoded) > self.longest:
            raise JudgeError(f"expected at most {self.longest} tokens, got {len(encoded)}")
        rows = self._runtime.run_tokens(ModelInput(encoded.ids, encoded.type_ids))
        return [
            self._reading(start, end, row)
            for (start, end), sequence, row in zip(
                encoded.offsets, encoded.sequence_ids, rows, strict=True
            )
            if sequence == 1 and start < end
        ]

    def _reading(self, start: int, end: int, logits: Sequence[float]) -> TokenReading:
        odds = self._labels.odds(normalised(logits))
        unsupported = max(odds.contradicted, odds.baseless)
        is_supported = (
            odds.entailed >= self._threshold if self._threshold else odds.entailed >= unsupported
        )
        if is_supported:
            return TokenReading(start, end, Label.ENTAILED, odds)
        is_denied = odds.contradicted > odds.baseless
        return TokenReading(start, end, Label.CONTRADICTED if is_denied else Label.BASELESS, odds)


def best_supported(left: TokenReading, right: TokenReading) -> TokenReading:
    """Of two readings of one token with different passages, the one that counts.

    Support by some passages is enough, as in the join of chunks: most windows are about other
    things. Without support a contradiction outweighs the rest.
    """
    return max(left, right, key=_weight)


def _weight(token: TokenReading) -> tuple[int, float]:
    match token.label:
        case Label.ENTAILED:
            return 2, token.odds.entailed
        case Label.CONTRADICTED:
            return 1, token.odds.contradicted
        case _:
            return 0, token.odds.entailed


def flagged_ranges(answer: str, tokens: Sequence[TokenReading]) -> Iterator[FlaggedRange]:
    """The runs of neighbouring tokens with one label that is not entailed, without edge space."""
    for label, run in groupby(tokens, key=lambda token: token.label):
        if label is Label.ENTAILED:
            continue
        found = list(run)
        start, end = stripped(answer, found[0].start, found[-1].end)
        if start < end:
            yield FlaggedRange(start, end, label, max(1.0 - one.odds.entailed for one in found))


def stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without the white space at its edges; empty where there is nothing else."""
    part = text[start:end]
    left = start + len(part) - len(part.lstrip())
    return left, max(left, start + len(part.rstrip()))
