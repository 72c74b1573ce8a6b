"""What a person decides about an issue: its state, owner, notes, and which issue it is."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from functools import partial

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.commands.issues_verb import Verb, actor_of, chosen, with_id, write
from rt4chart_clustering.grouping.apply import (
    apply_merge,
    apply_split,
    refuse_merge,
    refuse_split,
    take_back_merge,
)
from rt4chart_clustering.grouping.issue_state import Act
from rt4chart_clustering.grouping.proposals import standing_split
from rt4chart_clustering.triage.acts import assign, move, remark, rename
from rt4chart_clustering.triage.find import find, hex_of, shown_id
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import events_of
from rt4chart_collector.store.issues.issues import Issue, list_issues


def _move(act: Act, client: Client, options: argparse.Namespace, now_ns: int) -> int:
    issue = chosen(client, options)
    state = move(client, issue, act, actor=actor_of(options), at_ns=now_ns, note=options.note)
    already = " already" if state == issue.state else ""
    words = f"{shown_id(issue)} is {state}{already}."
    write({"id": shown_id(issue), "state": state}, words, as_json=options.json)
    return 0


def _assign(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    issue = chosen(client, options)
    assign(client, issue, options.owner, actor=actor_of(options), at_ns=now_ns, note=options.note)
    words = f"{shown_id(issue)} is {options.owner or 'nobody'}'s."
    write({"id": shown_id(issue), "owner": options.owner}, words, as_json=options.json)
    return 0


def _note(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    issue = chosen(client, options)
    text = " ".join(options.text)
    remark(client, issue, text, actor=actor_of(options), at_ns=now_ns)
    write({"id": shown_id(issue), "note": text}, "Noted.", as_json=options.json)
    return 0


def _rename(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    issue, title = chosen(client, options), " ".join(options.text)
    rename(client, issue, title, actor=actor_of(options), at_ns=now_ns)
    words = "Renamed." if title.strip() else "It has the title that a run gives it."
    write({"id": shown_id(issue), "title": title}, words, as_json=options.json)
    return 0


def _refuse(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    issue = chosen(client, options)
    refuse = {"merge": refuse_merge, "split": refuse_split}[options.what]
    refuse(client, issue.id, actor=actor_of(options), now_ns=now_ns, note=options.note)
    words = f"The {options.what} of {shown_id(issue)} is refused."
    write({"id": shown_id(issue), "refused": options.what}, words, as_json=options.json)
    return 0


def _merge(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Whatever stays is the first one named."""
    issues = list_issues(client)
    issue, actor = find(issues, options.id), actor_of(options)
    if options.undo:
        alias = _alias(issue, options.other)
        took = take_back_merge(client, alias, actor=actor, now_ns=now_ns)
        words = f"{hex_of(took.issue)} is an issue of its own again."
        write({"id": hex_of(took.issue), "into": ""}, words, as_json=options.json)
        return 0
    other = find(issues, options.other)
    apply_merge(client, other.id, issue.id, actor=actor, now_ns=now_ns, note=options.note)
    words = f"{shown_id(other)} is part of {shown_id(issue)} now."
    told = {"id": shown_id(other), "into": shown_id(issue)}
    write(told, words, as_json=options.json)
    return 0


def _alias(issue: Issue, text: str) -> int:
    """An alias has to be named whole: the beginning of it would find what it is an alias of."""
    if not re.fullmatch("[0-9a-f]{16}", text.lower()):
        raise InputError(f"expected all 16 digits of the alias's id, got {text!r}")
    alias = int(text, 16)
    if alias not in issue.aliases:
        known = ", ".join(map(hex_of, issue.aliases)) or "none"
        raise InputError(
            f"expected an alias of {shown_id(issue)}, which has {known}, got {hex_of(alias)}"
        )
    return alias


def _split(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Show what is proposed, and do it where that is asked."""
    issue = chosen(client, options)
    if options.apply:
        made = apply_split(
            client, issue.id, actor=actor_of(options), now_ns=now_ns, note=options.note
        )
        words = f"{hex_of(made)} was split from {shown_id(issue)}."
        write({"id": shown_id(issue), "made": hex_of(made)}, words, as_json=options.json)
        return 0
    proposed = standing_split(issue, events_of(client, issue.id))
    if proposed is None:
        write({"id": shown_id(issue), "drawn": None}, "No split is proposed.", as_json=options.json)
        return 0
    larger, smaller = json.loads(proposed.value)["drawn"]
    words = (
        f"Of {larger + smaller} failures that were looked at, {larger} and {smaller} are apart. "
        f"--apply makes an issue of the {smaller} and what is like them."
    )
    write({"id": shown_id(issue), "drawn": [larger, smaller]}, words, as_json=options.json)
    return 0


def _with_owner(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument("--owner", required=True, metavar="NAME", help='whose it is; "" nobody')


def _with_text(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument("text", nargs="+", help="the note")


def _with_other(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument("other", help="the issue that becomes part of it")
    parser.add_argument("--undo", action="store_true", help="take it out again")


def _with_title(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument(
        "text", nargs="+", metavar="TITLE", help='the title; "" is the run\'s again'
    )


def _with_what(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument("what", choices=("merge", "split"), help="which proposal")


def _with_apply(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument("--apply", action="store_true", help="do what is proposed")


def _verb(act: Act, text: str) -> Verb:
    run: Callable[[Client, argparse.Namespace, int], int] = partial(_move, act)
    return Verb(act, f"{act} ID", text, with_id, run, _WHO_AND_WHY)


_WHO_AND_WHY = ("by", "note")
VERBS = (
    _verb(Act.ACKNOWLEDGE, "somebody looks after it"),
    _verb(Act.RESOLVE, "it is put right; a failure that matches it again is a regression"),
    _verb(Act.REOPEN, "it is not"),
    _verb(Act.IGNORE, "it is known and does not matter"),
    Verb("assign", "assign ID --owner NAME", "whose it is", _with_owner, _assign, _WHO_AND_WHY),
    Verb("rename", "rename ID TITLE", "call it so", _with_title, _rename, ("by",)),
    Verb(
        "refuse",
        "refuse ID WHAT",
        "no to a proposed merge or split",
        _with_what,
        _refuse,
        _WHO_AND_WHY,
    ),
    Verb("note", "note ID TEXT", "a remark in its trail", _with_text, _note, ("by",)),
    Verb(
        "merge", "merge ID OTHER", "the other becomes part of it", _with_other, _merge, _WHO_AND_WHY
    ),
    Verb(
        "split",
        "split ID",
        "the split that is proposed; --apply does it",
        _with_apply,
        _split,
        _WHO_AND_WHY,
    ),
)
