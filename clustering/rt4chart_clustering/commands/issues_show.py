"""`rt4chart issues list`, `show` and `history`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from rt4chart_clustering.commands.issues import issue_from
from rt4chart_clustering.commands.issues_table import (
    clean_text,
    history_table,
    issue_table,
    issue_view,
)
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.triage.filter import OPEN, IssueFilter, filter_issues
from rt4chart_clustering.triage.find_issue import hex_id, short_ids
from rt4chart_clustering.triage.grouping_status import (
    grouping_status,
    run_outcome,
    run_row,
    status_text,
    waiting_text,
)
from rt4chart_clustering.triage.issue_details import load_details
from rt4chart_clustering.triage.ranking import RankedIssue, rank_issues
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.grouping_runs import last_runs
from rt4chart_collector.store.issues.issue_events import events_of_all
from rt4chart_collector.store.issues.memberships import MembershipShare

_EXAMPLES, _PARTS = 3, 5


def list_issues(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Print the matching issues: regressed ones, growing ones, then the worst first."""
    known = rank_issues(client, now_ns=now_ns)
    since_ns = now_ns - options.since * 1_000_000_000 if options.since else 0
    wanted = IssueFilter(
        options.state or OPEN, route=options.route, since_ns=since_ns, terms=options.filter or ()
    )
    found = filter_issues(known, wanted, now_ns)
    shows_closed = options.state or any(term.key == "state" for term in wanted.terms)
    hidden = 0 if shows_closed else sum(IssueState(one.issue.state).is_closed for one in known)
    words = _listed(found, [one.issue for one in known], hidden)
    if not options.json:
        status = clean_text(status_text(grouping_status(client, now_ns=now_ns)))
        words = Group(words, Text(status.plain, "dim"))
    write([issue_row(one) for one in found], words, as_json=options.json)
    return 0


def _listed(found: Sequence[RankedIssue], known: Sequence[Any], hidden: int) -> RenderableType:
    if not known:
        return (
            "No issues yet. `rt4chart up` groups failures every 15 minutes, `rt4chart cluster` "
            "now; an issue needs several similar failures (--min-size)."
        )
    closed = f"{hidden} closed issues are hidden: --state all" if hidden else ""
    if not found:
        return f"No matching issues. {closed}".strip()
    return issue_table(found, short_ids(known), closed)


def runs(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Print the last runs of grouping, the latest first, and what waits."""
    found = last_runs(client)
    waiting = grouping_status(client, now_ns=now_ns).waiting
    lines = [
        f"{iso(one.started_ns)}  {one.cause:8}  {clean_text(run_outcome(one))}" for one in found
    ]
    words = "\n".join([*(lines or ["No runs yet."]), waiting_text(waiting)])
    write(
        {"waiting": waiting, "runs": [run_row(one) for one in found]}, words, as_json=options.json
    )
    return 0


def show(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Print one issue with its figures and its most typical claims."""
    issue = issue_from(client, options)
    known = rank_issues(client, now_ns=now_ns)
    ranked = next(one for one in known if one.issue.id == issue.id)
    titles = {id: one.issue.title for one in known for id in one.issue.ids}
    number = max(_EXAMPLES if options.examples is None else options.examples, 1)
    details = load_details(client, issue, examples=number)
    parts = {
        name: [asdict(one) for one in getattr(details.profile, name)[:_PARTS]]
        for name in ("routes", "models", "prompts", "evidence", "context")
    }
    shown = issue_row(ranked) | {
        "examples": [
            example_row(failure)
            | {"also_like": share_rows(details.also_like.get(failure.key, ()), titles)}
            for failure in details.typical
        ],
        "people": asdict(details.people),
        "related": share_rows(details.related, titles),
        "summary": issue.summary,
        "aliases": [hex_id(one) for one in issue.aliases],
        **parts,
        "trend": [asdict(one) for one in details.profile.trend],
        "tickets": [
            {"system": one.system, "key": one.key, "url": one.url} for one in details.tickets
        ],
        "cause": details.cause,
        "proposed": {"merge": details.merge, "split": details.split},
    }
    write(shown, issue_view(shown), as_json=options.json)
    return 0


def share_rows(
    shares: Sequence[MembershipShare], titles: Mapping[int, str]
) -> list[dict[str, Any]]:
    """The issues with their titles and shares."""
    return [
        {
            "id": hex_id(one.issue),
            "title": titles.get(one.issue, ""),
            "share": round(one.share, 3),
        }
        for one in shares
    ]


def history(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Print everything that happened to an issue, and who did it."""
    issue = issue_from(client, options)
    trail = events_of_all(client, issue.ids)
    rows = [
        {
            "at": iso(one.at_ns),
            "issue": hex_id(one.issue),
            "by": one.actor,
            "kind": one.kind,
            "value": one.value,
            "note": one.note,
        }
        for one in trail
    ]
    write(rows, history_table(rows), as_json=options.json)
    return 0


def issue_row(one: RankedIssue) -> dict[str, Any]:
    """An issue's row."""
    issue, traffic = one.issue, one.traffic
    return {
        "id": hex_id(issue.id),
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
        "measure": str(one.measure),
        "a_day": round(traffic.a_day, 2),
        "share": None if traffic.share is None else round(traffic.share, 6),
        "daily": [round(weight, 2) for weight in traffic.daily],
        "first_seen": iso(issue.first_ns),
        "last_seen": iso(issue.last_ns),
        "owner": issue.owner,
        "steps": [asdict(step) for step in issue.steps],
    }


def example_row(failure: Failure) -> dict[str, Any]:
    """A claim with its evidence, or with the nearest sentence."""
    return {
        "trace_id": failure.trace_id,
        "span_id": failure.span_id,
        "question": failure.question,
        "claim": failure.claim,
        "label": failure.label,
        "status": failure.status,
        "evidence": [
            {"passage": one.passage_id, "text": one.text, "relation": one.relation}
            for one in dict.fromkeys((*failure.used, *failure.against))
        ],
        "nearest": failure.nearest,
        "differs": {"claimed": failure.claimed_words, "found": failure.found_words},
    }
