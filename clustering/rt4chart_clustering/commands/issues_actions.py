"""`rt4chart issues ack`, `resolve`, `assign`, `note`, `merge`, `split` and the other actions."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.commands.issues import issue_from, issues_from
from rt4chart_clustering.grouping.ignore_until import IgnoreUntil
from rt4chart_clustering.grouping.issue_state import IssueAction
from rt4chart_clustering.grouping.merge_and_split import (
    merge_issues,
    refuse_merge,
    refuse_split,
    split_issue,
    undo_merge,
)
from rt4chart_clustering.grouping.open_proposals import open_split_proposal
from rt4chart_clustering.triage.actions import (
    add_note,
    assign_owner,
    change_state,
    check_action,
    conditions,
    link_ticket,
    rename_issue,
)
from rt4chart_clustering.triage.find_issue import find_issue, hex_id
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.core.printing import write
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import events_of
from rt4chart_collector.store.issues.issues import Issue, list_issues


def move_state(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Change the state of each issue; nothing is written if one of them does not allow it."""
    act, issues, actor = (
        IssueAction(options.action),
        issues_from(client, options),
        actor_of(options),
    )
    for issue in issues:
        check_action(issue, act)
    rows, words = [], []
    for issue in issues:
        until = _until(issue, options, now_ns)
        release = getattr(options, "in_release", None) or ""
        state = change_state(
            client,
            issue,
            act,
            actor=actor,
            at_ns=now_ns,
            note=options.note,
            until=until,
            release=release,
        )
        already = " already" if state == issue.state and not (until or release) else ""
        end = f" until {until}" if until else f" in release {release}" if release else ""
        terms = {"until": str(until), "release": release}
        rows.append(
            {"id": hex_id(issue.id), "state": str(state)}
            | {name: value for name, value in terms.items() if value}
        )
        words.append(f"{hex_id(issue.id)} is {state}{already}{end}.")
    _write_all(rows, words, options)
    return 0


def _until(issue: Issue, options: argparse.Namespace, now_ns: int) -> IgnoreUntil:
    return conditions(
        issue,
        now_ns=now_ns,
        seconds=getattr(options, "until_s", 0) or 0,
        failures=getattr(options, "failures", 0) or 0,
        a_day=getattr(options, "a_day", 0) or 0,
    )


def _write_all(
    rows: Sequence[Mapping[str, str]], words: Sequence[str], options: argparse.Namespace
) -> None:
    """One issue's row as an object, several issues' rows as an array."""
    write(rows[0] if len(rows) == 1 else list(rows), "\n".join(words), as_json=options.json)


def assign(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Set the owner of each issue."""
    rows, words, actor = [], [], actor_of(options)
    for issue in issues_from(client, options):
        assign_owner(client, issue, options.owner, actor=actor, at_ns=now_ns, note=options.note)
        rows.append({"id": hex_id(issue.id), "owner": options.owner})
        has = f"has the owner {options.owner}" if options.owner else "has no owner"
        words.append(f"{hex_id(issue.id)} {has}.")
    _write_all(rows, words, options)
    return 0


def link(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Link a ticket that exists, or remove the link."""
    issue, url = issue_from(client, options), options.url
    link_ticket(
        client, issue, url, actor=actor_of(options), at_ns=now_ns, is_removed=options.remove
    )
    words = "The link is removed." if options.remove else "The ticket is linked."
    row = {"id": hex_id(issue.id), "url": url, "removed": options.remove}
    write(row, words, as_json=options.json)
    return 0


def note(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Add a note."""
    issue = issue_from(client, options)
    text = " ".join(options.text)
    add_note(client, issue, text, actor=actor_of(options), at_ns=now_ns)
    write({"id": hex_id(issue.id), "note": text}, "Note added.", as_json=options.json)
    return 0


def rename(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Set the title."""
    issue, title = issue_from(client, options), " ".join(options.text)
    rename_issue(client, issue, title, actor=actor_of(options), at_ns=now_ns)
    words = "Renamed." if title.strip() else "The generated title is back."
    write({"id": hex_id(issue.id), "title": title}, words, as_json=options.json)
    return 0


def refuse(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Refuse a proposal."""
    issue = issue_from(client, options)
    refuse_proposal = {"merge": refuse_merge, "split": refuse_split}[options.what]
    refuse_proposal(client, issue.id, actor=actor_of(options), now_ns=now_ns, note=options.note)
    words = f"The {options.what} of {hex_id(issue.id)} is refused."
    write({"id": hex_id(issue.id), "refused": options.what}, words, as_json=options.json)
    return 0


def merge(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """The first issue stays, and the other one becomes its alias."""
    issues = list_issues(client)
    issue, actor = find_issue(issues, options.id), actor_of(options)
    if options.undo:
        alias = _alias(issue, options.other)
        took = undo_merge(client, alias, actor=actor, now_ns=now_ns)
        words = f"{hex_id(took.issue)} is a separate issue again."
        write({"id": hex_id(took.issue), "into": ""}, words, as_json=options.json)
        return 0
    other = find_issue(issues, options.other)
    merge_issues(client, other.id, issue.id, actor=actor, now_ns=now_ns, note=options.note)
    words = f"{hex_id(other.id)} is merged into {hex_id(issue.id)}."
    row = {"id": hex_id(other.id), "into": hex_id(issue.id)}
    write(row, words, as_json=options.json)
    return 0


def _alias(issue: Issue, text: str) -> int:
    """An alias needs all its digits: a prefix would find the issue that it is an alias of."""
    if not re.fullmatch("[0-9a-f]{16}", text.lower()):
        raise InputError(f"expected all 16 digits of the alias's id, got {text!r}")
    alias = int(text, 16)
    if alias not in issue.aliases:
        known = ", ".join(map(hex_id, issue.aliases)) or "none"
        raise InputError(
            f"expected an alias of {hex_id(issue.id)}, which has {known}, got {hex_id(alias)}"
        )
    return alias


def split(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Show the proposed split, or apply it."""
    issue = issue_from(client, options)
    if options.apply:
        made = split_issue(
            client, issue.id, actor=actor_of(options), now_ns=now_ns, note=options.note
        )
        words = f"{hex_id(made)} was split from {hex_id(issue.id)}."
        write({"id": hex_id(issue.id), "made": hex_id(made)}, words, as_json=options.json)
        return 0
    proposed = open_split_proposal(issue, events_of(client, issue.id))
    if proposed is None:
        write(
            {"id": hex_id(issue.id), "drawn": None}, "No split is proposed.", as_json=options.json
        )
        return 0
    larger, smaller = json.loads(proposed.value)["drawn"]
    words = (
        f"A sample of {larger + smaller} failures has groups of {larger} and {smaller}. "
        f"--apply makes the smaller group an issue of its own."
    )
    write({"id": hex_id(issue.id), "drawn": [larger, smaller]}, words, as_json=options.json)
    return 0
