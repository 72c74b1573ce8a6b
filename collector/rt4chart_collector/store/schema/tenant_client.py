"""A connection of somebody who may see one tenant: the one place that filters what they read.

ClickHouse applies the filters of `additional_table_filters` where it reads a table, so that joins,
subqueries and views see no other rows either. Every table of ours has a filter, and a statement
that names any other is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import RawIOBase
from typing import Any, NoReturn

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.core.semconv import TENANT
from otel_rt4chart.core.tenants import EXPECTED_TENANT, is_tenant, service_prefix
from rt4chart_collector.store.engine.connect import Client, Rows
from rt4chart_collector.store.schema.cluster import LOCAL_SUFFIX

# Rows that are of a service: its stored name begins with the tenant.
OF_SERVICE = "startsWith(ServiceName, '{prefix}')"
OF_RESOURCE = f"ResourceAttributes['{TENANT}'] = '{{tenant}}'"
# What is no tenant's: the operator's own, and what has texts of several tenants. Not shown.
HIDDEN = "0"
# What says nothing of a tenant: times by trace id, and since when sums are complete.
OPEN = "1"
ROW_FILTERS: Mapping[str, str] = {
    "otel_traces": OF_RESOURCE,
    "otel_traces_trace_id_ts": OPEN,
    "rt4chart_rollup_starts": OPEN,
    **dict.fromkeys(
        (
            "rt4chart_verifications",
            "rt4chart_failed_answers",
            "rt4chart_claims",
            "rt4chart_trails",
            "rt4chart_criteria",
            "rt4chart_route_1m",
            "rt4chart_route_5m",
            "rt4chart_route_1h",
            "rt4chart_route_1d",
            "rt4chart_drift",
            "rt4chart_alert_events",
            "rt4chart_sampling_rates",
            "rt4chart_feedback",
            "rt4chart_labels",
            "rt4chart_label_draws",
            "rt4chart_label_queue",
            "rt4chart_corrected_rates",
            "rt4chart_dead_letters",
        ),
        OF_SERVICE,
    ),
    **dict.fromkeys(
        (
            "rt4chart_budget_leases",
            "rt4chart_failure_embeddings",
            "rt4chart_issues",
            "rt4chart_issue_assignments",
            "rt4chart_issue_events",
            "rt4chart_issue_memberships",
            "rt4chart_eval_cases",
            "rt4chart_eval_releases",
            "rt4chart_grouping_runs",
            "rt4chart_leases",
            "rt4chart_monitor_hours",
            "rt4chart_monitor_states",
            "rt4chart_recalibrations",
            "rt4chart_saved_views",
            "rt4chart_schema_migrations",
            "rt4chart_silences",
        ),
        HIDDEN,
    ),
}
# What a statement reads from. A name without a dot and a prefix of ours is a part of the statement
# or a column; a table function reads what no filter is for.
READ_FROM = re.compile(r"\b(?:FROM|(?<!ARRAY )JOIN)\s+(?P<name>[\w.`\"]+)(?P<call>\s*\()?", re.I)
OF_US = ("rt4chart_", "otel_")


def row_filter(table: str, tenant: str) -> str:
    """The condition on the rows of a table that a tenant may see; InputError for no tenant."""
    if not is_tenant(tenant):
        raise InputError(f"expected a tenant of {EXPECTED_TENANT}, got {tenant[:80]!r}")
    return ROW_FILTERS[table].format(tenant=tenant, prefix=service_prefix(tenant))


class TenantClient(Client):
    """Reads the rows of one tenant over the connection of another client, which it leaves open."""

    def __init__(self, client: Client, tenant: str) -> None:
        """InputError for a name that no tenant can have."""
        self._client = client
        self.target = client.target
        self.is_guest = client.is_guest
        # Of a Distributed table, the engine applies the filters of the tables under it alone.
        filters = {
            f"{client.database}.{name}": row_filter(table, tenant)
            for table in ROW_FILTERS
            for name in (table, table + LOCAL_SUFFIX)
        }
        quoted = (f"{_quoted(name)}: {_quoted(found)}" for name, found in filters.items())
        # With `readonly`, no statement can have filters of its own.
        self.settings: Mapping[str, object] = {
            "additional_table_filters": f"{{{', '.join(quoted)}}}",
            "readonly": "1",
        }

    def query(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> Rows:
        """Rows of a SELECT, of this tenant alone."""
        self._check(query)
        return self._client.query(query, parameters, settings={**(settings or {}), **self.settings})

    def stream(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> RawIOBase:
        """The bytes of a SELECT with a FORMAT, of this tenant alone."""
        self._check(query)
        return self._client.stream(
            query, parameters, settings={**(settings or {}), **self.settings}
        )

    def command(self, statement: str, parameters: Mapping[str, object] | None = None) -> object:
        """Refused: who sees one tenant only reads."""
        _refuse()

    def insert(
        self,
        table: str,
        data: Sequence[Sequence[Any]],
        column_names: Sequence[str],
        *,
        column_type_names: Sequence[str] | None = None,
        column_oriented: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> int:
        """Refused: who sees one tenant only reads."""
        _refuse()

    def set_settings(self, settings: Mapping[str, str]) -> None:
        """Refused: settings would stay with the connection."""
        _refuse()

    def use_database(self) -> None:
        """Refused: it would stay with the connection."""
        _refuse()

    def sibling(self) -> Client:
        """Refused: another connection would be one without filters."""
        _refuse()

    def close(self) -> None:
        """Nothing: the connection belongs to the client that this one was made of."""

    def _check(self, query: str) -> None:
        for read in READ_FROM.finditer(query):
            name = read["name"].replace("`", "").replace('"', "")
            name = name.removeprefix(f"{self.database}.")
            is_table = "." in name or name.startswith(OF_US)
            if read["call"] or (is_table and name not in ROW_FILTERS):
                raise StoreError(f"{name[:80]}: expected a table with a filter by tenant")


def seen_by(client: Client, tenant: str) -> Client:
    """The client for reading one tenant's rows; without a tenant, the client itself."""
    return TenantClient(client, tenant) if tenant else client


def _refuse() -> NoReturn:
    raise StoreError("expected a statement that reads: this connection sees one tenant")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
