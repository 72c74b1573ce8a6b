"""What a verb of `rt4chart alerts` is, and what several share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from rt4chart_collector.commands.database import open_database
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import Client


def add_no_options(parser: argparse.ArgumentParser) -> None:
    """A verb without options of its own."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing to do, with its exit status."""

    name: str
    help: str
    run: Callable[[argparse.Namespace], int]
    configure: Callable[[argparse.ArgumentParser], None] = add_no_options


@contextmanager
def open_store(options: argparse.Namespace) -> Iterator[Client]:
    """The database that is meant, while the block runs."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_alert_events") as client:
        yield client


def find_alert(states: Iterable[AlertState], given: str) -> AlertState:
    """The alert whose id begins like this; InputError where there is none, or more than one."""
    found = [state for state in states if state.id.startswith(given.lower())] if given else []
    if len(found) != 1:
        many = f"{len(found)}: {', '.join(state.id for state in found[:5])}" if found else "none"
        raise InputError(f"expected one alert whose id begins with {given!r}, got {many}")
    return found[0]
