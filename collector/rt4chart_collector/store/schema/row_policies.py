"""Grants and row policies for a ClickHouse user of one tenant, from the filters of its pages.

python -m rt4chart_collector.store.schema.row_policies TENANT USER [DATABASE]
"""

from __future__ import annotations

import re
import sys

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.dsn import DEFAULT_DATABASE
from rt4chart_collector.store.schema.tenant_client import HIDDEN, OPEN, ROW_FILTERS, row_filter

NAME = re.compile(r"[A-Za-z_]\w{0,63}")
# These read the tables above with the rights of who asks.
VIEWS = ("rt4chart_rates_by_measure", "rt4chart_rates", "rt4chart_coverage")


def row_policies(tenant: str, user: str, database: str = DEFAULT_DATABASE) -> list[str]:
    """The statements for a user of a single server that exists and has no other grants.

    Hidden tables are not granted. InputError for names that cannot be one.
    """
    for name in (user, database):
        if not NAME.fullmatch(name):
            raise InputError(f"expected letters, digits and underscores, got {name[:80]!r}")
    shown = {table: row_filter(table, tenant) for table in ROW_FILTERS}
    granted = [table for table, found in shown.items() if found != HIDDEN]
    return [
        *(f"GRANT SELECT ON {database}.{table} TO {user}" for table in (*granted, *VIEWS)),
        *(
            f"CREATE ROW POLICY IF NOT EXISTS {user} ON {database}.{table}\n"
            f"    USING {shown[table]} TO {user}"
            for table in granted
            if shown[table] != OPEN
        ),
    ]


if __name__ == "__main__":
    sys.stdout.write("".join(f"{one};\n" for one in row_policies(*sys.argv[1:4])))
