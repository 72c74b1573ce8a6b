"""The decision on one answer: verify it or record the reason not to, then store it crash-safe."""

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
from rt4chart_collector.store.answers.spans import insert_spans, spans_of, stored_traces
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client

log = logging.getLogger(__name__)


def read_answers(client: Client, spans: Sequence[SpanRecord]) -> Sequence[Candidate]:
    """The answers of a trace; linked traces are read if an answer has no context of its own."""
    found = find_candidates(spans)
    if any(candidate.blocked is Decision.NO_CONTEXT for candidate in found) and (
        wanted := linked_trace_ids(spans)
    ):
        return find_candidates(spans, spans_of(client, sorted(wanted)))
    return found


def sampling_choice(candidate: Candidate, rate: float) -> tuple[bool, float]:
    """Whether the answer is in the sample, and its probability of being in it.

    The application's mark takes precedence; `rate` is for answers without one.
    """
    known = rate if candidate.sample_rate is None else candidate.sample_rate
    if candidate.sampled is None:
        known = min(max(known, 0.0), 1.0)
        return is_sampled(candidate.trace_id, known), known
    if candidate.sample_rate is None or not 0 < candidate.sample_rate <= 1:
        # The mark does not say how the answer was drawn, so it represents only itself.
        return candidate.sampled, 1.0
    return candidate.sampled, candidate.sample_rate


def needs_judge(candidate: Candidate, rate: float) -> bool:
    """True if the decision on the answer needs a judge."""
    return candidate.blocked is None and sampling_choice(candidate, rate)[0]


def decide(
    candidate: Candidate,
    verifier: Verifier,
    *,
    rate: float,
    clock: Clock,
    strict: bool = False,
) -> Verdict:
    """The verdict on one answer; a failure becomes a verdict with its error. Never raises."""
    is_chosen, probability = sampling_choice(candidate, rate)
    judge = verifier.judge.id
    if candidate.blocked is not None or not is_chosen:
        # The application may know a more precise reason: its limit on answers or on their cost.
        decision = candidate.blocked or candidate.decision_hint or Decision.NOT_SAMPLED
        return unverified_verdict(
            candidate, decision, verifier=judge, rate=probability, now_ns=clock()
        )
    return judge_candidate(candidate, verifier, rate=probability, clock=clock, strict=strict)


def judge_candidate(
    candidate: Candidate, verifier: Verifier, *, rate: float, clock: Clock, strict: bool = False
) -> Verdict:
    """The judge's verdict on an answer that was sampled with probability `rate`; never raises."""
    try:
        return verify_candidate(candidate, verifier, rate=rate, clock=clock, strict=strict)
    except Exception as error:  # noqa: BLE001 - one bad answer must not stop the others
        where = "answer %s of trace %s: %s"
        log.error(where, candidate.span_id, candidate.trace_id, redacted_error(error))
        return error_verdict(
            candidate, error, verifier=verifier.judge.id, rate=rate, now_ns=clock()
        )


def save_outcomes(client: Client, outcomes: Sequence[AnswerOutcome], version: str) -> None:
    """Store the outcomes; `version` is this package's, for the carrier spans.

    The order makes a crash at any point safe. Letters come first: an answer with a decision but
    without its letter would never be retried. The verifications come after the carrier spans, as
    they make an answer decided: an answer without one is found and verified again, and its carrier
    has the same ids, by which a stored one is recognized. The letters of answered retries are
    withdrawn last.
    """
    insert_letters(client, [outcome.letter for outcome in outcomes if outcome.letter is not None])
    carriers = []
    for outcome in outcomes:
        if outcome.verdict is not None and outcome.has_carrier:
            trace_id, span_id = carrier_ids(outcome.verdict)
            carriers.append(
                carrier_span(outcome.verdict, trace_id=trace_id, span_id=span_id, version=version)
            )
    stored = stored_traces(client, [span.trace_id for span in carriers])
    insert_spans(client, [span for span in carriers if span.trace_id not in stored])
    insert_verdicts(
        client, [outcome.verdict for outcome in outcomes if outcome.verdict is not None]
    )
    answered = [outcome.answered_letter for outcome in outcomes if outcome.answered_letter]
    insert_letters(client, (), settled=answered)
