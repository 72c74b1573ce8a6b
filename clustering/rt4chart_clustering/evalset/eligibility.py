"""Which exchanges can become cases: those whose texts are stored completely."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.core.semconv import REDACTED
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify.core.model import Exchange

GONE = "answer_gone"
INELIGIBLE_REASONS: Mapping[str, str] = {
    GONE: "the spans of the answer are no longer stored",
    Decision.NO_CONTENT: "the spans have no question or no answer",
    Decision.NO_CONTEXT: "there are no passages",
    Decision.REDACTED: "a text was redacted before the spans were stored",
    Decision.TRUNCATED: "the spans hold only a part of the texts",
}


def ineligible_exchange(exchange: Exchange) -> str:
    """Why an exchange cannot be a case, as a key of `INELIGIBLE_REASONS`; empty if it can."""
    texts = (exchange.question, exchange.answer, *(one.text for one in exchange.passages))
    return str(Decision.REDACTED) if REDACTED in texts else ""


def ineligible_answer(candidate: Candidate | None) -> str:
    """The same for an answer as its spans record it; None if they are no longer stored."""
    if candidate is None:
        return GONE
    return (
        str(candidate.blocked)
        if candidate.blocked is not None
        else ineligible_exchange(candidate.exchange)
    )
