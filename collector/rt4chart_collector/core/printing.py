"""What commands print: a table for people, JSON for machines."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from rt4chart_collector.store.issues.issue_events import SERVICE_ACTOR

# What a table has where nobody looks at it: a file or a pipe.
_WIDE = 160


def write(value: object, words: RenderableType, *, as_json: bool) -> None:
    """Print the value, or what people read; a text is cleaned, a table's cells by `table`."""
    if as_json:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")
        return
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDE
    if isinstance(words, str):
        console.print(printable(words, keep="\n"), soft_wrap=True)
    else:
        console.print(words)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of plain texts, cleaned."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown


def add_actor(parser: argparse.ArgumentParser) -> None:
    """The options that say who does it and why, for the trail."""
    parser.add_argument("--by", metavar="NAME", help="who does it (default: the system's user)")
    parser.add_argument("--note", default="", metavar="TEXT", help="why, for the trail")


def actor_of(options: argparse.Namespace) -> str:
    """Who does it; nobody may be called what the software is."""
    name = options.by
    if name is None:
        try:
            name = getpass.getuser()
        except (ImportError, KeyError, OSError):  # a container's user may have no name
            name = "unknown"
    if not name.strip() or name == SERVICE_ACTOR:
        raise InputError(f"--by: expected a person's name, got {name!r}")
    return str(name)


def moment(time_ns: int) -> str:
    """A time to the minute in UTC; a dash for none."""
    if not time_ns:
        return "–"
    return datetime.fromtimestamp(time_ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M")
