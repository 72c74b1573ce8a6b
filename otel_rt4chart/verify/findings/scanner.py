"""The bounded search of single passages for what contradicts or supports a claim."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.meter import TOO_LARGE, Meter
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Chunk,
    Claim,
    DraftClaim,
    Judgement,
    Label,
    Sentence,
)

_SENTENCES = 25  # of one comparison, as many as a chunk has
# About 5 ms each. An answer of 20 claims with a citation each makes 20 in a passage of a page.
MAX_SCANS = 1_000


class ScanLimitError(Exception):
    """The search has made all its comparisons, or its time is over."""


class BoundedScanner:
    """Judges single claims by some sentences until it has made `most` comparisons.

    The comparisons of all its searches count together.
    """

    def __init__(self, judge: Judge, meter: Meter | None = None, *, most: int = MAX_SCANS) -> None:
        """`meter` says when the time of the answer is over."""
        self._judge = judge
        self._most = most
        self._meter = meter or Meter()
        self._made = 0

    def judge_one(self, claim: Claim, sentences: Sequence[Sentence], question: str) -> Judgement:
        """The judgement of one claim by these sentences alone; undecided if the judge fails.

        ScanLimitError at the limit.
        """
        self._made += -(-len(sentences) // _SENTENCES)
        if self._made > self._most:
            raise ScanLimitError(f"{TOO_LARGE}: more than {self._most:,} comparisons for findings")
        if self._meter.is_late:
            raise ScanLimitError(self._meter.late_reason)
        draft = DraftClaim(claim.text, claim.sentence, AnswerRange(*claim.answer_range), claim.kind)
        try:
            (judgement,) = self._judge.assess(
                [draft], Chunk(0, tuple(sentences)), question=question
            )
        except (JudgeError, ValueError) as error:
            return Judgement(Label.UNDECIDED, reason=str(error))
        return judgement
