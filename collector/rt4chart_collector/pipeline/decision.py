"""What is done with one answer: verified or left with a reason, then stored crash-safe."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from otel_rt4chart.judges.answer_verdicts import (
    Clock,
    error_verdict,
    unverified_verdict,
    verify_candidate,
)
from otel_rt4chart.sampling import is_sampled
from otel_rt4chart.spans.exchange.carrier import carrier_ids, carrier_span
from otel_rt4chart.spans.exchange.exchanges import find_candidates, linked_trace_ids
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.store.answers.dead_letters import insert_letters
from rt4chart_collector.store.answers.spans import insert_spans, spans_of
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client


def answers_in(client: Client, spans: Sequence[SpanRecord]) -> Sequence[Candidate]:
    """A trace's answers; linked traces are read where an answer has no context of its own."""
    found = find_candidates(spans)
    if any(candidate.blocked is Decision.NO_CONTEXT for candidate in found) and (
        wanted := linked_trace_ids(spans)
    ):
        return find_candidates(spans, spans_of(client, sorted(wanted)))
    return found


log = logging.getLogger(__name__)


def chosen(candidate: Candidate, rate: float) -> tuple[bool, float]:
    """Whether the answer is in the sample, and with which probability it came in.

    The application's own mark wins; `rate` is for answers that carry none.
    """
    known = rate if candidate.sample_rate is None else candidate.sample_rate
    if candidate.sampled is None:
        known = min(max(known, 0.0), 1.0)
        return is_sampled(candidate.trace_id, known), known
    if candidate.sample_rate is None or not 0 < candidate.sample_rate <= 1:
        # Marked without saying how it was drawn: it stands for itself.
        return candidate.sampled, 1.0
    return candidate.sampled, candidate.sample_rate


def needs_judge(candidate: Candidate, rate: float) -> bool:
    """Whether deciding on the answer takes a judge."""
    return candidate.blocked is None and chosen(candidate, rate)[0]


def decide(
    candidate: Candidate,
    verifier: Verifier,
    *,
    rate: float,
    clock: Clock,
    strict: bool = False,
) -> Verdict:
    """The verdict on one answer; a failure is a verdict too, with its error, never an exception."""
    is_chosen, probability = chosen(candidate, rate)
    judge = verifier.judge.id
    if candidate.blocked is not None or not is_chosen:
        # The application may know better why: a limit on the verified answers, or on their cost.
        decision = candidate.blocked or candidate.decision_hint or Decision.NOT_SAMPLED
        return unverified_verdict(
            candidate, decision, verifier=judge, rate=probability, now_ns=clock()
        )
    return judged(candidate, verifier, rate=probability, clock=clock, strict=strict)


def judged(
    candidate: Candidate, verifier: Verifier, *, rate: float, clock: Clock, strict: bool = False
) -> Verdict:
    """The judge's verdict on an answer that came in with this probability; never an exception."""
    try:
        return verify_candidate(candidate, verifier, rate=rate, clock=clock, strict=strict)
    except Exception as error:  # noqa: BLE001 - one bad answer must not stop the others
        where = "answer %s of trace %s: %s"
        log.error(where, candidate.span_id, candidate.trace_id, redacted_error(error))
        return error_verdict(
            candidate, error, verifier=verifier.judge.id, rate=rate, now_ns=clock()
        )


def save(client: Client, outcomes: Sequence[AnswerOutcome], version: str) -> None:
    """Store the outcomes; `version` is this package's, for the carriers.

    Letters come first, for an answer with a decision and no letter would not be tried again; then
    the carriers, and the verifications, which make an answer decided; last, the letters that are
    answered are taken away.
    """
    insert_letters(client, [outcome.letter for outcome in outcomes if outcome.letter is not None])
    verdicts = [outcome.verdict for outcome in outcomes if outcome.verdict is not None]
    told = [
        outcome.verdict
        for outcome in outcomes
        if outcome.has_carrier and outcome.verdict is not None
    ]
    insert_spans(client, [_carrier(verdict, version) for verdict in told])
    insert_verdicts(client, verdicts)
    insert_letters(
        client, (), settled=[outcome.settled for outcome in outcomes if outcome.settled is not None]
    )


def _carrier(verdict: Verdict, version: str) -> SpanRecord:
    trace_id, span_id = carrier_ids(verdict)
    return carrier_span(verdict, trace_id=trace_id, span_id=span_id, version=version)
