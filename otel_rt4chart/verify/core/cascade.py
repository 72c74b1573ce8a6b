"""Two judges in a row: the cheap one first, the other one where it is not sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.judge import BatchJudge, Hint, Judge, is_remote
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Sentence

# Of 1,440 dev claims 40% go on, and 20% of the kept verdicts are wrong (benchmarks/judge.py).
THRESHOLD = 0.7


class Tier(NamedTuple):
    """A judge, and the confidence under which its verdict goes on to the next one."""

    judge: Judge | BatchJudge
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class CascadeJudge:
    """`first` judges every claim; those under `threshold`, and the undecided, go to `second`.

    Where `second` cannot decide one, it is undecided with that reason: the first judge's word was
    not good enough. Alone, outside the pipeline, it answers as `first` does.
    """

    first: Judge
    second: Judge | BatchJudge
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        """Refuse what could not escalate a claim."""
        if not 0.0 <= self.threshold <= 1.0:
            raise SettingsError(f"cascade threshold: expected 0 to 1, got {self.threshold}")
        if isinstance(self.first, BatchJudge | CascadeJudge):
            raise SettingsError(
                f"the first judge of a cascade is {self.first.id}: "
                "expected one that answers in this process, such as local"
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
        """Both judges and the threshold: another one gives other verdicts."""
        return f"cascade({self.first.id},{self.second.id},{self.threshold:g})"

    @property
    def is_remote(self) -> bool:
        """True where either sends texts out of this process."""
        return is_remote(self.first) or is_remote(self.second)

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The first judge's claims."""
        return self.first.decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """The first judge's word on one chunk."""
        return self.first.assess(claims, chunk, question=question)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The first judge's word on the whole context."""
        return self.first.resolve(claims, context, hint=hint, question=question)


def tiers(judge: Judge | BatchJudge, *, strict: bool) -> tuple[Tier, ...]:
    """The judges in the order in which they are asked; `strict` leaves the first one out."""
    if not isinstance(judge, CascadeJudge):
        return (Tier(judge),)
    last = Tier(judge.second)
    return (last,) if strict else (Tier(judge.first, judge.threshold), last)


def threshold_for_share(confidences: Sequence[float], share: float) -> float:
    """The threshold that escalates about this share of claims with such confidences."""
    _check("share", share)
    ordered = sorted(confidences)
    at = round(share * len(ordered))
    return 1.0 if at >= len(ordered) else ordered[at]


def threshold_for_error(judged: Sequence[tuple[float, bool]], error: float) -> float:
    """The lowest threshold at which at most this share of the kept verdicts is wrong.

    `judged` holds (confidence, was right) of labelled claims; 1.0 where no threshold is enough.
    """
    _check("error", error)
    best, wrong = 1.0, 0
    ordered = sorted(judged, reverse=True)
    for kept, (confidence, is_right) in enumerate(ordered, start=1):
        wrong += not is_right
        tied = kept < len(ordered) and ordered[kept][0] == confidence
        if not tied and wrong <= error * kept:
            best = confidence
    return best


def _check(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name}: expected 0 to 1, got {value}")
