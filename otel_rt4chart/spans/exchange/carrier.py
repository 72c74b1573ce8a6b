"""The carrier: a span that holds a verdict, because the answer's own span has ended.

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
# Prefixes of the ids of judges that call no language model.
WITHOUT_LLM = ("local/", "rules/", "onnx/", "cross/")


def carrier_ids(verdict: Verdict) -> tuple[str, str]:
    """The trace id and span id of the carrier; deterministic, so that repeats coincide."""
    digest = verdict_identifier(verdict)
    return digest[:32], digest[32:48]


def verdict_identifier(verdict: Verdict) -> str:
    """The identity of a verdict: judge, span and metric."""
    candidate = verdict.candidate
    # A separator that no part contains: otherwise two verdicts could have the same joined text.
    parts = (verdict.verifier, candidate.trace_id, candidate.span_id, METRIC)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def carrier_span(verdict: Verdict, *, trace_id: str, span_id: str, version: str) -> SpanRecord:
    """The carrier of a verdict: the root span of its own trace, linked to the answer's span.

    Raises ValueError if the answer was not verified.
    """
    candidate, report = verdict.candidate, verdict.report
    if report is None:
        raise ValueError(f"expected a verified answer, got the decision {verdict.decision}")
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


def explain_in_one_sentence(report: Report) -> str:
    """One sentence for people: the number of unfaithful claims, and the first one."""
    unfaithful = report.unfaithful
    head = f"{len(unfaithful)} of {report.decided} claims are not supported by the passages"
    if not unfaithful or not unfaithful[0].text:
        return head
    return f"{head}: “{unfaithful[0].text}” ({unfaithful[0].reason})"


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
        semconv.FINDINGS: json.dumps(finding_rows(report.findings), ensure_ascii=False),
        semconv.JUDGE: report.judge,
        semconv.ROUTE: verdict.candidate.route,
        semconv.SAMPLE_RATE: verdict.sample_rate,
        semconv.VERSION: version,
    }
    attributes |= {f"{semconv.CLAIM_COUNTS}.{label}": report.count(label) for label in Label}
    if rate is not None:
        # The score is faithfulness, one minus the hallucination rate: evaluation tools expect that
        # higher is better.
        attributes |= {
            f"{semconv.EVALUATION}.score": 1 - rate,
            semconv.GEN_AI_EVALUATION_SCORE: 1 - rate,
            semconv.HALLUCINATION_RATE: rate,
        }
    return attributes
