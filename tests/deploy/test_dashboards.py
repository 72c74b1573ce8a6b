"""Grafana's dashboards: every query runs on the store and finds the rows of real answers."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, LocalJudge, Passage, Verifier
from rt4chart_collector.demo.labels import DATA
from rt4chart_collector.pipeline.decision import save_outcomes
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from rt4chart_collector.store.labels.corrected_rates import corrected_rates
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.labels.rate_history import write_corrected_rates
from tests.conftest import fresh
from tests.deploy.files import DASHBOARDS, DEPLOY, panels, read_yaml, targets
from tests.rt4chart_collector.store.answers.monitored import insert_monitoring
from tests.rt4chart_collector.store.labels.label_rows import label_all

CLICKHOUSE = "grafana-clickhouse-datasource"
SERVICE, ROUTE, MINUTE_S = "rag-app", "earnings calls", 60
NOW_S = int(time.time())
QUERIES = [
    pytest.param(one["rawSql"], id=f"{dashboard}: {panel}")
    for dashboard, panel, one in targets(CLICKHOUSE)
]
VARIABLES = sorted(
    {
        one["query"]
        for path in DASHBOARDS
        for one in json.loads(path.read_text())["templating"]["list"]
    }
)


def real_verdict(
    number: int, response: dict[str, str], source: dict[str, list[str]], verifier: Verifier
) -> Verdict:
    """One of the demo's answers, really judged."""
    passages = tuple(Passage(f"p{at}", text) for at, text in enumerate(source["contexts"]))
    exchange = Exchange(str(source["question"]), passages, response["response"])
    start_ns = (NOW_S - MINUTE_S) * 10**9 + number
    return Verdict(
        candidate=Candidate(
            exchange=exchange,
            trace_id=f"{number:032x}",
            span_id=f"{number:016x}",
            start_ns=start_ns,
            service=SERVICE,
            route=ROUTE,
        ),
        decision=Decision.VERIFIED,
        verifier=verifier.judge.id,
        sample_rate=0.5,
        decided_ns=start_ns + 10**9,
        report=verifier.verify(exchange),
        duration_ns=5,
    )


def demo_verdicts(limit: int) -> Iterator[Verdict]:
    """The first of the demo's answers with an error that has a place."""
    lines = (DATA / "source_info.jsonl").read_text().splitlines()
    sources = {one["source_id"]: one for one in map(json.loads, lines)}
    responses = map(json.loads, (DATA / "response.jsonl").read_text().splitlines())
    wrong = [one for one in responses if one["labels"]][:limit]
    verifier = Verifier(judge=LocalJudge())
    for number, one in enumerate(wrong, 1):
        yield real_verdict(number, one, sources[one["source_id"]], verifier)


def letter(verdict: Verdict) -> DeadLetter:
    """The dead letter of an answer that could not be verified."""
    answer, now = verdict.candidate, NOW_S * 10**9
    return DeadLetter(
        start_ns=answer.start_ns,
        trace_id=answer.trace_id,
        span_id=answer.span_id,
        service=SERVICE,
        route=ROUTE,
        verifier=verdict.verifier,
        state=LetterState.DEAD,
        reason="too_long",
        error_type="BadRequestError",
        attempts=1,
        first_ns=now,
        last_ns=now,
        next_ns=now,
        version=now,
    )


def issue() -> Issue:
    """A group of failures."""
    return Issue(
        id=7,
        title="Number not as in the source",
        fingerprint="fp1:contradicted:number",
        service=SERVICE,
        route=ROUTE,
        first_ns=(NOW_S - MINUTE_S) * 10**9,
        last_ns=(NOW_S - MINUTE_S) * 10**9,
        claims=3,
        centroid=(0.5, 0.25),
        run="7",
        example_traces=("t1",),
    )


