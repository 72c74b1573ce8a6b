"""The view of the spans with their verdicts: a real trace, really verified."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from otel_rt4chart.spans.exchange.carrier import carrier_span
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify import LocalJudge, Verifier
from otel_rt4chart.verify.core.model import Action, Advice, ClaimStatus, Evidence, Finding
from rt4chart_collector.store.answers.spans import SPANS, insert_spans, spans_of
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND

TRACE = "7" * 32
TEXTS = {
    "kb-1": "The trial lasts 14 days.",
    "kb-2": "Refunds are paid within 30 days.",
    "kb-3": "Our office is in Leipzig.",
}


def span(number: int, kind: str, **attributes: str) -> SpanRecord:
    """A span of the trace, in OpenInference's attributes."""
    return SpanRecord(
        trace_id=TRACE,
        span_id=f"{number:016x}",
        name=kind.lower(),
        start_ns=NOON + number,
        end_ns=NOON + number + 1,
        parent_span_id="" if number == 1 else f"{1:016x}",
        attributes={"openinference.span.kind": kind, "empty": "", **attributes},
        resource={"service.name": "shop"},
    )


def documents(*names: str) -> dict[str, str]:
    """What a retriever says that it found; an unnamed document has a text alone."""
    found = {}
    for place, name in enumerate(names):
        key = f"retrieval.documents.{place}.document"
        found[f"{key}.content"] = TEXTS[name]
        if name != "kb-3":
            found[f"{key}.id"] = name
    return found


def trace() -> list[SpanRecord]:
    """A chain with two retrievers and a generation, which gets one of its two claims wrong."""
    prompt = "Context:\n" + "\n".join(TEXTS.values())
    question = "How long is the trial, and when are refunds paid?"
    return [
        span(1, "CHAIN", **{"input.value": question}),
        span(2, "RETRIEVER", **{"input.value": question}, **documents("kb-1", "kb-2")),
        span(3, "RETRIEVER", **{"input.value": question}, **documents("kb-3")),
        span(
            4,
            "LLM",
            **{
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": f"{prompt}\n\nQuestion: {question}",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "The trial lasts 14 days. "
                "Refunds are paid within 60 days.",
            },
        ),
    ]


def verified(spans: list[SpanRecord], *, judge: str = "", later: int = 0) -> Verdict:
    """The verdict of the rules on the trace's answer."""
    (candidate,) = find_candidates(spans)
    report = Verifier(judge=LocalJudge()).verify(candidate.exchange)
    return Verdict(
        candidate=candidate,
        decision=Decision.VERIFIED,
        verifier=judge or report.judge,
        sample_rate=1.0,
        decided_ns=NOON + (10 + later) * SECOND,
        report=report,
    )


def shown(client: Client) -> dict[str, dict[str, str]]:
    """Each span's attributes in the view, by span id."""
    rows = client.query(
        "SELECT SpanId, SpanAttributes FROM otel_traces_verified WHERE TraceId = {id:String}",
        {"id": TRACE},
    ).result_rows
    return {row[0]: row[1] for row in rows}


def told(client: Client, number: int) -> dict[str, dict[str, Any]]:
    """What a span's documents are told to be, by id."""
    listed = json.loads(shown(client)[f"{number:016x}"]["rt4chart.documents"])
    return {one.pop("id"): one for one in listed}


def test_unused_chunk_stands_beside_the_verdict(any_client: Client) -> None:
    """The answer's span has label, rate and claims; each retriever what became of its documents."""
    spans = trace()
    insert_spans(any_client, spans)
    insert_verdicts(any_client, [verified(spans)])

    answer = shown(any_client)[f"{4:016x}"]
    claims = json.loads(answer["rt4chart.claims"])
    assert (answer["rt4chart.label"], answer["rt4chart.hallucination_rate"]) == (
        "contradicted",
        "0.5",
    )
    assert [(one["id"], one["label"]) for one in claims] == [(0, "entailed"), (1, "contradicted")]
    assert claims[0]["evidence"][0]["passage"] == "kb-1"
    first, second = told(any_client, 2), told(any_client, 3)
    about = {"answer": f"{4:016x}", "stages": ["retrieved", "prompt"]}
    assert first == {
        "kb-1": {**about, "used": True, "supports": [0], "contradicts": [], "limits": []},
        "kb-2": {**about, "used": False, "supports": [], "contradicts": [1], "limits": []},
    }
    assert list(second.values()) == [
        {**about, "used": False, "supports": [], "contradicts": [], "limits": []},
    ]


def test_answer_and_documents_say_what_a_label_hides(any_client: Client) -> None:
    """One query has both rates, counts, statuses, findings and action, and what each passage did.

    The carrier that stands in the same trace is left out by its scope.
    """
    spans, made = trace(), misleading(trace())
    insert_spans(any_client, [*spans, carrier_span(made, version="1")])
    insert_verdicts(any_client, [made])

    query = """
    SELECT SpanName, mapFilter((key, value) -> startsWith(key, 'rt4chart.'), SpanAttributes)
    FROM otel_traces_verified
    WHERE TraceId = {id:String} AND ScopeName != 'otel_rt4chart'
      AND (SpanAttributes['rt4chart.label'] != '' OR SpanAttributes['rt4chart.documents'] != '')
    ORDER BY Timestamp
    """
    rows = any_client.query(query, {"id": TRACE}).result_rows

    assert [name for name, _ in rows] == ["retriever", "retriever", "llm"]
    said = dict(rows[2][1])
    claims = json.loads(said.pop("rt4chart.claims"))
    assert [claim["status"] for claim in claims] == ["cherry_picked", "contradicted"]
    assert json.loads(said.pop("rt4chart.statuses")) == {"cherry_picked": 2, "contradicted": 1}
    (finding,) = json.loads(said.pop("rt4chart.findings"))
    assert (finding["name"], finding["claim"]) == ("cherry_picked", 0)
    assert said == {
        "rt4chart.label": "contradicted",
        "rt4chart.hallucination_rate": "0.5",
        "rt4chart.misleading_rate": "0.5",
        "rt4chart.claim_counts.entailed": "1",
        "rt4chart.claim_counts.contradicted": "1",
        "rt4chart.claim_counts.baseless": "0",
        "rt4chart.claim_counts.undecided": "0",
        "rt4chart.action": "escalate",
    }
    documents = {
        one["id"]: (one["used"], one["supports"], one["contradicts"], one["limits"])
        for _, attributes in rows[:2]
        for one in json.loads(attributes["rt4chart.documents"])
    }
    assert documents == {
        "kb-1": (True, [0], [], []),
        "kb-2": (False, [], [1], []),
        unnamed_id(): (False, [], [], [0]),
    }


