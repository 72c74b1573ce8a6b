"""A verdict as a span: ended spans are immutable, so it is carried by one of its own.

Source: OpenInference spec/annotations.md (span-scoped carrier: exactly one link to its target) and
OpenTelemetry docs/gen-ai/gen-ai-events.md.
"""

from __future__ import annotations

import hashlib
import json

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model.record import AttributeValue, SpanLink, SpanRecord
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.json_rows import claim_rows, finding_rows
from otel_rt4chart.verify.core.model import Label, Report

METRIC = "rt4chart.faithfulness"
# Judges that ask no language model, by the beginning of their id; a cascade's id begins otherwise.
WITHOUT_LLM = ("local/", "rules/", "onnx/", "cross/")


def carrier_ids(verdict: Verdict) -> tuple[str, str]:
    """The carrier's own trace and span id: the same verdict again gets the same ones."""
    digest = identifier(verdict)
    return digest[:32], digest[32:48]


def identifier(verdict: Verdict) -> str:
    """What makes a verdict the same one: who judged which span by which metric."""
    candidate = verdict.candidate
    parts = (verdict.verifier, candidate.trace_id, candidate.span_id, METRIC)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def carrier_span(verdict: Verdict, *, trace_id: str, span_id: str, version: str) -> SpanRecord:
    """The carrier of a verdict: a root span of its own trace, linked to the answer's span.

    ValueError where the answer was not verified: there is nothing to carry.
    """
    candidate, report = verdict.candidate, verdict.report
    if report is None:
        raise ValueError(f"expected a verified answer, got one that is {verdict.decision}")
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        name=semconv.CARRIER_NAME,
        start_ns=verdict.decided_ns - verdict.duration_ns,
        end_ns=verdict.decided_ns,
        attributes=carrier_attributes(verdict, report, version),
        links=(SpanLink(candidate.trace_id, candidate.span_id),),
        resource={semconv.SERVICE_NAME: candidate.service}
        | (
            {semconv.DEPLOYMENT_ENVIRONMENT: candidate.environment} if candidate.environment else {}
        ),
        scope_name=semconv.SCOPE_NAME,
        scope_version=version,
    )


def explanation(report: Report) -> str:
    """One sentence for people: how many claims, and what clashes in the first unfaithful one."""
    unfaithful = report.unfaithful
    head = f"{len(unfaithful)} of {report.decided} claims are not supported by the passages"
    if not unfaithful or not unfaithful[0].text:
        return head
    return f"{head}: “{unfaithful[0].text}” ({unfaithful[0].reason})"


def carrier_attributes(verdict: Verdict, report: Report, version: str) -> dict[str, AttributeValue]:
    """What a carrier says; lists and objects are JSON, which every SDK and backend takes."""
    rate = report.hallucination_rate
    kind = "CODE" if report.judge.startswith(WITHOUT_LLM) else "LLM"
    about = {"rt4chart.version": version, "judge": report.judge, "route": verdict.candidate.route}
    attributes: dict[str, AttributeValue] = {
        semconv.SPAN_KIND: "EVALUATOR",
        f"{semconv.EVALUATION}.name": METRIC,
        f"{semconv.EVALUATION}.label": report.label.value,
        f"{semconv.EVALUATION}.explanation": explanation(report),
        f"{semconv.EVALUATION}.annotator_kind": kind,
        f"{semconv.EVALUATION}.identifier": identifier(verdict),
        f"{semconv.EVALUATION}.metadata": json.dumps(about, ensure_ascii=False),
        semconv.GEN_AI_EVALUATION_NAME: METRIC,
        semconv.GEN_AI_EVALUATION_LABEL: report.label.value,
        semconv.GEN_AI_EVALUATION_EXPLANATION: explanation(report),
        semconv.LABEL: report.label.value,
        semconv.CLAIMS: json.dumps(claim_rows(report.claims), ensure_ascii=False),
        semconv.FINDINGS: json.dumps(finding_rows(report.findings), ensure_ascii=False),
        semconv.JUDGE: report.judge,
        semconv.ROUTE: verdict.candidate.route,
        semconv.SAMPLE_RATE: verdict.sample_rate,
        semconv.VERSION: version,
    }
    attributes |= {f"{semconv.CLAIM_COUNTS}.{label}": report.count(label) for label in Label}
    if rate is not None:
        # The score is faithfulness, so that more is better: one minus the hallucination rate.
        attributes |= {
            f"{semconv.EVALUATION}.score": 1 - rate,
            semconv.GEN_AI_EVALUATION_SCORE: 1 - rate,
            semconv.HALLUCINATION_RATE: rate,
        }
    return attributes
