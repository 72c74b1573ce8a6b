"""What a judge of whole answers says of one: a label and a score, without claims or places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Usage


@dataclass(frozen=True, slots=True)
class HolisticVerdict:
    """A verdict on an answer as a whole.

    `score` is from 0 to 1, the more the likelier the answer is wrong; None where there is no
    verdict, for which `reason` says why.
    """

    label: AnswerLabel
    score: float | None
    reason: str = ""
    usage: Usage = field(default_factory=Usage)


class Rival(Protocol):
    """A detector that is compared; it may call an endpoint, and blocks until it has a verdict."""

    @property
    def id(self) -> str:
        """The method, its model and the versions of its prompts."""

    def verify(self, exchange: Exchange) -> HolisticVerdict:
        """The verdict on one answer; a failure of the endpoint is a verdict without a score."""


def verdict_of(score: float, threshold: float, usage: Usage) -> HolisticVerdict:
    """Baseless above the threshold, else entailed: these methods tell no contradiction apart."""
    label = AnswerLabel.BASELESS if score > threshold else AnswerLabel.ENTAILED
    return HolisticVerdict(label, score, usage=usage)


def no_verdict(reason: object, usage: Usage) -> HolisticVerdict:
    """Undecided, with the reason."""
    return HolisticVerdict(AnswerLabel.UNDECIDED, None, str(reason), usage)
