"""Half of the bundled rows as answers of a day: people's own texts, judged by the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.rates.label_queue import LabelCandidate
from otel_rt4chart.verify.rates.population import score_of, stratum_of
from rt4chart_collector.demo.labels import DATA, read_labels
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client

SERVICE = "summaries"
SECOND_NS = 10**9
RULES = Verifier(RulesJudge())


def fill_rows(client: Client, now_ns: int) -> None:
    """Their spans and their verdicts, one a minute."""
    found = list(_verdicts(now_ns))
    insert_spans(client, [span for _, spans in found for span in spans])
    insert_verdicts(client, [verdict for verdict, _ in found])


def candidates(now_ns: int) -> list[LabelCandidate]:
    """The claims that a draw may choose from, as the pure functions see them."""
    return [
        LabelCandidate(
            f"{verdict.candidate.trace_id}/{verdict.candidate.span_id}/{number}",
            f"{SERVICE}\0{verdict.candidate.route}",
            stratum_of(claim.label),
            score_of(claim.label, claim.confidence),
        )
        for verdict, _ in _verdicts(now_ns)
        for number, claim in enumerate(verdict.report.claims if verdict.report else ())
        if claim.label is not Label.NOT_A_CLAIM
    ]


def is_wrong(answer: str, claim: str) -> bool | None:
    """What people said of a claim of this answer; None where it is not known."""
    known = (label for label in read_labels(DATA).values() if label.answer == answer)
    return next((label.marks(claim) for label in known), None)


def _verdicts(now_ns: int) -> Iterator[tuple[Verdict, list[SpanRecord]]]:
    routes = {name: label.route for name, label in read_labels(DATA).items()}
    rows: Sequence[LabelledAnswer] = read_rows(DATA)
    for number, row in enumerate(rows[::2], 1):
        start_ns = now_ns - number * 60 * SECOND_NS
        spans = _spans(row, number, start_ns, routes[row.id])
        (candidate,) = find_candidates(spans)
        report = RULES.verify(candidate.exchange)
        yield (
            Verdict(
                candidate, Decision.VERIFIED, RULES.judge.id, 1.0, start_ns + SECOND_NS, report
            ),
            spans,
        )


def _spans(row: LabelledAnswer, number: int, start_ns: int, route: str) -> list[SpanRecord]:
    def span(name: str, parent: str, kind: str, **attributes: str) -> SpanRecord:
        given = {key.replace("__", "."): value for key, value in attributes.items()}
        return SpanRecord(
            trace_id=f"{number:032x}",
            span_id=name,
            name=kind.lower(),
            start_ns=start_ns,
            end_ns=start_ns + SECOND_NS,
            parent_span_id=parent,
            attributes={"openinference.span.kind": kind, "rt4chart.route": route, **given},
            resource={"service.name": SERVICE},
            scope_name="openinference.instrumentation",
        )

    root, search, answer = (f"{number * 8 + at:016x}" for at in range(3))
    documents = {
        f"retrieval.documents.{at}.document.{key}": value
        for at, one in enumerate(row.exchange.passages)
        for key, value in (("id", one.id or f"p{at}"), ("content", one.text))
    }
    return [
        span(root, "", "CHAIN", input__value=row.exchange.question or "Summarize it."),
        span(search, root, "RETRIEVER", **documents),
        span(answer, root, "LLM", output__value=row.exchange.answer),
    ]
