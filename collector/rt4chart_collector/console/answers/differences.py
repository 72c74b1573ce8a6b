"""Claims about the same text that two verifiers label differently."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import AnswerRange, Label
from rt4chart_collector.store.answers.claims import ClaimOutline

MAX_DIFFERENCES = 20


@dataclass(frozen=True, slots=True)
class LabelDifference:
    """A claim, and the other verifier's claim about the same text with a different label."""

    index: int
    label: str
    other_index: int
    other_label: str


def differences(
    ours: Sequence[ClaimOutline], theirs: Sequence[ClaimOutline]
) -> list[LabelDifference]:
    """At most `MAX_DIFFERENCES` claims that the other verifier labels differently, worst first.

    Each verifier splits an answer into claims differently, so claims are matched by the text that
    they share: an unfaithful claim marks a narrow range within that of an entailed one.
    """
    ordered = sorted((claim for claim in theirs if _is_claim(claim)), key=_range)
    starts = [claim.answer_range.start for claim in ordered]
    found: list[LabelDifference] = []
    for claim in filter(_is_claim, ours):
        place = bisect_left(starts, claim.answer_range.start)
        other = _about_the_same(
            claim, ordered[max(place - MAX_DIFFERENCES, 0) : place + MAX_DIFFERENCES]
        )
        if other is not None and other.label is not claim.label:
            found.append(
                LabelDifference(claim.index, claim.label.value, other.index, other.label.value)
            )
    found.sort(key=lambda difference: (not _is_bad(difference), difference.index))
    return found[:MAX_DIFFERENCES]


def _about_the_same(claim: ClaimOutline, near: Sequence[ClaimOutline]) -> ClaimOutline | None:
    """The other verifier's claim that shares the most text."""
    start, end = claim.answer_range

    def common(other: ClaimOutline) -> int:
        return min(end, other.answer_range.end) - max(start, other.answer_range.start)

    best = max(near, key=common, default=None)
    return best if best is not None and common(best) > 0 else None


def _is_claim(claim: ClaimOutline) -> bool:
    return claim.label is not Label.NOT_A_CLAIM


def _range(claim: ClaimOutline) -> AnswerRange:
    return claim.answer_range


def _is_bad(difference: LabelDifference) -> bool:
    return any(Label(label).is_unfaithful for label in (difference.label, difference.other_label))
