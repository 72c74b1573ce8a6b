"""Creates the verdict on one answer, for the service and for the inline mode."""

from __future__ import annotations

from collections.abc import Callable

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier

Clock = Callable[[], int]


def verify_candidate(
    candidate: Candidate, verifier: Verifier, *, rate: float, clock: Clock, strict: bool = False
) -> Verdict:
    """Verify a sampled answer. An RT4ChartError becomes an error verdict; others propagate.

    `clock` returns nanoseconds since the epoch.
    """
    judge, started = verifier.judge.id, clock()
    try:
        report = verifier.verify(candidate.exchange, strict=strict)
    except RT4ChartError as error:
        return error_verdict(
            candidate, error, verifier=judge, rate=rate, now_ns=clock(), started_ns=started
        )
    ended = clock()
    return Verdict(
        candidate=candidate,
        decision=Decision.VERIFIED,
        verifier=judge,
        sample_rate=rate,
        decided_ns=ended,
        report=report,
        # The clock is wall time, which may be set back.
        duration_ns=max(ended - started, 0),
    )


def error_verdict(
    candidate: Candidate,
    error: Exception,
    *,
    verifier: str,
    rate: float,
    now_ns: int,
    started_ns: int | None = None,
) -> Verdict:
    """The verdict on an answer whose verification failed.

    For exceptions of other packages only the type is stored: the message may quote keys or text.
    """
    kind = type(error).__name__
    return Verdict(
        candidate=candidate,
        decision=Decision.ERROR,
        verifier=verifier,
        sample_rate=rate,
        decided_ns=now_ns,
        duration_ns=max(now_ns - (now_ns if started_ns is None else started_ns), 0),
        error=str(error) if isinstance(error, RT4ChartError) else f"unexpected {kind}",
        error_type=kind,
    )


def unverified_verdict(
    candidate: Candidate,
    decision: Decision,
    *,
    verifier: str,
    rate: float,
    now_ns: int,
    error: str = "",
    error_type: str = "",
) -> Verdict:
    """The verdict on an answer that was not verified, with the reason."""
    return Verdict(candidate, decision, verifier, rate, now_ns, error=error, error_type=error_type)
