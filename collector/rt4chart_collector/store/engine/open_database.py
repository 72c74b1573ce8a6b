"""Opens a database for a command, which neither creates it nor migrates it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from otel_rt4chart.core.errors import InputError, NoStoreError, StoreBusyError
from rt4chart_collector.store.engine.connect import Client, connect

BUSY_ADVICE = "An embedded database has one owner: stop the service while this command runs"
MISSING_ADVICE = "`rt4chart up` creates one; --dsn or RT4CHART_DSN names another"
TABLES = "SELECT count() FROM system.tables WHERE database = {db:String} AND name = {name:String}"


@contextmanager
def open_database(dsn: str, *, needs: str, otherwise: str = BUSY_ADVICE) -> Iterator[Client]:
    """Open the database while the block runs; its schema is not changed.

    Raises NoStoreError if it does not exist, StoreBusyError with the advice `otherwise` if a
    service owns an embedded database and does not answer, and InputError if the table that the
    command `needs` is missing.
    """
    try:
        client = connect(dsn, creates=False)
    except StoreBusyError as error:
        raise StoreBusyError(f"{error}. {otherwise}") from error
    except NoStoreError as error:
        raise NoStoreError(f"{error}; {MISSING_ADVICE}") from error
    with client:
        # The schema is checked instead of migrated: only the service decides when to migrate.
        names = {"db": client.database, "name": needs}
        if client.query(TABLES, names).result_rows == [(0,)]:
            raise InputError(
                f"{client.target.display_name} has no table {needs}: expected a database that "
                "`rt4chart up` of this version has opened; run it once, or set RT4CHART_DSN"
            )
        yield client
