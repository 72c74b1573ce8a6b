"""`rt4chart issues`: the issues, or one of them with its examples."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any

from otel_rt4chart.cli import Command
from otel_rt4chart.errors import InputError
from otel_rt4chart.plain import printable
from rt4chart_clustering import settings
from rt4chart_clustering.name import plain
from rt4chart_collector.store.connect import Client, connect
from rt4chart_collector.store.failures import Failure, failures_by_key
from rt4chart_collector.store.issues import Issue, list_issues, member_keys
from rt4chart_collector.store.migrate import migrate


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", nargs="?", help="one issue, with examples")
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument("--route", help="only that route's")
    parser.add_argument("--examples", type=int, default=3, metavar="N", help="how many (default 3)")
    parser.add_argument("--json", action="store_true", help="print them for machines")


def execute(options: argparse.Namespace) -> int:
    """List the issues, or show one."""
    with connect(options.dsn or settings.dsn()) as client:
        migrate(client)
        issues = list_issues(client)
        if options.id is not None:
            shown = one_issue(client, find(issues, options.id), max(options.examples, 1))
            write(shown, in_words(shown), as_json=options.json)
            return 0
    rows = [row(issue) for issue in issues if options.route in (None, issue.route)]
    write(rows, listed(rows), as_json=options.json)
    return 0


def find(issues: list[Issue], wanted: str) -> Issue:
    """The issue of that id; InputError where there is none."""
    for issue in issues:
        if shown_id(issue) == wanted.lower():
            return issue
    raise InputError(f"expected the id of an issue (rt4chart issues lists them), got {wanted!r}")


def one_issue(client: Client, issue: Issue, examples: int) -> dict[str, Any]:
    """An issue with its most typical claims."""
    typical = failures_by_key(client, member_keys(client, issue, limit=examples))
    return row(issue) | {"examples": [example(failure) for failure in typical]}


def row(issue: Issue) -> dict[str, Any]:
    """An issue's row."""
    return {
        "id": shown_id(issue),
        "title": issue.title,
        "status": issue.state,
        "service": issue.service,
        "route": issue.route,
        "fingerprint": issue.fingerprint,
        "claims": issue.claims,
        "first_seen": moment(issue.first_ns),
        "last_seen": moment(issue.last_ns),
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


def shown_id(issue: Issue) -> str:
    """The id as people read and write it: 16 hexadecimal digits."""
    return f"{issue.id:016x}"


def moment(time_ns: int) -> str:
    """A time to the second, in UTC."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).isoformat()


def listed(rows: list[dict[str, Any]]) -> str:
    """The list in words."""
    if not rows:
        return "No issues. `rt4chart cluster` groups the failures that are there.\n"
    return "".join(f"{r['id']}  {r['status']:9} {r['last_seen']}  {r['title']}\n" for r in rows)


def in_words(shown: dict[str, Any]) -> str:
    """One issue in words."""
    lines = [f"{shown['title']}", f"{shown['id']} · {shown['status']} · {shown['fingerprint']}"]
    lines.append(f"first seen {shown['first_seen']}, last seen {shown['last_seen']}")
    for one in shown["examples"]:
        lines += ["", f"claim     {printable(one['claim'])}", f"          {one['label']}"]
        lines += [
            f"passage   {printable(e['passage'])}: {printable(e['text'])}" for e in one["evidence"]
        ]
        if not one["evidence"] and one["nearest"]:
            lines.append(f"nearest   {printable(one['nearest'])}")
        lines.append(f"trace     {plain(one['trace_id'])}")
    return "\n".join(lines) + "\n"


def write(value: object, words: str, *, as_json: bool) -> None:
    """Print the value or the words."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n" if as_json else words)


COMMAND = Command("issues", "list the issues, or show one with its examples", configure, execute)
