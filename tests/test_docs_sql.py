"""The queries of docs/reference/sql.md: each runs as it stands, and finds what there is."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import CheckPlan, ClaimStatus, Evidence, Label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.read_only import check_read_only, make_read_only
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import corrected_rates
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.labels.rate_history import write_corrected_rates
from rt4chart_collector.store.labels.trusted_labels import record_labels
from rt4chart_collector.store.rates.claim_rates import rates_by
from tests.conftest import fresh
from tests.rt4chart_collector.records import SECOND, VERIFIER, verdict
from tests.rt4chart_collector.store.answers.monitored import insert_monitoring
from tests.rt4chart_collector.store.labels.label_rows import with_status

PAGE = (Path(__file__).parents[1] / "docs/reference/sql.md").read_text()
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
NOW = time.time_ns()
LATELY = NOW - 600 * SECOND
GOOD, BAD, DENIED, OPEN = Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED, Label.UNDECIDED
ASSIGN = """
INSERT INTO rt4chart_issue_assignments (Timestamp, TraceId, SpanId, ClaimIndex, IssueId,
    ServiceName, Route, AssignedBy, Version)
SELECT Timestamp, TraceId, SpanId, ClaimIndex, 7, ServiceName, Route, 'birth', Version + 1
FROM rt4chart_claims FINAL WHERE Label = 'baseless'
"""

MEASURE = """
INSERT INTO rt4chart_issue_memberships (Timestamp, TraceId, SpanId, ClaimIndex, ServiceName, Issues,
    Shares, DescriptionVersion, Version)
SELECT Timestamp, TraceId, SpanId, ClaimIndex, ServiceName, [7], [0.8], Version + 1, 1
FROM rt4chart_claims FINAL WHERE Label = 'baseless'
"""


SOME_CHECKS = CheckPlan(cherry_picking=0.0, is_complete=False)


def with_statuses(one: Verdict, number: int) -> Verdict:
    """The verdict with a cherry-picked claim, found by a check that ran on half of the answers."""
    assert one.report is not None
    first, *rest = one.report.claims
    limits = (*first.evidence, Evidence("p2", 0, 5, "unless", "limits"))
    picked = replace(first, status=ClaimStatus.CHERRY_PICKED, check_rate=0.5, evidence=limits)
    plan = CheckPlan(cherry_picking=0.5) if number % 2 else SOME_CHECKS
    claims = (picked if number % 2 else first, *rest)
    report = replace(one.report, claims=claims, plan=plan)
    return replace(one, report=report, citations=2)


@pytest.fixture(scope="module")
def asked(store_dsn: str) -> Iterator[Client]:
    """Two routes of the last hour with claims of every label, an issue, drift, alert, opinion."""
    labels = ([GOOD, GOOD, BAD], [GOOD] * 4, [DENIED, OPEN], [BAD, BAD, BAD], [GOOD, OPEN, GOOD])
    verdicts = [
        verdict(
            number,
            labels[number % 5],
            route=("support", "pay")[number % 2],
            sample_rate=(1.0, 0.25)[number % 3 == 0],
            start_ns=LATELY,
        )
        for number in range(1, 41)
    ]
    misleading = [
        with_statuses(verdict(number, [GOOD, GOOD, BAD], start_ns=LATELY), number)
        for number in range(50, 60)
    ]
    step = ChainPlace("s1", "b" * 16, "summarise", "LLM", "summarise")
    verdicts[6] = replace(verdicts[6], trail=(ClaimBlame(0, (step,)),))
    for client in fresh(store_dsn):
        insert_verdicts(client, [*verdicts, *misleading])
        insert_verdicts(client, [verdict(99, decision=Decision.NOT_SAMPLED, start_ns=LATELY)])
        insert_monitoring(client, verdicts[0])
        client.command(ASSIGN)
        client.command(MEASURE)
        scope = QueryScope(LATELY - 3600 * SECOND, NOW, VERIFIER)
        drawn = draw_claims(client, DrawRequest(scope, 40, "ann"), now_ns=NOW)
        record_labels(client, [with_status(row, 0.2) for row in drawn.queue])
        write_corrected_rates(client, corrected_rates(client, scope), scope)
        yield client


def test_there_are_a_dozen() -> None:
    """And none of them is left out below."""
    assert len(QUERIES) >= 12
    assert PAGE.count("```sql") == len(QUERIES)


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_query_finds_rows(asked: Client, query: str) -> None:
    """Every column has a value in the first row."""
    result = asked.query(query)

    assert len(result.result_rows) > 0
    for name, value in zip(result.column_names, result.result_rows[0], strict=True):
        assert value is not None, name


def test_queries_only_read(asked: Client) -> None:
    """`rt4chart sql` runs every one of them, in the parser's spelling."""
    with asked.sibling() as reading:
        make_read_only(reading)
        texts = [check_read_only(reading, query) for query in QUERIES]

        assert all(reading.query(text).result_rows for text in texts)


def test_the_interval_is_the_one_that_we_print(asked: Client) -> None:
    """The first query gives both rates, their intervals and n of every route."""
    rows = asked.query(QUERIES[0]).named_results()

    found = {(str(row["Measure"]), str(row["Route"])): row for row in rows}
    slices = rates_by(asked, "route", QueryScope(NOW - 10**14, NOW, VERIFIER))
    measures = (Measure.UNFAITHFUL, Measure.MISLEADING)
    assert {one.route for one in slices} == {"support", "pay"}
    assert set(found) == {(measure, one.route) for measure in measures for one in slices}
    for measure, one in ((measure, one) for measure in measures for one in slices):
        row, rate, sums = found[measure, one.route], one.rate_of(measure), one.sums_of(measure)
        assert (row["n"], row["answers"]) == (sums.claims, sums.answers)
        assert row["rate"] == pytest.approx(rate.value)
        assert (row["low"], row["high"]) == pytest.approx((rate.low, rate.high), abs=1e-5)
        assert row["design_effect"] >= 1


def test_an_empty_database_is_no_error(client: Client) -> None:
    """No row, or none with a value."""
    for query in QUERIES:
        assert client.query(query).result_rows == []
