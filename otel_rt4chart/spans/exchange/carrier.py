"""The carrier: a span that holds a verdict, because the answer's own span has ended.

Source: OpenInference spec/annotations.md (span-scoped carrier: exactly one link to its target; a
parent does not identify it) and OpenTelemetry docs/gen-ai/gen-ai-events.md.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from otel_rt4chart.core import semconv
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.core.tenants import split_service
from otel_rt4chart.spans.model.record import AttributeValue, SpanLink, SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Verdict
from otel_rt4chart.verify.core.json_rows import claim_rows, finding_rows
from otel_rt4chart.verify.core.model import Label, Report
from otel_rt4chart.verify.criteria.model import criterion_rows

METRIC = "rt4chart.faithfulness"
# Prefixes of the ids of judges that call no language model.
WITHOUT_LLM = ("local/", "rules/", "onnx/", "onnx-spans/", "cross/")


def carrier_places(verdict: Verdict) -> dict[CarrierPlace, tuple[str, str]]:
    """The carrier's trace id and span id in either place; deterministic, so that repeats coincide.

    Only one of them is stored, also where the place was changed in between.
    """
    digest = verdict_identifier(verdict)
    span_id = digest[32:48]
    return {
        CarrierPlace.TRACE: (verdict.candidate.trace_id, span_id),
        CarrierPlace.OWN: (digest[:32], span_id),
    }


def verdict_identifier(verdict: Verdict) -> str:
    """The identity of a verdict: judge, span and metric."""
    candidate = verdict.candidate
    # A separator that no part contains: otherwise two verdicts could have the same joined text.
    parts = (verdict.verifier, candidate.trace_id, candidate.span_id, METRIC)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def carrier_span(
    verdict: Verdict, *, version: str, place: CarrierPlace = CarrierPlace.TRACE
) -> SpanRecord:
    """The carrier of a verdict, linked to the answer's span.

    Raises ValueError if the answer was not verified.
    """
    candidate, report = verdict.candidate, verdict.report
    if report is None:
        raise ValueError(f"expected a verified answer, got the decision {verdict.decision}")
    trace_id, span_id = carrier_places(verdict)[place]
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        name=semconv.CARRIER_NAME,
        start_ns=verdict.decided_ns - verdict.duration_ns,
        end_ns=verdict.decided_ns,
        parent_span_id=candidate.span_id if place is CarrierPlace.TRACE else "",
        attributes=carrier_attributes(verdict, report, version)
        | blame_attributes(verdict)
        | criteria_attributes(verdict),
        # The link names the target; the parent only shows the carrier where people look for it.
        links=(SpanLink(candidate.trace_id, candidate.span_id),),
        resource=_resource(candidate),
        scope_name=semconv.SCOPE_NAME,
        scope_version=version,
    )


def _resource(candidate: Candidate) -> dict[str, AttributeValue]:
    """The attributes of the answer's resource that a carrier repeats."""
    tenant, service = split_service(candidate.service)
    resource: dict[str, AttributeValue] = {semconv.SERVICE_NAME: service}
    if candidate.environment:
        resource[semconv.DEPLOYMENT_ENVIRONMENT] = candidate.environment
    if tenant:
        resource[semconv.TENANT] = tenant
    return resource


def blame_attributes(verdict: Verdict) -> dict[str, AttributeValue]:
    """Where the failed claims entered; none where they were not traced.

    The stage is the one in which most of them did.
    """
    if not verdict.trail:
        return {}
    rows = [
        {
            "claim": blame.claim,
            "span_id": blame.place.span_id if blame.place else "",
            "step": blame.place.name if blame.place else "",
            "stage": blame.stage,
            "retrieval": blame.retrieval.value,
            "problem": blame.problem,
        }
        for blame in verdict.trail
    ]
    found: dict[str, AttributeValue] = {
        semconv.BLAME_CLAIMS: json.dumps(
            [{name: value for name, value in row.items() if value != ""} for row in rows],
            ensure_ascii=False,
        )
    }
    if stages := Counter(blame.stage for blame in verdict.trail if blame.stage):
        ((found[semconv.BLAME_STAGE], _),) = stages.most_common(1)
    return found


