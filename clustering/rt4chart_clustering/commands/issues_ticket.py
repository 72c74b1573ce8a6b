"""`rt4chart issues ticket`: file an issue in a ticket system, and update its ticket."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from otel_rt4chart.core.errors import InputError, RT4ChartError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_clustering.core.settings import TicketSettings
from rt4chart_clustering.explain.diagnosis import diagnose, load_failures
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.tickets.build import build_ticket
from rt4chart_clustering.tickets.filing import FilingOutcome, FilingResult, file_ticket
from rt4chart_clustering.tickets.systems import SYSTEMS, build_system
from rt4chart_clustering.tickets.ticket import TicketSystem
from rt4chart_clustering.triage.find_issue import find_issue, hex_id
from rt4chart_clustering.triage.ranking import RankedIssue, rank_issues
from rt4chart_collector.core.actors import SYSTEM_ACTOR, actor_of
from rt4chart_collector.core.printing import write
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import events_of_all
from rt4chart_collector.store.issues.issue_tickets import recorded_tickets

_MAX_FAILURES = 500
OUTCOME_TEXTS = {
    FilingOutcome.CREATED: "created",
    FilingOutcome.FOUND: "found: an earlier attempt created it",
    FilingOutcome.UPDATED: "updated",
    FilingOutcome.UNCHANGED: "unchanged",
}
Build = Callable[[str], TicketSystem]


def run(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """File one issue in one system, or update all tickets."""
    known = rank_issues(client, now_ns=now_ns)
    settings = load(TicketSettings)
    build = cache(lambda name: build_system(name, settings))
    if options.id is None:
        return _update_tickets(client, known, build, options)
    if options.to is None:
        raise InputError(f"--to: expected one of {', '.join(SYSTEMS)}, got none")
    issue = find_issue([one.issue for one in known], options.id)
    ranked = next(one for one in known if one.issue.id == issue.id)
    done = _file(client, ranked, build(options.to), options, actor_of(options))
    row = _row(ranked, options.to, done)
    write(row, _words(row), as_json=options.json)
    return 0


def _update_tickets(
    client: Client, known: list[RankedIssue], build: Build, options: argparse.Namespace
) -> int:
    """Update each recorded ticket; an error of one system does not stop the others."""
    rows, failed = [], 0
    for ranked, name in _open_tickets(client, known):
        if options.to not in (None, name):
            continue
        try:
            done = _file(client, ranked, build(name), options, SYSTEM_ACTOR)
        except RT4ChartError as error:
            failed += 1
            sys.stderr.write(f"rt4chart issues ticket: {hex_id(ranked.issue.id)}: {error}\n")
        else:
            rows.append(_row(ranked, name, done))
    words = "\n".join(map(_words, rows)) or "No open issue has a ticket."
    write(rows, words, as_json=options.json)
    return int(failed > 0)


def _open_tickets(client: Client, known: list[RankedIssue]) -> Iterator[tuple[RankedIssue, str]]:
    for ranked in known:
        if IssueState(ranked.issue.state).is_closed:
            continue
        for one in recorded_tickets(events_of_all(client, ranked.issue.ids)):
            if one.system in SYSTEMS:
                yield ranked, one.system


def _file(
    client: Client,
    ranked: RankedIssue,
    system: TicketSystem,
    options: argparse.Namespace,
    actor: str,
) -> FilingResult:
    issue = ranked.issue
    failures = load_failures(client, issue, limit=_MAX_FAILURES)
    typical = failures[: max(options.examples or 0, 0)]
    ticket = build_ticket(ranked, diagnose(client, failures), typical)
    return file_ticket(client, issue, ticket, system, actor=actor)


def _row(ranked: RankedIssue, name: str, filing: FilingResult) -> dict[str, Any]:
    return {
        "id": hex_id(ranked.issue.id),
        "system": name,
        "done": str(filing.outcome),
        "key": filing.filed.key,
        "url": filing.filed.url,
    }


def _words(row: dict[str, Any]) -> str:
    where = " ".join(printable(row["url"] or row["key"]).split())
    return f"{row['id']} {row['system']}: {OUTCOME_TEXTS[FilingOutcome(row['done'])]}. {where}"
