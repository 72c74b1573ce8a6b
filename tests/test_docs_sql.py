"""The queries of docs/reference/sql.md: each runs as it stands, and finds what there is."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import claim_rate
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.read_only import check_read_only, make_read_only
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.claim_rates import rates_by
from tests.conftest import fresh
from tests.rt4chart_collector.records import SECOND, VERIFIER, verdict
from tests.rt4chart_collector.store.answers.monitored import insert_monitoring

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
    for client in fresh(store_dsn):
        insert_verdicts(client, verdicts)
        insert_verdicts(client, [verdict(99, decision=Decision.NOT_SAMPLED, start_ns=LATELY)])
        insert_monitoring(client, verdicts[0])
        client.command(ASSIGN)
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
    """The first query gives the rates, intervals and n of every route."""
    rows = asked.query(QUERIES[0]).named_results()

    found = {str(row["Route"]): row for row in rows}
    slices = rates_by(asked, "route", QueryScope(NOW - 10**14, NOW, VERIFIER))
    assert set(found) == {one.route for one in slices} == {"support", "pay"}
    for one in slices:
        row, rate = found[one.route], claim_rate(one.sums)
        assert (row["n"], row["answers"]) == (one.claims, one.answers)
        assert row["rate"] == pytest.approx(rate.value)
        assert (row["low"], row["high"]) == pytest.approx((rate.low, rate.high), abs=1e-5)
        assert row["design_effect"] >= 1


def test_an_empty_database_is_no_error(client: Client) -> None:
    """No row, or none with a value."""
    for query in QUERIES:
        assert client.query(query).result_rows == []
