"""An answer with all that its page shows, for the tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from starlette.testclient import TestClient

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    Claim,
    Clash,
    Evidence,
    Finding,
    Label,
    Report,
)
from rt4chart_collector.console.answers import answers_page
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER

HOUR = 3600 * SECOND
TRACE, ANSWER_SPAN = "a" * 32, "b" * 16
PATH = f"/answers/{TRACE}/{ANSWER_SPAN}"
ANSWER = "The trial lasts 30 days. It is free. Bananas grow on Mars."
DOCUMENTS = {
    "kb-1": "The trial lasts 14 days. It is free.",
    "kb-2": "Our office is in Lisbon, near the river.",
    "kb-3": "An old policy: the trial lasted 30 days.",
}
GIVEN = ("kb-1", "kb-2")


@contextmanager
def console(client: Client, **settings: object) -> Iterator[TestClient]:
    """A browser without scripts before the console, a little after the answers."""
    site = build_site(
        client.sibling,
        replace(ConsoleSettings(), **settings),  # type: ignore[arg-type]
        sections=[answers_page.SECTION],
        clock=lambda: NOON + HOUR,
    )
    headers = {"origin": "http://localhost", "accept": "text/html"}
    browser = TestClient(site.app, base_url="http://localhost", headers=headers)
    yield browser
    browser.close()
    site.console.close()


def spans(answer: str = ANSWER, question: str = "How long?") -> list[SpanRecord]:
    """A request, a retrieval of three documents, a reranking to two, and the answer."""

    def span(name: str, parent: str, kind: str, start: int, **attributes: object) -> SpanRecord:
        given = {key.replace("__", "."): value for key, value in attributes.items()}
        return SpanRecord(
            trace_id=TRACE,
            span_id=name,
            name=kind.lower(),
            start_ns=NOON + start,
            end_ns=NOON + start + SECOND,
            parent_span_id=parent,
            attributes={"openinference.span.kind": kind, **given},  # type: ignore[dict-item]
            resource={"service.name": "shop", "service.version": "9"},
            scope_name="openinference.instrumentation",
        )

    def listed(prefix: str, names: tuple[str, ...]) -> dict[str, object]:
        return {
            f"{prefix}.{place}.document.{key}": value
            for place, name in enumerate(names)
            for key, value in (("id", name), ("content", DOCUMENTS[name]))
        }

    root = "r" * 16
    return [
        span(root, "", "CHAIN", 0, input__value=question),
        span("d" * 16, root, "RETRIEVER", 1, **listed("retrieval.documents", tuple(DOCUMENTS))),
        span(
            "e" * 16,
            root,
            "RERANKER",
            2,
            **listed("reranker.input_documents", tuple(DOCUMENTS)),
            **listed("reranker.output_documents", GIVEN),
        ),
        span(ANSWER_SPAN, root, "LLM", 3, output__value=answer, llm__model_name="m-1"),
    ]


def candidate(answer: str = ANSWER, question: str = "How long?") -> Candidate:
    """The answer as it is found in the spans."""
    (found,) = find_candidates(spans(answer, question))
    return replace(found, route="support")


def claims(answer: str = ANSWER) -> tuple[Claim, ...]:
    """A contradicted, an entailed and a baseless claim of the answer."""

    def one(text: str, words: str, label: Label, **more: object) -> Claim:
        at = answer.index(words)
        found = AnswerRange(at, at + len(words))
        plain = Claim(text, label, label, 0.75, VERIFIER, "numeric", found, 0)
        return replace(plain, **more)  # type: ignore[arg-type]

    quote = DOCUMENTS["kb-1"]
    return (
        one(
            "The trial lasts 30 days.",
            "30 days",
            Label.CONTRADICTED,
            evidence=(Evidence("kb-1", 0, 24, quote[:24], "contradicts"),),
            clashes=(Clash("number", "30 days", "14 days"),),
        ),
        one(
            "It is free.",
            "It is free.",
            Label.ENTAILED,
            evidence=(Evidence("kb-1", 25, 36, quote[25:], "supports"),),
        ),
        one("Bananas grow on Mars.", "Bananas grow on Mars", Label.BASELESS, reason="not there"),
    )


def verdict(
    found: Candidate | None = None,
    given: tuple[Claim, ...] | None = None,
    *,
    verifier: str = VERIFIER,
    decision: Decision = Decision.VERIFIED,
) -> Verdict:
    """The verdict on it."""
    report = Report(
        AnswerLabel.CONTRADICTED,
        claims() if given is None else given,
        verifier,
        (
            Finding("failure_kind", "Number not as in the source", kind="numeric_slip", claim=0),
            Finding("overreach", "says more than kb-1", claim=2, passage_ids=("kb-1",)),
        ),
    )
    return Verdict(
        found or candidate(),
        decision,
        verifier,
        0.5,
        NOON + 10 * SECOND,
        report if decision is Decision.VERIFIED else None,
    )


def stored(client: Client, *verdicts: Verdict, with_spans: bool = True) -> None:
    """Put the answer and these verdicts, else the plain one, into the store."""
    if with_spans:
        insert_spans(client, spans())
    for one in verdicts or (verdict(),):
        insert_verdicts(client, [one])
