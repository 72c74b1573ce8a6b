"""What a connection of one tenant reads, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.core.tenants import stored_service
from rt4chart_collector.core.filters.filter_language import parse_filter
from rt4chart_collector.store.answers.spans import insert_spans, spans_of
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.lists.answer_filter import ANSWER_KEYS, AnswerFilter
from rt4chart_collector.store.lists.answer_list import answer_page
from rt4chart_collector.store.rates.claim_rates import route_sums
from rt4chart_collector.store.schema.tenant_client import (
    HIDDEN,
    OPEN,
    ROW_FILTERS,
    TenantClient,
    row_filter,
)
from tests.rt4chart_collector.records import SPAN, verdict

TABLES = """
SELECT name FROM system.tables WHERE database = {db:String} AND engine NOT LIKE '%View'
"""
VIEWS = ("rt4chart_rates", "rt4chart_coverage", "rt4chart_unfaithful_claims", "rt4chart_failures")


@pytest.fixture
def filled(client: Client) -> Client:
    """The same answers of two tenants and of none, in the same trace."""
    for tenant in ("acme", "acme2", ""):
        resource = {"service.name": "shop", **({"rt4chart.tenant": tenant} if tenant else {})}
        insert_spans(client, [replace(SPAN, resource=resource, name=f"of {tenant}")])
        one = verdict()
        service = stored_service(tenant, "shop")
        insert_verdicts(client, [replace(one, candidate=replace(one.candidate, service=service))])
    return client


def test_every_table_has_a_filter(client: Client) -> None:
    """A new table fails here until somebody has decided who sees its rows."""
    rows = client.query(TABLES, {"db": client.database}).result_rows

    assert {name for (name,) in rows if not name.startswith(".inner")} == ROW_FILTERS.keys()


def test_rows_of_other_tenants_are_not_read(filled: Client) -> None:
    """In tables, sums and views; what has no tenant belongs to none."""
    own = TenantClient(filled, "acme")
    services = own.query("SELECT DISTINCT ServiceName FROM rt4chart_claims FINAL").result_rows

    assert services == [("~acme/shop",)]
    assert [(one.service, one.route) for one in route_sums(own)] == [("~acme/shop", "support")]
    assert len(route_sums(filled)) == 3
    assert [span.name for span in spans_of(own, [SPAN.trace_id])] == ["of acme"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.ServiceName FROM rt4chart_claims AS a FINAL JOIN rt4chart_verifications AS b "
        "ON a.TraceId = b.TraceId",
        "SELECT ServiceName FROM (SELECT * FROM rt4chart_claims) UNION ALL "
        "SELECT ServiceName FROM rt4chart_route_5m",
        "WITH x AS (SELECT ServiceName FROM rt4chart_claims) SELECT * FROM x",
        "SELECT ServiceName FROM rt4chart_claims WHERE TraceId IN "
        "(SELECT TraceId FROM rt4chart_verifications)",
        "SELECT (SELECT any(ServiceName) FROM rt4chart_claims)",
        "SELECT arrayJoin((SELECT groupArray(ServiceName) FROM rt4chart_route_1m))",
        "SELECT ServiceName FROM {db}.rt4chart_verifications FINAL ORDER BY Timestamp LIMIT 1",
    ],
)
def test_no_kind_of_read_goes_around_the_filters(filled: Client, query: str) -> None:
    """Joins, subqueries, unions and names with the database."""
    text = query.replace("{db}", filled.database)

    assert {name for (name,) in filled.query(text).result_rows}
    assert {name for (name,) in TenantClient(filled, "acme").query(text).result_rows} == {
        "~acme/shop"
    }
    assert not {name for (name,) in TenantClient(filled, "other").query(text).result_rows} - {
        "",
        None,
    }


@pytest.mark.parametrize("view", VIEWS)
def test_views_read_through_the_filters(filled: Client, view: str) -> None:
    """The filters of the same setting, which row policies are made from."""
    settings = TenantClient(filled, "acme").settings
    query = f"SELECT DISTINCT ServiceName FROM {view}"  # noqa: S608 - names written here

    assert len(filled.query(query).result_rows) == 3
    assert filled.query(query, settings=settings).result_rows == [("~acme/shop",)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM system.tables",
        "SELECT * FROM rt4chart_rates",
        "SELECT * FROM other.rt4chart_claims",
        "SELECT * FROM merge('rt4chart_claims')",
        "SELECT 1 FROM rt4chart_claims, rt4chart_new",
        "SELECT 1 FROM rt4chart_claims SETTINGS additional_table_filters = {}",
        "INSERT INTO rt4chart_leases VALUES (1)",
    ],
)
def test_what_has_no_filter_is_refused(filled: Client, query: str) -> None:
    """Other tables, table functions, filters of a statement's own, and writes."""
    with pytest.raises(StoreError):
        TenantClient(filled, "acme").query(query)


def test_a_tenant_only_reads(filled: Client) -> None:
    """No statement, no insert, no setting and no other connection."""
    own = TenantClient(filled, "acme")
    refused: list[Callable[[], object]] = [
        lambda: own.command("SELECT 1"),
        lambda: own.insert("rt4chart_leases", [["a"]], ["Name"]),
        lambda: own.set_settings({"max_threads": "1"}),
        own.use_database,
        own.sibling,
    ]
    for call in refused:
        with pytest.raises(StoreError, match="expected a statement that reads"):
            call()
    own.close()

    assert filled.query("SELECT 1").result_rows == [(1,)]
    assert own.query("SELECT count() FROM rt4chart_issues").result_rows == [(0,)]


@pytest.mark.parametrize("tenant", ["", "a'b", "a/b", "#" + "0" * 32, "a" * 65, "~", "ä"])
def test_only_a_name_that_a_token_can_have_is_a_filter(client: Client, tenant: str) -> None:
    """It stands in the filter as it is."""
    with pytest.raises(InputError, match="expected a tenant of 1 to 64 letters"):
        TenantClient(client, tenant)


def test_streams_are_filtered(filled: Client) -> None:
    """As rows are."""
    text = TenantClient(filled, "acme").stream("SELECT ServiceName FROM rt4chart_claims FORMAT CSV")

    assert set(text.read().split()) == {b'"~acme/shop"'}


def test_filters_are_of_a_service_or_say_why_not() -> None:
    """A filter that lets everything or nothing through is one of two."""
    kinds = {row_filter(table, "acme") for table in ROW_FILTERS}

    assert kinds == {
        HIDDEN,
        OPEN,
        "startsWith(ServiceName, '~acme/')",
        "ResourceAttributes['rt4chart.tenant'] = 'acme'",
    }


@pytest.mark.parametrize(
    ("written", "services"),
    [
        ("tenant:acme", {"~acme/shop"}),
        ('tenant:""', {"shop"}),
        ("-tenant:acme", {"shop", "~acme2/shop"}),
    ],
)
def test_lists_are_filtered_by_tenant(client: Client, written: str, services: set[str]) -> None:
    """The operator sees all, and chooses: the name is the whole one."""
    for number, tenant in enumerate(("acme", "acme2", "")):
        one = verdict(number)
        service = stored_service(tenant, "shop")
        insert_verdicts(client, [replace(one, candidate=replace(one.candidate, service=service))])
    selection = AnswerFilter(QueryScope(), terms=parse_filter(written, ANSWER_KEYS))
    page = answer_page(client, selection, order="newest", limit=9)

    assert {one.service for one in page.rows} == services
