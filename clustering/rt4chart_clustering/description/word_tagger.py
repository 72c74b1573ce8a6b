"""Which words of a claim look wrong beside its evidence, where the judge did not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.model import Clash
from otel_rt4chart.verify.neural.cross_encoder import CrossEncoder, Mark
from otel_rt4chart.verify.neural.model_folder import model_folder

# Runs of words whose surest one is at least this share as sure as the surest of all.
_SHARE = 0.8
_MOST = 3
_EVIDENCE = 4_000  # characters: more than fit the network


class Spotter(Protocol):
    """Finds the words of a claim that its evidence does not bear out."""

    def spot(self, claim: str, evidence: Sequence[str]) -> tuple[Clash, ...]:
        """Runs of words as clashes of the slot `term` without a counterpart, the surest first."""


class CrossSpotter:
    """The embedded cross-encoder's marks: on edited summaries the surest word is an edited one for
    63% of the claims. A call blocks for the 20 ms or so that the network takes.
    """

    def __init__(self, folder: Path | None = None, *, threads: int = 0) -> None:
        """Open the model of the package rt4chart-models; SettingsError says what is missing."""
        self._network = CrossEncoder(folder or model_folder(), threads=threads)

    def spot(self, claim: str, evidence: Sequence[str]) -> tuple[Clash, ...]:
        """None where claim and evidence do not fit, or the model fails."""
        beside = _fitting(self._network, claim, evidence)
        if not beside:
            return ()
        try:
            (read,) = self._network.read([(claim, beside)])
        except JudgeError:
            return ()
        return tuple(Clash("term", words) for words in runs(claim, read.marks))


def runs(claim: str, marks: Sequence[Mark]) -> list[str]:
    """The surest runs of marked words, as the claim writes them."""
    surest = max((mark.probability for mark in marks), default=0.0)
    found: list[tuple[float, int, int]] = []
    for mark in marks:
        if mark.probability < surest * _SHARE:
            continue
        sure, start, end = found[-1] if found else (0.0, 0, -1)
        if found and not claim[end : mark.start].strip():
            found[-1] = (max(sure, mark.probability), start, mark.end)
        else:
            found.append((mark.probability, mark.start, mark.end))
    found.sort(key=lambda one: -one[0])
    return [claim[start:end] for _, start, end in found[:_MOST]]


def _fitting(network: CrossEncoder, claim: str, evidence: Sequence[str]) -> str:
    """As many of the texts, in their order, as the network reads beside the claim."""
    return " ".join(_taken(network, claim, evidence))


def _taken(network: CrossEncoder, claim: str, evidence: Sequence[str]) -> Iterator[str]:
    held = ""
    for text in evidence:
        longer = f"{held} {text[:_EVIDENCE]}".strip()
        if network.length(claim, longer) <= network.longest:
            held = longer
            yield text[:_EVIDENCE]
