"""Answers in the store, with their spans, for the tests of eval sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.judges.answer_verdicts import verify_candidate
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.pipeline import Verifier
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure, failures

NOON = 4_000_000_000_000_000_000
KB = ("The free trial lasts 14 days. Mail help@example.com to end it.", "Dogs are welcome.")


def trace(
    number: int, question: str, answer: str, passages: Sequence[str] = KB
) -> list[SpanRecord]:
    """A retriever and a generator under a chain, as OpenInference writes them."""
    documents = {
        f"retrieval.documents.{at}.document.{key}": value
        for at, text in enumerate(passages)
        for key, value in (("id", f"kb-{at}"), ("content", text))
    }
    chain = SpanRecord(
        trace_id=f"{number:032x}",
        span_id=f"{number * 4 + 1:016x}",
        name="ask",
        start_ns=NOON + number,
        end_ns=NOON + number + 10,
        attributes={"openinference.span.kind": "CHAIN", "input.value": question},
        resource={"service.name": "shop"},
    )
    search = replace(
        chain,
        span_id=f"{number * 4 + 2:016x}",
        parent_span_id=chain.span_id,
        name="search",
        attributes={"openinference.span.kind": "RETRIEVER", **documents},
    )
    said = {"role": "assistant", "content": answer}
    asked = {"role": "user", "content": question}
    generation = replace(
        chain,
        span_id=f"{number * 4 + 3:016x}",
        parent_span_id=chain.span_id,
        name="answer",
        start_ns=NOON + number + 5,
        attributes={
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": question,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": answer,
            "input.value": json.dumps([asked]),
            "output.value": json.dumps(said),
        },
    )
    return [chain, search, generation]


def stored(client: Client, traces: Sequence[Sequence[SpanRecord]]) -> list[Failure]:
    """Write the traces and the rules' verdicts on them; the failures, the latest first."""
    verifier = Verifier(RulesJudge())
    insert_spans(client, [span for one in traces for span in one])
    found = [answer for one in traces for answer in find_candidates(one)]
    insert_verdicts(
        client, [verify_candidate(one, verifier, rate=1.0, clock=lambda: NOON * 2) for one in found]
    )
    return failures(client, since_ns=0)
