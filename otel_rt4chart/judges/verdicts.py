"""What becomes of one answer, the same in the service and in the application's process."""

from __future__ import annotations

from collections.abc import Callable

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier

Clock = Callable[[], int]


def verified(
    candidate: Candidate, verifier: Verifier, *, rate: float, clock: Clock, strict: bool = False
) -> Verdict:
    """The verdict on an answer of the sample; an error of ours is a verdict too, a stranger's not.

    `clock` tells nanoseconds since the epoch.
    """
    judge, started = verifier.judge.id, clock()
    try:
        report = verifier.verify(candidate.exchange, strict=strict)
    except RT4ChartError as error:
        return failed(
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
        duration_ns=max(ended - started, 0),
    )


def failed(
    candidate: Candidate,
    error: Exception,
    *,
    verifier: str,
    rate: float,
    now_ns: int,
    started_ns: int | None = None,
) -> Verdict:
    """The verdict on an answer that could not be verified.

    Of a stranger's exception only the type is kept: its message may hold a key or the users' text.
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


def left(
    candidate: Candidate,
    decision: Decision,
    *,
    verifier: str,
    rate: float,
    now_ns: int,
    error: str = "",
    error_type: str = "",
) -> Verdict:
    """The verdict on an answer that is not verified, with the reason."""
    return Verdict(candidate, decision, verifier, rate, now_ns, error=error, error_type=error_type)
