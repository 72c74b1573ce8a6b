"""Functions that several subcommands of `rt4chart alerts` share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database


@contextmanager
def open_store(options: argparse.Namespace) -> Iterator[Client]:
    """The database of the options or the environment, while the block runs."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_alert_events") as client:
        yield client


def find_alert(states: Iterable[AlertState], prefix: str) -> AlertState:
    """The alert whose id begins with the prefix; InputError unless there is exactly one."""
    return find_by_prefix(states, prefix, "alert")


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_HasId)


def find_by_prefix(items: Iterable[T], prefix: str, what: str) -> T:
    """The item whose id begins with the prefix; InputError unless there is exactly one."""
    found = [item for item in items if item.id.startswith(prefix.lower())] if prefix else []
    if len(found) != 1:
        many = f"{len(found)}: {', '.join(item.id for item in found[:5])}" if found else "none"
        raise InputError(f"expected one {what} whose id begins with {prefix!r}, got {many}")
    return found[0]