def criteria_attributes(verdict: Verdict) -> dict[str, AttributeValue]:
    """The verdicts of custom criteria: ours as one JSON list, and an evaluation for each."""
    if not verdict.criteria:
        return {}
    found: dict[str, AttributeValue] = {
        semconv.CRITERIA: json.dumps(criterion_rows(verdict.criteria), ensure_ascii=False)
    }
    for number, one in enumerate(verdict.criteria, start=1):
        prefix = semconv.EVALUATION_NUMBERED.format(number)
        identity = (verdict_identifier(verdict), one.name, one.version)
        found |= {
            f"{prefix}.name": one.name,
            f"{prefix}.label": one.outcome.value,
            f"{prefix}.explanation": one.reason,
            f"{prefix}.annotator_kind": "LLM" if one.judge else "CODE",
            f"{prefix}.identifier": hashlib.sha256("\x1f".join(identity).encode()).hexdigest(),
        }
        if one.score is not None:
            found[f"{prefix}.score"] = one.score
    return found


def explain_in_one_sentence(report: Report) -> str:
    """One sentence for people: the number of unfaithful and misleading claims, and the first."""
    head = f"{len(report.unfaithful)} of {report.decided} claims are not supported by the passages"
    if misleading := report.misleading:
        head += f" and {len(misleading)} {'misleads' if len(misleading) == 1 else 'mislead'}"
    first = next((claim for claim in (*report.unfaithful, *misleading) if claim.text), None)
    if first is None:
        return head
    reason = first.status.label if first.is_misleading else first.reason
    return f"{head}: “{first.text}” ({reason})"


def carrier_attributes(verdict: Verdict, report: Report, version: str) -> dict[str, AttributeValue]:
    """The attributes of a carrier; lists are JSON, which every SDK and backend accepts."""
    rate = report.hallucination_rate
    kind = "CODE" if report.judge.startswith(WITHOUT_LLM) else "LLM"
    about = {"rt4chart.version": version, "judge": report.judge, "route": verdict.candidate.route}
    attributes: dict[str, AttributeValue] = {
        semconv.SPAN_KIND: "EVALUATOR",
        f"{semconv.EVALUATION}.name": METRIC,
        f"{semconv.EVALUATION}.label": report.label.value,
        f"{semconv.EVALUATION}.explanation": explain_in_one_sentence(report),
        f"{semconv.EVALUATION}.annotator_kind": kind,
        f"{semconv.EVALUATION}.identifier": verdict_identifier(verdict),
        f"{semconv.EVALUATION}.metadata": json.dumps(about, ensure_ascii=False),
        semconv.GEN_AI_EVALUATION_NAME: METRIC,
        semconv.GEN_AI_EVALUATION_LABEL: report.label.value,
        semconv.GEN_AI_EVALUATION_EXPLANATION: explain_in_one_sentence(report),
        semconv.LABEL: report.label.value,
        semconv.CLAIMS: json.dumps(claim_rows(report.claims), ensure_ascii=False),
        semconv.STATUSES: json.dumps(report.status_weights),
        semconv.FINDINGS: json.dumps(finding_rows(report.findings), ensure_ascii=False),
        semconv.JUDGE: report.judge,
        semconv.ROUTE: verdict.candidate.route,
        semconv.SAMPLE_RATE: verdict.sample_rate,
        semconv.VERSION: version,
    }
    attributes |= {f"{semconv.CLAIM_COUNTS}.{label}": report.count(label) for label in Label}
    if report.advice.action:
        attributes[semconv.ACTION] = report.advice.action.value
    if rate is not None:
        # The score is faithfulness, one minus the hallucination rate: evaluation tools expect that
        # higher is better.
        attributes |= {
            f"{semconv.EVALUATION}.score": 1 - rate,
            semconv.GEN_AI_EVALUATION_SCORE: 1 - rate,
            semconv.HALLUCINATION_RATE: rate,
        }
        # Where a check was left out by chance, the rate of this answer would be too low.
        if report.plan.is_complete:
            attributes[semconv.MISLEADING_RATE] = report.misleading_rate or 0.0
    return attributes
