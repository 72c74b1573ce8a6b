"""Creates the verdict on one answer, for the service and for the inline mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.tenants import tenant_of_service
from otel_rt4chart.judges.judge_failure import failure_in_report
from otel_rt4chart.sampling.layers import Layers
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.core.model import Exchange, Report
from otel_rt4chart.verify.findings.citations import check_citations, count_citations
from otel_rt4chart.verify.llm.spending import USED_UP, Spender, spending_for

Clock = Callable[[], int]
DEFAULT_LAYERS = Layers()
# The decisions on answers whose texts are known.
WITH_TEXTS = (Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET, Decision.ERROR)
MAX_FINDINGS = 20
# What the column of the store holds; an answer is untrusted text.
MAX_CITATIONS = 2**16 - 1


def spender_of(candidate: Candidate) -> Spender:
    """In whose budgets the calls for an answer count."""
    return Spender(candidate.route, tenant_of_service(candidate.service))


def verify_candidate(
    candidate: Candidate,
    verifier: Verifier,
    *,
    rate: float,
    clock: Clock,
    layers: Layers = DEFAULT_LAYERS,
    strict: bool = False,
) -> Verdict:
    """Verify a sampled answer. An RT4ChartError becomes an error verdict; others propagate.

    `clock` returns nanoseconds since the epoch. `layers` says which checks run beside the judge.
    """
    judge, started, exchange = verifier.id, clock(), candidate.exchange
    plan = layers.plan(candidate.trace_id, candidate.route, scans_remotely=verifier.scans_remotely)
    strict = strict or layers.sends_all_claims(candidate.route)
    try:
        with spending_for(spender_of(candidate)):
            report = verifier.verify(exchange, strict=strict, plan=plan)
    except RT4ChartError as error:
        if USED_UP.match(str(error)):
            return _over_budget(candidate, str(error), verifier, rate, clock(), layers)
        failed = error_verdict(
            candidate, error, verifier=judge, rate=rate, now_ns=clock(), started_ns=started
        )
        return with_citations(failed, layers)
    ended = clock()
    if (reason := _used_up_reason(report)) is not None:
        return _over_budget(candidate, reason, verifier, rate, ended, layers)
    return Verdict(
        candidate=candidate,
        decision=Decision.VERIFIED,
        verifier=judge,
        sample_rate=rate,
        decided_ns=ended,
        report=report,
        # The clock is wall time, which may be set back.
        duration_ns=max(ended - started, 0),
        citations=_count_citations(exchange) if plan.citations else 0,
    )


def _used_up_reason(report: Report) -> str | None:
    """Why no claim was decided, if an hour's or a day's budget is used up, and nothing failed."""
    reasons = (claim.reason for claim in report.claims if USED_UP.match(claim.reason))
    if report.decided or failure_in_report(report) is not None:
        return None
    return next(reasons, None)


def _over_budget(
    candidate: Candidate, reason: str, verifier: Verifier, rate: float, now_ns: int, layers: Layers
) -> Verdict:
    """The verdict on an answer that the judge's budget had nothing left for."""
    decision, judge = Decision.OVER_BUDGET, verifier.id
    return with_citations(
        unverified_verdict(
            candidate, decision, verifier=judge, rate=rate, now_ns=now_ns, error=reason
        ),
        layers,
    )


def with_citations(verdict: Verdict, layers: Layers = DEFAULT_LAYERS) -> Verdict:
    """The verdict on an answer that no judge read, with its citations checked without a model."""
    candidate, exchange = verdict.candidate, verdict.candidate.exchange
    if verdict.decision not in WITH_TEXTS or candidate.blocked is not None:
        return verdict
    plan = layers.plan(candidate.trace_id, candidate.route, scans_remotely=False)
    if not plan.citations:
        return verdict
    return replace(
        verdict,
        citations=_count_citations(exchange),
        citation_findings=check_citations(exchange)[:MAX_FINDINGS],
    )


def _count_citations(exchange: Exchange) -> int:
    return min(count_citations(exchange.answer, exchange.passages), MAX_CITATIONS)


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
