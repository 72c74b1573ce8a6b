"""Confidences that a deployment's own labels correct, and verdicts that are too unsure to count."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Claim, Label

_MARK = re.compile(r"\+c[1-9]\d*\Z")
Knots = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """From the confidence that a judge states to how often it is right then.

    It is linear between `knots`, which rise strictly in both coordinates and go from a confidence
    of 0 to one of 1, so that it can be turned round.
    """

    knots: Knots

    def __post_init__(self) -> None:
        """InputError for knots that do not rise strictly within [0, 1]."""
        stated, right = [x for x, _ in self.knots], [y for _, y in self.knots]
        rise = all(one < other for side in (stated, right) for one, other in pairwise(side))
        ends = len(stated) >= 2 and (stated[0], stated[-1]) == (0.0, 1.0)
        if not (rise and ends and right[0] >= 0 and right[-1] <= 1):
            raise InputError("expected knots that rise from 0 to 1")

    def at(self, confidence: float) -> float:
        """The share of right verdicts with this stated confidence."""
        return _interpolated([x for x, _ in self.knots], [y for _, y in self.knots], confidence)

    def stated(self, confidence: float) -> float:
        """The stated confidence that became this one."""
        return _interpolated([y for _, y in self.knots], [x for x, _ in self.knots], confidence)


@dataclass(frozen=True, slots=True)
class Recalibration:
    """A judge's confidences put right, by verdict; without a curve they stay.

    Verdicts with a stated confidence below the threshold of theirs become undecided. `number` is
    that of the version in the store, from 1 on.
    """

    number: int
    flagged: Curve | None = None
    entailed: Curve | None = None
    flagged_threshold: float = 0.0
    entailed_threshold: float = 0.0

    def id_of(self, judge: str) -> str:
        """The judge's id with this recalibration: its verdicts are another verifier's."""
        return f"{judge}+c{self.number}"

    def curve(self, *, is_flagged: bool) -> Curve | None:
        """The curve of flagged or of entailed claims."""
        return self.flagged if is_flagged else self.entailed

    def confidence(self, stated: float, *, is_flagged: bool) -> float:
        """The confidence that this one becomes."""
        curve = self.curve(is_flagged=is_flagged)
        return stated if curve is None else curve.at(stated)

    def stated(self, confidence: float, *, is_flagged: bool) -> float:
        """The judge's own confidence that became this one."""
        curve = self.curve(is_flagged=is_flagged)
        return confidence if curve is None else curve.stated(confidence)

    def claims(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """The claims with these confidences and verdicts."""
        return tuple(map(self._claim, claims))

    def _claim(self, claim: Claim) -> Claim:
        if not claim.label.is_decided or claim.confidence is None:
            return claim
        is_flagged = claim.label.is_unfaithful
        threshold = self.flagged_threshold if is_flagged else self.entailed_threshold
        confidence = self.confidence(claim.confidence, is_flagged=is_flagged)
        if claim.confidence >= threshold:
            return replace(claim, confidence=confidence)
        why = (
            f"{claim.label} with a confidence of {claim.confidence:.2f}, below the tested "
            f"threshold of {threshold:.2f}"
        )
        return replace(claim, label=Label.UNDECIDED, confidence=confidence, reason=why)


def judge_of(verifier: str) -> str:
    """The judge behind a verifier's id: without the mark of a recalibration."""
    return _MARK.sub("", verifier)


def number_of(verifier: str) -> int:
    """The number of the recalibration in a verifier's id; 0 without one."""
    found = _MARK.search(verifier)
    return int(found[0][2:]) if found else 0


def _interpolated(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    at = bisect_right(xs, x)
    share = (x - xs[at - 1]) / (xs[at] - xs[at - 1])
    return ys[at - 1] + share * (ys[at] - ys[at - 1])
