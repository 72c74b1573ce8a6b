"""The decision on one answer: verify it or record the reason not to, then store it crash-safe."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.judges.answer_verdicts import (
    DEFAULT_LAYERS,
    Clock,
    error_verdict,
    unverified_verdict,
    verify_candidate,
    with_citations,
)
from otel_rt4chart.sampling import Layers, is_sampled
from otel_rt4chart.spans.exchange.carrier import carrier_places, carrier_span
from otel_rt4chart.spans.exchange.exchanges import find_candidates, linked_trace_ids
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.store.answers.dead_letters import insert_letters
from rt4chart_collector.store.answers.spans import insert_spans, spans_of, stored_carriers
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client

# By how much the clock of an application may be ahead of the one that dates carriers.
CLOCK_SKEW_NS = 24 * 3600 * 10**9

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
    layers: Layers = DEFAULT_LAYERS,
    strict: bool = False,
) -> Verdict:
    """The verdict on one answer; a failure becomes a verdict with its error. Never raises."""
    is_chosen, probability = sampling_choice(candidate, rate)
    judge = verifier.id
    if candidate.blocked is not None or not is_chosen:
        # The application may know a more precise reason: its limit on answers or on their cost.
        decision = candidate.blocked or candidate.decision_hint or Decision.NOT_SAMPLED
        unverified = unverified_verdict(
            candidate, decision, verifier=judge, rate=probability, now_ns=clock()
        )
        try:
            return with_citations(unverified, layers)
        except Exception as error:  # noqa: BLE001 - one bad answer must not stop the others
            _log_failure(candidate, error)
            return unverified
    return judge_candidate(
        candidate, verifier, rate=probability, clock=clock, layers=layers, strict=strict
    )


def judge_candidate(
    candidate: Candidate,
    verifier: Verifier,
    *,
    rate: float,
    clock: Clock,
    layers: Layers = DEFAULT_LAYERS,
    strict: bool = False,
) -> Verdict:
    """The judge's verdict on an answer that was sampled with probability `rate`; never raises."""
    try:
        return verify_candidate(
            candidate, verifier, rate=rate, clock=clock, layers=layers, strict=strict
        )
    except Exception as error:  # noqa: BLE001 - one bad answer must not stop the others
        _log_failure(candidate, error)
        return error_verdict(candidate, error, verifier=verifier.id, rate=rate, now_ns=clock())


def _log_failure(candidate: Candidate, error: Exception) -> None:
    where = "answer %s of trace %s: %s"
    log.error(where, candidate.span_id, candidate.trace_id, redacted_error(error))


def save_outcomes(
    client: Client,
    outcomes: Sequence[AnswerOutcome],
    version: str,
    *,
    place: CarrierPlace = CarrierPlace.TRACE,
) -> None:
    """Store the outcomes; `version` is this package's, for the carrier spans.

    The order makes a crash at any point safe. Letters come first: an answer with a decision but
    without its letter would never be retried. The verifications come after the carrier spans, as
    they make an answer decided: an answer without one is found and verified again, and its carrier
    has the same ids, by which a stored one is recognized. The letters of answered retries are
    withdrawn last.
    """
    insert_letters(client, [outcome.letter for outcome in outcomes if outcome.letter is not None])
    carried = [
        outcome.verdict
        for outcome in outcomes
        if outcome.verdict is not None and outcome.has_carrier
    ]
    _insert_carriers(client, carried, version, place)
    insert_verdicts(
        client, [outcome.verdict for outcome in outcomes if outcome.verdict is not None]
    )
    answered = [outcome.answered_letter for outcome in outcomes if outcome.answered_letter]
    insert_letters(client, (), settled=answered)


def _insert_carriers(
    client: Client, verdicts: Sequence[Verdict], version: str, place: CarrierPlace
) -> None:
    """Store the carriers that are stored in neither place."""
    if not verdicts:
        return
    keys = [key for verdict in verdicts for key in carrier_places(verdict).values()]
    since = min(verdict.candidate.start_ns for verdict in verdicts) - CLOCK_SKEW_NS
    stored = stored_carriers(client, keys, since_ns=since)
    carriers = [
        carrier_span(verdict, version=version, place=place)
        for verdict in verdicts
        if stored.isdisjoint(carrier_places(verdict).values())
    ]
    insert_spans(client, carriers)
