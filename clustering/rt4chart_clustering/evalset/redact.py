"""Redacts a case: personal data is masked or hashed, and the claims keep their ranges."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher

from otel_rt4chart.redaction import Redactor
from rt4chart_clustering.evalset.case import EvalCase, LabelledClaim, case_id


def redact_case(case: EvalCase, redactor: Redactor) -> EvalCase:
    """The case with every text redacted, and the claims' ranges mapped to the redacted answer.

    The answer is redacted as a whole: a pattern may reach across the end of a claim.
    """
    if not redactor.is_on:
        return case
    before, exchange = case.exchange.answer, redactor.exchange(case.exchange)
    places = RangeMap(before, exchange.answer)
    claims = (
        LabelledClaim(redactor.text(one.text), one.label, *places.of(one.start, one.end))
        for one in case.claims
    )
    reference = redactor.text(case.reference) if case.reference else ""
    return replace(
        case,
        id=case_id(exchange),
        exchange=exchange,
        claims=tuple(claims),
        reference=reference,
    )


class RangeMap:
    """Maps ranges of a text to the text after redaction."""

    def __init__(self, before: str, after: str) -> None:
        """The texts are aligned once, for all ranges."""
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        self._parts = [] if before == after else matcher.get_opcodes()

    def of(self, start: int, end: int) -> tuple[int, int]:
        """The range of what replaced `before[start:end]`; a replacement is never cut."""
        if not self._parts:
            return start, end
        return self._place(start, is_end=False), self._place(end, is_end=True)

    def _place(self, at: int, *, is_end: bool) -> int:
        for tag, before, before_end, after, after_end in self._parts:
            is_here = before < at <= before_end if is_end else before <= at < before_end
            if is_here and tag == "equal":
                return after + at - before
            if is_here:
                return after_end if is_end else after
        return self._parts[-1][4] if at else 0
