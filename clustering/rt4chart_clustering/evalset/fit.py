"""Which exchanges can be cases: those that tell what the passages said."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.core.semconv import REDACTED
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify.core.model import Exchange

GONE = "answer_gone"
WORDS: Mapping[str, str] = {
    GONE: "the answer's spans are stored no more",
    Decision.NO_CONTENT: "the spans have no question or no answer",
    Decision.NO_CONTEXT: "there are no passages",
    Decision.REDACTED: "a text was taken out of the spans before they were stored",
    Decision.TRUNCATED: "the spans hold a part of the texts alone",
}


def unfit(exchange: Exchange) -> str:
    """Why an exchange cannot be a case, as a decision's name; empty where it can."""
    texts = (exchange.question, exchange.answer, *(one.text for one in exchange.passages))
    return str(Decision.REDACTED) if REDACTED in texts else ""


def unfit_answer(candidate: Candidate | None) -> str:
    """The same of an answer as its spans tell it, None where they are gone."""
    if candidate is None:
        return GONE
    return str(candidate.blocked) if candidate.blocked is not None else unfit(candidate.exchange)
