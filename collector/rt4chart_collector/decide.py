"""What is done with one answer: verified, or left with the reason."""

from __future__ import annotations

import logging
from collections.abc import Callable

from otel_rt4chart.errors import RT4ChartError
from otel_rt4chart.sampling import is_sampled
from otel_rt4chart.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier

Clock = Callable[[], int]
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
    started = clock()
    report, error = None, ""
    if candidate.blocked is not None:
        decision = candidate.blocked
    elif not is_chosen:
        # The application may know better why: a limit on the verified answers, or on their cost.
        decision = candidate.decision_hint or Decision.NOT_SAMPLED
    else:
        try:
            report = verifier.verify(candidate.exchange, strict=strict)
            decision = Decision.VERIFIED
        except RT4ChartError as failure:
            decision, error = Decision.ERROR, str(failure)
        except Exception as failure:  # noqa: BLE001 - one bad answer must not stop the others
            decision, error = Decision.ERROR, _unexpected(candidate, failure)
    ended = clock()
    return Verdict(
        candidate=candidate,
        decision=decision,
        verifier=verifier.judge.id,
        sample_rate=probability,
        decided_ns=ended,
        report=report,
        duration_ns=max(ended - started, 0),
        error=error,
    )


def _unexpected(candidate: Candidate, failure: Exception) -> str:
    """What is stored of a stranger's exception: its type alone, the message may hold a key."""
    log.error("answer %s of trace %s", candidate.span_id, candidate.trace_id, exc_info=failure)
    return f"unexpected {type(failure).__name__}"
