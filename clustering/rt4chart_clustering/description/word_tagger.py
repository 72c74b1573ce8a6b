"""Word taggers: which words of a claim look wrong beside its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.model import Clash
from otel_rt4chart.verify.neural.cross_encoder import CrossEncoder, marked_runs
from otel_rt4chart.verify.neural.model_folder import model_folder

# Runs of words with at least this share of the highest probability count, and at most so many.
_SHARE, _MOST = 0.8, 3
_EVIDENCE = 4_000  # characters: more than the network can read


class WordTagger(Protocol):
    """Finds the words of a claim that its evidence does not support."""

    def tag(self, claim: str, evidence: Sequence[str]) -> tuple[Clash, ...]:
        """Runs of words as `term` clashes without a counterpart, the most probable first."""


class CrossEncoderTagger:
    """The tags of the embedded cross-encoder.

    On edited summaries, the most probable word is an edited one for 63% of the claims. A call
    blocks for about 20 ms.
    """

    def __init__(self, folder: Path | None = None, *, threads: int = 0) -> None:
        """Open the model of the package rt4chart-models; SettingsError says what is missing."""
        self._network = CrossEncoder(folder or model_folder(), threads=threads)

    def tag(self, claim: str, evidence: Sequence[str]) -> tuple[Clash, ...]:
        """Empty if claim and evidence do not fit the network, or the model fails."""
        fitting = " ".join(_fitting(self._network, claim, evidence))
        if not fitting:
            return ()
        try:
            (read,) = self._network.read([(claim, fitting)])
        except JudgeError:
            return ()
        highest = max((mark.probability for mark in read.marks), default=0.0)
        runs = marked_runs(claim, read.marks, highest * _SHARE)
        return tuple(Clash("term", words) for words in runs[:_MOST])


def _fitting(network: CrossEncoder, claim: str, evidence: Sequence[str]) -> Iterator[str]:
    """The texts, in order, that the network can read together with the claim."""
    held = ""
    for text in evidence:
        longer = f"{held} {text[:_EVIDENCE]}".strip()
        if network.length(claim, longer) <= network.longest:
            held = longer
            yield text[:_EVIDENCE]
