"""What a verb of `rt4chart issues` is, and what all of them share."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console, RenderableType

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from rt4chart_clustering.triage.find import find
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import ITSELF
from rt4chart_collector.store.issues.issues import Issue, list_issues

# What a table has where nobody looks at it: a file or a pipe.
_WIDE = 160


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing to do: `run` gets the time in nanoseconds and returns the exit status.

    `options` are those of the command's own that have an effect, beside --dsn and --json.
    """

    name: str
    usage: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Client, argparse.Namespace, int], int]
    options: tuple[str, ...] = ()


def with_id(parser: argparse.ArgumentParser) -> None:
    """A verb that is about one issue."""
    parser.add_argument("id", help="the issue's id, or its first digits")


def chosen(client: Client, options: argparse.Namespace) -> Issue:
    """The issue that is meant."""
    return find(list_issues(client), options.id)


def actor_of(options: argparse.Namespace) -> str:
    """Who does it; nobody may be called what the software is."""
    name = options.by
    if name is None:
        try:
            name = getpass.getuser()
        except (ImportError, KeyError, OSError):  # a container's user may have no name
            name = "unknown"
    if not name.strip() or name == ITSELF:
        raise InputError(f"--by: expected a person's name, got {name!r}")
    return str(name)


def moment(time_ns: int) -> str:
    """A time to the second, in UTC."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).isoformat()


def write(value: object, words: RenderableType, *, as_json: bool) -> None:
    """Print the value, or what people read; a text is cleaned, a table's cells have to be."""
    if as_json:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
        return
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDE
    if isinstance(words, str):
        console.print(printable(words, keep="\n"), soft_wrap=True)
    else:
        console.print(words)
