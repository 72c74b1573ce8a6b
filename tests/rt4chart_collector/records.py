"""Spans, candidates and verdicts for the tests of the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.spans.model.record import SpanEvent, SpanLink, SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    Claim,
    Clash,
    Evidence,
    Exchange,
    Finding,
    Label,
    Passage,
    Report,
    Usage,
)

# Far ahead, so that no retention time takes the rows away.
NOON = 4_000_000_000_000_000_000
SECOND = 1_000_000_000
VERIFIER = "local/test-1"
SPAN = SpanRecord(
    trace_id="a" * 32,
    span_id="b" * 16,
    name="answer",
    start_ns=NOON,
    end_ns=NOON + SECOND,
    parent_span_id="c" * 16,
    kind="Client",
    status="Error",
    status_message="it's \\ a message\n",
    trace_state="k=v",
    attributes={"openinference.span.kind": "LLM", "output.value": "שלום 🙂"},
    events=(SpanEvent("exception", NOON + 5, {"exception.type": "ValueError"}),),
    links=(SpanLink("d" * 32, "e" * 16, {"why": "because"}, "s=1"),),
    resource={"service.name": "shop"},
    scope_name="openinference.instrumentation",
    scope_version="1.0",
    dropped_attributes=3,
)


def claim(label: Label = Label.ENTAILED, text: str = "The trial lasts 14 days.") -> Claim:
    """A claim with evidence and a clash."""
    return Claim(
        text=text,
        label=label,
        local_label=Label.BASELESS,
        confidence=0.75,
        decided_by="lexical",
        kind="numeric",
        answer_range=AnswerRange(4, 11),
        sentence=0,
        evidence=(Evidence("p1", 2, 9, "14 days", "supports"),),
        reason="values",
        clashes=(Clash("number", "14", "30"),),
        nearest="The trial is 14 days.",
    )


def verdict(
    number: int = 1,
    labels: Sequence[Label] = (Label.ENTAILED, Label.BASELESS),
    *,
    decision: Decision = Decision.VERIFIED,
    decided_ns: int | None = None,
    route: str = "support",
    sample_rate: float = 0.5,
    start_ns: int = NOON,
) -> Verdict:
    """A verdict on the answer with that number, ten seconds after its begin if not told when."""
    candidate = Candidate(
        exchange=Exchange("How long?", (Passage("p1", "is 14 days"),), "It is 14 days."),
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        start_ns=start_ns + number,
        service="shop",
        route=route,
        environment="prod",
        model="m-1",
        prompt_version="7",
    )
    report = Report(
        label=AnswerLabel.BASELESS,
        claims=tuple(claim(label) for label in labels),
        judge=VERIFIER,
        findings=(Finding("citation", "unknown id [9]", claim=0, passage_ids=("p1",)),),
        usage=Usage(calls=3, input_tokens=100, output_tokens=20, cache_hits=1),
    )
    return Verdict(
        candidate=candidate,
        decision=decision,
        verifier=VERIFIER,
        sample_rate=sample_rate,
        decided_ns=start_ns + 10 * SECOND if decided_ns is None else decided_ns,
        report=report if decision is Decision.VERIFIED else None,
        duration_ns=5,
    )


def trace_spans(number: int, *, start_ns: int = NOON) -> tuple[SpanRecord, ...]:
    """Three spans of one trace, the root last."""
    trace_id = f"{number:032x}"
    root = f"{number * 8 + 7:016x}"
    children = tuple(
        replace(
            SPAN,
            trace_id=trace_id,
            span_id=f"{number * 8 + i:016x}",
            parent_span_id=root,
            start_ns=start_ns + i,
            end_ns=start_ns + i + 1,
        )
        for i in range(2)
    )
    return (
        *children,
        replace(
            children[0],
            span_id=root,
            parent_span_id="",
            attributes={"openinference.span.kind": "CHAIN"},
        ),
    )
