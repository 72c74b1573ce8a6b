"""Traces whose evidence is lost at a stage that is known, as spans and as stored verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Claim, Evidence, Label, Report
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure, failures
from tests.otel_rt4chart.spans.model.made import generation, reranker, retriever, span
from tests.rt4chart_clustering.made import NOON, SECOND

TRIAL = "The free trial of the Pro plan lasts 14 days."
REFUND = "Refunds of yearly contracts take thirty business days."
SUPPORT = "Support answers on weekdays from nine to five."
OTHER = "Gift cards cannot be exchanged for money."
ANSWER = "Refunds of yearly contracts take thirty business days."


def trace(
    number: int,
    answer: str,
    *,
    found: Sequence[str] = (TRIAL,),
    kept: Sequence[str] = (),
    shown: Sequence[str] = (),
    question: str = "How long do refunds take?",
) -> list[SpanRecord]:
    """A chain that retrieves `found`, reranks it to `kept` and shows the model `shown`."""
    spans = [span(1, "CHAIN", 0, input__value=question, rt4chart__route="billing")]
    spans.append(retriever(2, 1, *found))
    if kept:
        spans.append(reranker(3, 1, tuple(kept), tuple(found)))
    prompt = "\n\n".join(shown)
    messages = [("user", f"Use these:\n{prompt}\n{question}")] if shown else [("user", question)]
    spans.append(generation(9, 1, answer, *messages))
    start = NOON + number * SECOND
    return [
        replace(
            one, trace_id=f"{number:032x}", start_ns=start + one.start_ns, end_ns=start + one.end_ns
        )
        for one in spans
    ]


def store(
    client: Client,
    spans: Sequence[SpanRecord],
    *,
    label: Label = Label.BASELESS,
    nearest: str = "",
    evidence: str = "",
) -> Failure | None:
    """Write a trace with a verdict on its answer, one claim, the whole answer; the failure."""
    insert_spans(client, spans)
    (candidate,) = find_candidates(spans)
    by_text = {one.passage.text: one.passage.id for one in candidate.staged}
    against = (Evidence(by_text.get(evidence, ""), 0, len(evidence), evidence, "contradicts"),)
    said = candidate.exchange.answer
    claim = Claim(
        text=said,
        label=label,
        local_label=label,
        confidence=0.9,
        decided_by="test",
        kind="attribute",
        answer_range=AnswerRange(0, len(said)),
        sentence=0,
        evidence=against if evidence else (),
        nearest=nearest,
    )
    report = Report(label=AnswerLabel(label.value), claims=(claim,), judge="test")
    verdict = Verdict(
        candidate=candidate,
        decision=Decision.VERIFIED,
        verifier="local/test-1",
        sample_rate=1.0,
        decided_ns=candidate.start_ns + SECOND,
        report=report,
    )
    insert_verdicts(client, [verdict])
    stored = [one for one in failures(client, since_ns=0) if one.trace_id == spans[0].trace_id]
    return stored[0] if stored else None


def failing(client: Client, spans: Sequence[SpanRecord], **told: str | Label) -> Failure:
    """The same, for an answer that is a failure."""
    failure = store(client, spans, **told)  # type: ignore[arg-type]
    assert failure is not None
    return failure
