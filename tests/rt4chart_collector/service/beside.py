"""A running service's local API, and a client that reaches the test's database through it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rt4chart_collector.service.local_api import LocalApiLimits, serve_local_api
from rt4chart_collector.store.engine.connect import Client, open_endpoint
from rt4chart_collector.store.engine.embedded_folder import LocalEndpoint, read_endpoint


def endpoint_of(owner: Client) -> LocalEndpoint:
    """What the service published in the database's folder."""
    endpoint = read_endpoint(Path(owner.target.path))
    assert endpoint is not None
    return endpoint


def guest(owner: Client, endpoint: LocalEndpoint) -> Client:
    """A client of the owner's database as another process has it."""
    client = Client(open_endpoint(endpoint), owner.target, is_guest=True)
    client.use_database()
    return client


@contextmanager
def beside(owner: Client, limits: LocalApiLimits | None = None) -> Iterator[Client]:
    """A guest's client while the local API serves the owner's database."""
    with serve_local_api(owner.target, limits), guest(owner, endpoint_of(owner)) as client:
        yield client
