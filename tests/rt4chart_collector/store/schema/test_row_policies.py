"""Row policies for people with SQL of their own: the same filters as those of the console."""

from __future__ import annotations

import re

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.schema.row_policies import row_policies
from rt4chart_collector.store.schema.tenant_client import HIDDEN, OPEN, ROW_FILTERS

STATEMENTS = row_policies("acme", "acme_reader", "otel")


def test_the_engine_can_read_them(client: Client) -> None:
    """Every statement is one of its language."""
    for one in STATEMENTS:
        (row,) = client.query("SELECT formatQuery({text:String})", {"text": one}).result_rows
        assert row[0].startswith(("GRANT SELECT ON otel.", "CREATE ROW POLICY IF NOT EXISTS"))


def test_every_table_that_is_granted_is_filtered() -> None:
    """Tables that are hidden are not granted; those that say nothing of a tenant need no filter."""
    granted = set(re.findall(r"GRANT SELECT ON otel\.(\w+) ", "\n".join(STATEMENTS)))
    filtered = set(re.findall(r"ON otel\.(\w+)\n    USING", "\n".join(STATEMENTS)))
    tables = granted & ROW_FILTERS.keys()

    assert tables == {name for name, found in ROW_FILTERS.items() if found != HIDDEN}
    assert tables - filtered == {name for name, found in ROW_FILTERS.items() if found == OPEN}


@pytest.mark.parametrize(
    ("tenant", "user"), [("a'b", "reader"), ("acme", "a b"), ("acme", ""), ("", "reader")]
)
def test_names_that_are_none_are_refused(tenant: str, user: str) -> None:
    """They stand in the statements as they are."""
    with pytest.raises(InputError):
        row_policies(tenant, user)
