"""`rt4chart issues list`, `show` and `history`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from rt4chart_clustering.commands import issues_table as table
from rt4chart_clustering.commands.issues_verb import Verb, chosen, moment, with_id, write
from rt4chart_clustering.grouping.issue_state import State
from rt4chart_clustering.triage.filter import OPEN, Wanted, narrowed
from rt4chart_clustering.triage.find import hex_of, short_ids, shown_id
from rt4chart_clustering.triage.overview import Standing, overview
from rt4chart_clustering.triage.whole import whole_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issue_events import events_of_all

_EXAMPLES, _PARTS = 3, 5


def list_all(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """The issues that are asked for, the worst first."""
    known = overview(client, now_ns=now_ns)
    since_ns = now_ns - options.since * 1_000_000_000 if options.since else 0
    wanted = Wanted(options.state or OPEN, route=options.route, since_ns=since_ns)
    found = narrowed(known, wanted)
    hidden = 0 if options.state else sum(State(one.issue.state).is_closed for one in known)
    words = _listed(found, [one.issue for one in known], hidden)
    write([row(one) for one in found], words, as_json=options.json)
    return 0


def _listed(found: Sequence[Standing], known: Sequence[Any], hidden: int) -> RenderableType:
    if not known:
        return "No issues. `rt4chart cluster` groups the failures that are there."
    closed = f"{hidden} closed: --state all" if hidden else ""
    if not found:
        return f"No such issue. {closed}".strip()
    return table.listed(found, short_ids(known), closed)


def show(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """One issue with its figures and its most typical claims."""
    issue = chosen(client, options)
    standing = next(one for one in overview(client, now_ns=now_ns) if one.issue.id == issue.id)
    number = max(_EXAMPLES if options.examples is None else options.examples, 1)
    whole = whole_of(client, issue, examples=number)
    parts = {
        name: [asdict(one) for one in getattr(whole.profile, name)[:_PARTS]]
        for name in ("routes", "models", "prompts", "evidence", "context")
    }
    shown = row(standing) | {
        "examples": [example(failure) for failure in whole.typical],
        "summary": issue.summary,
        "aliases": [hex_of(one) for one in issue.aliases],
        **parts,
        "trend": [asdict(one) for one in whole.profile.trend],
        "tickets": [
            {"system": one.system, "key": one.filed.key, "url": one.filed.url}
            for one in whole.tickets
        ],
        "cause": whole.cause,
        "proposed": {"merge": whole.merge, "split": whole.split},
    }
    write(shown, table.one(shown), as_json=options.json)
    return 0


def history(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Everything that happened to an issue, and who did it."""
    issue = chosen(client, options)
    trail = events_of_all(client, issue.ids)
    rows = [
        {
            "at": moment(one.at_ns),
            "issue": hex_of(one.issue),
            "by": one.actor,
            "kind": one.kind,
            "value": one.value,
            "note": one.note,
        }
        for one in trail
    ]
    write(rows, table.history(rows), as_json=options.json)
    return 0


def row(one: Standing) -> dict[str, Any]:
    """An issue's row."""
    issue, traffic = one.issue, one.traffic
    return {
        "id": shown_id(issue),
        "title": issue.title,
        "state": issue.state,
        "severity": str(one.severity.level),
        "score": round(one.severity.score, 1),
        "service": issue.service,
        "route": issue.route,
        "fingerprint": issue.fingerprint,
        "claims": issue.claims,
        "answers": issue.answers,
        "weighted": round(issue.weighted, 2),
        "a_day": round((traffic.contradicted + traffic.baseless) / traffic.days, 2),
        "share": None if traffic.share is None else round(traffic.share, 6),
        "daily": [round(weight, 2) for weight in traffic.daily],
        "first_seen": moment(issue.first_ns),
        "last_seen": moment(issue.last_ns),
        "owner": issue.owner,
    }


def example(failure: Failure) -> dict[str, Any]:
    """A claim with what stands against it, or near it."""
    return {
        "trace_id": failure.trace_id,
        "span_id": failure.span_id,
        "question": failure.question,
        "claim": failure.claim,
        "label": failure.label,
        "evidence": [{"passage": one.passage_id, "text": one.text} for one in failure.evidence],
        "nearest": failure.nearest,
    }


def _nothing(parser: argparse.ArgumentParser) -> None:
    """The options that all share suffice."""


_NARROW = ("route", "state", "since")
VERBS = (
    Verb("list", "list", "the issues, the worst first", _nothing, list_all, _NARROW),
    Verb("show", "show ID", "one issue; ID alone does it", with_id, show, ("examples",)),
    Verb("history", "history ID", "what happened to it, and who did it", with_id, history),
)
