"""What the subcommands of `rt4chart issues` have in common."""

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
from rt4chart_clustering.triage.find_issue import find_issue
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import SERVICE_ACTOR
from rt4chart_collector.store.issues.issues import Issue, list_issues

# The width of a table in a file or a pipe.
_PIPE_WIDTH = 160


@dataclass(frozen=True, slots=True)
class IssuesSubcommand:
    """A subcommand: `run` gets the time in nanoseconds and returns the exit status.

    `options` are the shared options that it uses, besides --dsn and --json.
    """

    name: str
    usage: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Client, argparse.Namespace, int], int]
    options: tuple[str, ...] = ()


def add_id_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the argument of a subcommand for one issue."""
    parser.add_argument("id", help="the issue's id, or its first digits")


def issue_from(client: Client, options: argparse.Namespace) -> Issue:
    """The issue that the user named."""
    return find_issue(list_issues(client), options.id)


def actor_of(options: argparse.Namespace) -> str:
    """The user's name; a person may not take the name that events of the software have."""
    name = options.by
    if name is None:
        try:
            name = getpass.getuser()
        except (ImportError, KeyError, OSError):  # a container's user may have no name
            name = "unknown"
    if not name.strip() or name == SERVICE_ACTOR:
        raise InputError(f"--by: expected a person's name, got {name!r}")
    return str(name)


def utc_time(time_ns: int) -> str:
    """A time to the second, in UTC."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).isoformat()


def print_result(value: object, words: RenderableType, *, as_json: bool) -> None:
    """Print JSON or text. A string is cleaned here; the cells of a table must be clean already."""
    if as_json:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
        return
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    if isinstance(words, str):
        console.print(printable(words, keep="\n"), soft_wrap=True)
    else:
        console.print(words)
