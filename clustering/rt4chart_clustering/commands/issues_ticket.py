"""`rt4chart issues ticket`: file an issue in another system, and update its ticket."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from otel_rt4chart.core.errors import InputError, RT4ChartError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_clustering.commands.issues_verb import Verb, actor_of, write
from rt4chart_clustering.core.settings import TicketSettings
from rt4chart_clustering.explain.diagnosis import diagnose
from rt4chart_clustering.explain.members import failures_of
from rt4chart_clustering.grouping.issue_state import State
from rt4chart_clustering.tickets.build import ticket_of
from rt4chart_clustering.tickets.filing import Done, Filing, file, known_tickets
from rt4chart_clustering.tickets.systems import SYSTEMS, build_system
from rt4chart_clustering.tickets.ticket import System
from rt4chart_clustering.triage.find import find, shown_id
from rt4chart_clustering.triage.overview import Standing, overview
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import ITSELF, events_of_all

_LOOKED_AT = 500
WORDS = {
    Done.CREATED: "created",
    Done.FOUND: "found: it was created before, and is recorded now",
    Done.UPDATED: "updated",
    Done.UNCHANGED: "unchanged",
}
Build = Callable[[str], System]


def run(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """File one issue in one system, or update all tickets."""
    known = overview(client, now_ns=now_ns)
    settings = load(TicketSettings)
    build = cache(lambda name: build_system(name, settings))
    if options.id is None:
        return _follow(client, known, build, options)
    if options.to is None:
        raise InputError(f"--to: expected one of {', '.join(SYSTEMS)}, got none")
    issue = find([one.issue for one in known], options.id)
    standing = next(one for one in known if one.issue.id == issue.id)
    done = _file(client, standing, build(options.to), options, actor_of(options))
    row = _row(standing, options.to, done)
    write(row, _words(row), as_json=options.json)
    return 0


def _follow(
    client: Client, known: list[Standing], build: Build, options: argparse.Namespace
) -> int:
    """Update each recorded ticket; a system that refuses does not hold up the others."""
    rows, failed = [], 0
    for standing, name in _filed(client, known):
        if options.to not in (None, name):
            continue
        try:
            done = _file(client, standing, build(name), options, ITSELF)
        except RT4ChartError as error:
            failed += 1
            sys.stderr.write(f"rt4chart issues ticket: {shown_id(standing.issue)}: {error}\n")
        else:
            rows.append(_row(standing, name, done))
    words = "\n".join(map(_words, rows)) or "No open issue has a ticket."
    write(rows, words, as_json=options.json)
    return int(failed > 0)


def _filed(client: Client, known: list[Standing]) -> Iterator[tuple[Standing, str]]:
    for standing in known:
        if State(standing.issue.state).is_closed:
            continue
        for one in known_tickets(events_of_all(client, standing.issue.ids)):
            if one.system in SYSTEMS:
                yield standing, one.system


def _file(
    client: Client,
    standing: Standing,
    system: System,
    options: argparse.Namespace,
    actor: str,
) -> Filing:
    issue = standing.issue
    failures = failures_of(client, issue, limit=_LOOKED_AT)
    typical = failures[: max(options.examples or 0, 0)]
    ticket = ticket_of(standing, diagnose(client, failures), typical)
    return file(client, issue, ticket, system, actor=actor)


def _row(standing: Standing, name: str, filing: Filing) -> dict[str, Any]:
    return {
        "id": shown_id(standing.issue),
        "system": name,
        "done": str(filing.done),
        "key": filing.filed.key,
        "url": filing.filed.url,
    }


def _words(row: dict[str, Any]) -> str:
    where = " ".join(printable(row["url"] or row["key"]).split())
    return f"{row['id']} {row['system']}: {WORDS[Done(row['done'])]}. {where}"


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="the issue; without one all that have a ticket")
    parser.add_argument("--to", choices=SYSTEMS, help="where")


VERBS = (
    Verb(
        "ticket",
        "ticket [ID] --to WHERE",
        "file it, or update its ticket",
        _configure,
        run,
        ("by", "examples"),
    ),
)
