"""From what a model gives for each premise to one judgement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from otel_rt4chart.verify.model import Judgement, Label
from otel_rt4chart.verify.neural.labels import Odds
from otel_rt4chart.verify.neural.premise import Reading


class Read(NamedTuple):
    """A premise that was read, and what the model gave for it."""

    reading: Reading
    odds: Odds

    @property
    def is_alone(self) -> bool:
        """True for one sentence, or a piece of it."""
        return len(self.reading.sentences) == 1


def decide(read: Sequence[Read], threshold: float) -> Judgement:
    """The likelier of what the premises say for the claim and against it; else it is baseless.

    A premise speaks for the claim where entailed is its likeliest label or, with a threshold, at
    least that likely; against it where contradicted is the likeliest.
    """
    speaking_for = [one for one in read if _entails(one.odds, threshold)]
    against = [one for one in read if one not in speaking_for and _contradicts(one.odds)]
    entailed = max((one.odds.entailed for one in speaking_for), default=0.0)
    contradicted = max((one.odds.contradicted for one in against), default=0.0)
    if speaking_for and entailed >= contradicted:
        return _supported(Label.ENTAILED, speaking_for)
    if against:
        return _supported(Label.CONTRADICTED, against)
    return Judgement(
        Label.BASELESS,
        confidence=min(one.odds.baseless for one in read),
        reason=f"of {_count(read)} none entails or contradicts it: P(entailed) is at most "
        f"{max(one.odds.entailed for one in read):.2f}",
    )


def _entails(odds: Odds, threshold: float) -> bool:
    if threshold:
        return odds.entailed >= threshold
    return odds.entailed > odds.baseless and odds.entailed >= odds.contradicted


def _contradicts(odds: Odds) -> bool:
    return odds.contradicted > max(odds.entailed, odds.baseless)


def _supported(label: Label, agreeing: Sequence[Read]) -> Judgement:
    """The sentences that agree alone are its evidence, best first; else those read together."""

    def probability(one: Read) -> float:
        return one.odds.entailed if label is Label.ENTAILED else one.odds.contradicted

    ordered = sorted(agreeing, key=probability, reverse=True)
    evidence = [one for one in ordered if one.is_alone] or ordered[:1]
    best = ordered[0]
    by = "one sentence" if best.is_alone else f"{len(best.reading.sentences)} sentences together"
    return Judgement(
        label,
        tuple(dict.fromkeys(index for one in evidence for index in one.reading.sentences)),
        probability(best),
        f"P({label}) is {probability(best):.2f} by {by}",
    )


def _count(read: Sequence[Read]) -> str:
    indices = {index for one in read for index in one.reading.sentences}
    return "1 sentence" if len(indices) == 1 else f"{len(indices)} sentences"
