"""A cascade of two judges: a cheap one first, a second one for its uncertain verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.judge import BatchJudge, Hint, Judge, is_remote
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Sentence

# Escalates 40% of 1,440 dev claims; of the verdicts it keeps, 20% are wrong (benchmarks/judge).
THRESHOLD = 0.7


class Tier(NamedTuple):
    """A judge, and the confidence below which its claims go to the next judge."""

    judge: Judge | BatchJudge
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class CascadeJudge:
    """`first` judges every claim; those below `threshold`, and the undecided, go to `second`.

    A claim that `second` cannot decide is undecided: the first verdict was not certain enough.
    Outside the pipeline a cascade answers as `first` does.
    """

    first: Judge
    second: Judge | BatchJudge
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        """SettingsError where a claim could not be escalated."""
        if not 0.0 <= self.threshold <= 1.0:
            raise SettingsError(f"cascade threshold: expected 0 to 1, got {self.threshold}")
        if isinstance(self.first, BatchJudge | CascadeJudge):
            raise SettingsError(
                f"the first judge of a cascade is {self.first.id}: expected one that answers in "
                "this process and claim by claim, such as local"
            )
        if isinstance(self.second, CascadeJudge):
            raise SettingsError(
                f"the second judge of a cascade is {self.second.id}: expected no other cascade"
            )
        if isinstance(self.second, BatchJudge) and self.second.one_call:
            raise SettingsError(
                f"{self.second.id} makes its own claims and cannot judge another judge's: "
                "expected a judge that verifies claim by claim, such as openai"
            )

    @property
    def id(self) -> str:
        """Both judges' ids and the threshold."""
        return f"cascade({self.first.id},{self.second.id},{self.threshold:g})"

    @property
    def is_remote(self) -> bool:
        """True where either judge sends texts out of this process."""
        return is_remote(self.first) or is_remote(self.second)

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The first judge's claims."""
        return self.first.decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """The first judge's judgements on one chunk."""
        return self.first.assess(claims, chunk, question=question)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The first judge's judgements on the whole context."""
        return self.first.resolve(claims, context, hint=hint, question=question)


def judge_tiers(judge: Judge | BatchJudge, *, strict: bool) -> tuple[Tier, ...]:
    """The judges in the order in which they are asked; `strict` skips a cascade's first one."""
    if not isinstance(judge, CascadeJudge):
        return (Tier(judge),)
    last = Tier(judge.second)
    return (last,) if strict else (Tier(judge.first, judge.threshold), last)


def threshold_for_share(confidences: Sequence[float], share: float) -> float:
    """The threshold that escalates about this share of claims with these confidences."""
    _check("share", share)
    ordered = sorted(confidences)
    at = round(share * len(ordered))
    return 1.0 if at >= len(ordered) else ordered[at]


def threshold_for_error(judged: Sequence[tuple[float, bool]], error: float) -> float:
    """The lowest threshold at which at most this share of the kept verdicts is wrong.

    `judged` has (confidence, is right) of labelled claims. 1.0 where no threshold is sufficient.
    """
    _check("error", error)
    best, wrong = 1.0, 0
    ordered = sorted(judged, reverse=True)
    for kept, (confidence, is_right) in enumerate(ordered, start=1):
        wrong += not is_right
        # A threshold keeps all verdicts of equal confidence, so it can only stand after the last.
        tied = kept < len(ordered) and ordered[kept][0] == confidence
        if not tied and wrong <= error * kept:
            best = confidence
    return best


def _check(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name}: expected 0 to 1, got {value}")