def misleading(spans: list[SpanRecord]) -> Verdict:
    """The verdict on the trace's answer, whose true claim is limited by an unused passage."""
    made = verified(spans)
    assert made.report is not None
    first, second = made.report.claims
    limit = Evidence(unnamed_id(), 0, 23, "Our office is in Leipzig", "limits")
    picked = replace(
        first,
        status=ClaimStatus.CHERRY_PICKED,
        check_rate=0.5,
        evidence=(*first.evidence, limit),
    )
    report = replace(
        made.report,
        claims=(picked, second),
        findings=(Finding("cherry_picked", "kb-3 limits it", claim=0),),
        advice=Advice(Action.ESCALATE, "a passage limits the claim"),
    )
    return replace(made, report=report)


def unnamed_id() -> str:
    """The id that the document without one gets."""
    (candidate,) = find_candidates(trace())
    return candidate.exchange.passages[2].id


def test_other_spans_and_columns_are_as_they_were(any_client: Client) -> None:
    """The view has otel_traces' columns in order; what was not verified is unchanged."""
    spans = trace()
    insert_spans(any_client, spans)

    columns = "SELECT name, type FROM system.columns WHERE database = {db:String} AND table = "
    plain, view = (
        any_client.query(f"SELECT {SPANS.select()} FROM {table} ORDER BY SpanId").result_rows  # noqa: S608
        for table in ("otel_traces", "otel_traces_verified")
    )
    kinds, seen = (
        any_client.query(
            f"{columns} '{table}' ORDER BY position", {"db": any_client.database}
        ).result_rows
        for table in ("otel_traces", "otel_traces_verified")
    )
    assert view == plain
    assert seen == kinds
    assert len(spans_of(any_client, [TRACE])) == len(spans)


def test_latest_verifiers_verdict_is_shown(any_client: Client) -> None:
    """Of two judges, the one that judged last, with its own claims alone."""
    spans = trace()
    insert_spans(any_client, spans)
    early = verified(spans)
    assert early.report is not None
    late = replace(
        verified(spans, judge="other", later=5),
        report=replace(early.report, claims=early.report.claims[:1]),
    )
    insert_verdicts(any_client, [late, early])

    claims = json.loads(shown(any_client)[f"{4:016x}"]["rt4chart.claims"])
    assert [one["id"] for one in claims] == [0]
    assert told(any_client, 2)["kb-2"]["contradicts"] == []


def test_query_of_the_documentation_runs(client: Client) -> None:
    """The example of docs/reference/tables.md gives the rows that it shows."""
    page = (Path(__file__).parents[4] / "docs/reference/tables.md").read_text()
    query = next(
        part for part in page.split("```sql\n") if "otel.otel_traces_verified" in part
    ).partition("```")[0]
    spans = trace()
    insert_spans(client, spans)
    insert_verdicts(client, [verified(spans)])

    rows = client.query(query.replace("otel.otel_traces", "otel_traces")).result_rows

    assert sorted(map(tuple, rows))[:2] == [
        ("retriever", "kb-1", True, [], ["retrieved", "prompt"]),
        ("retriever", "kb-2", False, [1], ["retrieved", "prompt"]),
    ]


def test_answer_says_in_which_stage_most_claims_entered(any_client: Client) -> None:
    """Of several the first, as the carrier says; nothing where no stage is known."""
    spans = trace()
    made = misleading(spans)
    assert made.report is not None
    claims = tuple(replace(made.report.claims[1]) for _ in range(4))
    stages = ("merge", "summarise", "summarise", "merge")
    blames = tuple(
        ClaimBlame(at, (ChainPlace("s", "b" * 16, stage, "LLM", stage),))
        for at, stage in enumerate(stages)
    )
    traced = replace(made, report=replace(made.report, claims=claims), trail=blames)
    later = replace(made, verifier="later/1", decided_ns=made.decided_ns + SECOND)
    query = """
    SELECT SpanAttributes['rt4chart.blame.stage'] FROM otel_traces_verified
    WHERE TraceId = {id:String} AND SpanName = 'llm'
    """
    insert_spans(any_client, spans)

    insert_verdicts(any_client, [traced])
    first = any_client.query(query, {"id": TRACE}).result_rows
    insert_verdicts(any_client, [later])
    last = any_client.query(query, {"id": TRACE}).result_rows

    assert carrier_span(traced, version="1").attributes["rt4chart.blame.stage"] == "merge"
    assert [tuple(row) for row in first] == [("merge",)]
    assert [tuple(row) for row in last] == [("",)]
