"""The service's database, for the commands that read or change what is in it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from otel_rt4chart.core.errors import InputError, StoreBusyError
from rt4chart_collector.store.engine.connect import Client, connect

BUSY_ADVICE = "An embedded database has one owner: stop the service for as long as this runs"
TABLES = "SELECT count() FROM system.tables WHERE database = {db:String} AND name = {name:String}"


def add_dsn(parser: argparse.ArgumentParser) -> None:
    """Declare the option that names the database."""
    parser.add_argument("--dsn", metavar="DSN", help="the database (default: RT4CHART_DSN)")


@contextmanager
def open_database(dsn: str, *, needs: str, otherwise: str = BUSY_ADVICE) -> Iterator[Client]:
    """The database while the block runs; the schema is left to the service that owns it.

    Raises StoreBusyError, with what to do `otherwise`, where a service owns an embedded database
    and lets nobody in, and InputError where the table that the command `needs` is not there.
    """
    try:
        client = connect(dsn)
    except StoreBusyError as error:
        raise StoreBusyError(f"{error}. {otherwise}") from error
    with client:
        given = {"db": client.database, "name": needs}
        if client.query(TABLES, given).result_rows == [(0,)]:
            raise InputError(
                f"{client.target.display_name} has no table {needs}: expected a database that "
                "`rt4chart up` of this version has opened; start it once, or set RT4CHART_DSN"
            )
        yield client
