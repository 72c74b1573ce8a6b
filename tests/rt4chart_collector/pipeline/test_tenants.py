"""Answers of several tenants, from their spans to what is stored of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.core.tenants import split_service
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.pipeline.additions.trails import chain_of
from rt4chart_collector.pipeline.trace_queue import _service_of
from rt4chart_collector.store.answers.conversations import traces_of_session
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.claim_rates import route_sums
from tests.rt4chart_collector.pipeline.line import BAD, GOOD, Line, spans_from
from tests.rt4chart_collector.records import NOON, SPAN, verdict


def of_tenant(spans: Sequence[SpanRecord], tenant: str, ids: str = "") -> list[SpanRecord]:
    """These spans as another tenant sends them; span ids begin with `ids`."""

    def own(name: str) -> str:
        return ids + name[len(ids) :] if name else name

    return [
        replace(
            span,
            span_id=own(span.span_id),
            parent_span_id=own(span.parent_span_id),
            resource={**span.resource, "rt4chart.tenant": tenant},
        )
        for span in spans
    ]


def test_tenants_with_the_same_names_share_no_sum(client: Client) -> None:
    """Also where a trace goes through both: one tenant's bad answers are not the other's."""
    line = Line(client, Verifier(RulesJudge()))
    for number in (1, 2):
        both = [
            *of_tenant(spans_from(number, GOOD), "acme", "aa"),
            *of_tenant(spans_from(number, BAD), "zeta", "bb"),
            *spans_from(number, GOOD),
        ]
        line.take(both)
    found = {one.service: one for one in route_sums(client)}

    assert set(found) == {"~acme/shop", "~zeta/shop", "shop"}
    rows = client.query(
        "SELECT ServiceName, count(), sum(ContradictedCount + BaselessCount) > 0 "
        "FROM rt4chart_verifications FINAL WHERE IsDeleted = 0 GROUP BY 1 ORDER BY 1"
    ).result_rows
    assert rows == [("shop", 2, 0), ("~acme/shop", 2, 0), ("~zeta/shop", 2, 1)]


def test_an_answer_is_made_from_spans_of_its_tenant(client: Client) -> None:
    """Another tenant's passages in the same trace support nothing, and stand in no trail."""
    retrieval, answer, root = of_tenant(spans_from(1, GOOD), "acme", "aa")
    foreign = replace(retrieval, resource={"service.name": "shop", "rt4chart.tenant": "zeta"})
    for spans in ([foreign, answer, root], [root, answer, foreign]):
        (candidate,) = find_candidates(spans)
        assert candidate.service == "~acme/shop"
        assert candidate.exchange.passages == ()
        chain = chain_of(client, candidate.service, candidate.span_id, spans)
        assert foreign.span_id not in {step.span_id for step in chain.steps.values()}
    (candidate,) = find_candidates([retrieval, answer, root])
    assert candidate.exchange.passages
    (candidate,) = find_candidates([answer, root], [retrieval, foreign])
    assert candidate.exchange.passages == ()


def test_a_verdict_is_stored_as_a_span_of_its_tenant(client: Client) -> None:
    """Under the service's own name, beside the spans that the tenant may see."""
    line = Line(client, Verifier(RulesJudge()))
    line.take(of_tenant(spans_from(1), "acme"))
    rows = client.query(
        "SELECT DISTINCT ServiceName, ResourceAttributes['rt4chart.tenant'] FROM otel_traces "
        "WHERE ScopeName = 'otel_rt4chart'"
    ).result_rows

    assert rows == [("shop", "acme")]


def test_a_verdict_replaces_none_of_another_tenant(client: Client) -> None:
    """Whoever sends spans chooses their ids, and may know those of others."""
    one = verdict()
    other = replace(one, candidate=replace(one.candidate, service="~zeta/shop"))
    insert_verdicts(client, [one])
    insert_verdicts(client, [replace(other, decided_ns=other.decided_ns + 1)])
    insert_verdicts(client, [other, replace(one, decided_ns=one.decided_ns + 2)])

    assert {row.service: row.answers for row in route_sums(client)} == {
        "shop": 1,
        "~zeta/shop": 1,
    }
    rows = client.query(
        "SELECT ServiceName, count() FROM rt4chart_claims FINAL WHERE IsDeleted = 0 "
        "GROUP BY 1 ORDER BY 1"
    ).result_rows
    assert rows == [("shop", 2), ("~zeta/shop", 2)]


def test_a_conversation_is_of_one_tenant(client: Client) -> None:
    """Sessions of two tenants may have the same name."""
    spans = [
        replace(
            SPAN,
            trace_id=f"{number:032x}",
            attributes={**SPAN.attributes, "session.id": "s1"},
            resource={"service.name": "shop", **({"rt4chart.tenant": name} if name else {})},
        )
        for number, name in enumerate(("", "acme", "zeta"), 1)
    ]
    insert_spans(client, spans)

    def traces(service: str) -> list[str]:
        return traces_of_session(
            client,
            service=service,
            session="s1",
            since_ns=0,
            before_ns=NOON + 1,
            limit=9,
            seconds=10,
        )

    assert traces("shop") == [spans[0].trace_id]
    assert traces("~acme/shop") == [spans[1].trace_id]


def test_tenants_take_turns() -> None:
    """One with many answers does not hold up the service of the same name of another."""
    spans = [of_tenant([SPAN], tenant)[0] for tenant in ("acme", "zeta")]

    assert len({_service_of(span) for span in (SPAN, *spans)}) == 3
    assert split_service(_service_of(spans[0])) == ("acme", "shop")