@pytest.fixture(scope="module")
def stored(store_dsn: str) -> Iterator[Client]:
    """A database with a few of the demo's answers, and one of everything else."""
    for client in fresh(store_dsn):
        verdicts = list(demo_verdicts(30))
        spans = [
            SpanRecord(
                trace_id=one.candidate.trace_id,
                span_id=one.candidate.span_id,
                name="answer",
                start_ns=one.candidate.start_ns,
                end_ns=one.candidate.start_ns + 1,
                resource={"service.name": SERVICE},
            )
            for one in verdicts
        ]
        insert_spans(client, spans)
        save_outcomes(client, [AnswerOutcome(one, letter(one)) for one in verdicts], "0")
        insert_issues(client, [issue()], version=1)
        insert_monitoring(client, verdicts[0])
        scope = QueryScope((NOW_S - 3600) * 10**9, (NOW_S + 60) * 10**9, verdicts[0].verifier)
        drawn = draw_claims(client, DrawRequest(scope, 40, "ann"), now_ns=scope.until_ns)
        label_all(client, drawn.queue)
        write_corrected_rates(client, corrected_rates(client, scope), scope)
        yield client


def substituted(query: str, judge: str) -> str:
    """The query as Grafana sends it: the macros of its ClickHouse plugin, and the variables."""
    for name, value in (("service", SERVICE), ("route", ROUTE), ("judge", judge)):
        query = query.replace(f"${{{name}:singlequote}}", f"'{value}'")
    begin, end = NOW_S - 3600, NOW_S + 60
    query = re.sub(
        r"\$__timeFilter\((\w+)\)",
        rf"\1 >= toDateTime({begin}) AND \1 <= toDateTime({end})",
        query,
    )
    query = re.sub(
        r"\$__timeInterval\((\w+)\)",
        r"toStartOfInterval(toDateTime(\1), INTERVAL 60 second)",
        query,
    )
    assert "$" not in query
    return query


@pytest.mark.parametrize("query", QUERIES)
def test_query_of_a_panel_finds_rows(stored: Client, query: str) -> None:
    """It runs, and every column has a value in the first row."""
    judge = LocalJudge().id

    result = stored.query(substituted(query, judge))

    assert len(result.result_rows) > 0
    for name, value in zip(result.column_names, result.result_rows[0], strict=True):
        assert value is not None, name


@pytest.mark.parametrize("query", VARIABLES)
def test_query_of_a_variable_finds_rows(stored: Client, query: str) -> None:
    """The choices above a dashboard."""
    assert len(stored.query(substituted(query, LocalJudge().id)).result_rows) > 0


def test_queries_of_an_empty_database_are_no_error(client: Client) -> None:
    """Before the first answer a panel of answers has no rows, or one of zeros and NULLs."""
    panel_queries = [one["rawSql"] for _, _, one in targets(CLICKHOUSE)]
    assert panel_queries
    assert VARIABLES
    for query in (*panel_queries, *VARIABLES):
        result = client.query(substituted(query, "local/none"))
        values = [value for row in result.result_rows for value in row]
        if "system.parts" not in query:
            assert [value for value in values if value and value == value] == [], query


def test_dashboards_use_the_sources_that_are_provisioned() -> None:
    """By their uid, which the file of the sources gives them."""
    path = DEPLOY / "grafana/provisioning/datasources/rt4chart.yaml"
    provisioned = {(one["type"], one["uid"]) for one in read_yaml(path)["datasources"]}

    used = {
        (one["datasource"]["type"], one["datasource"]["uid"])
        for kind in (CLICKHOUSE, "prometheus")
        for _, _, one in targets(kind)
    }
    assert used == provisioned


def test_a_rate_stands_beside_its_number_of_claims() -> None:
    """On every dashboard with a rate there is a panel or a column with n."""
    for path in DASHBOARDS:
        text = path.read_text()
        assert ("AS rate" in text) <= (" AS n" in text), path.name


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_have_places_of_their_own(path: Path) -> None:
    """None covers another, all are within the width, and each has its id and says what it shows."""
    cells = [
        (x, y)
        for panel in panels(path)
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    ids = [panel["id"] for panel in panels(path)]

    assert len(set(cells)) == len(cells)
    assert all(0 <= x < 24 for x, _ in cells)
    assert len(set(ids)) == len(ids)
    assert [panel["title"] for panel in panels(path) if not panel.get("description")] == []
