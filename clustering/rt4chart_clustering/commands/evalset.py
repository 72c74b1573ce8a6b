"""`rt4chart evalset`: promote failures to cases, review them, release and export eval sets."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from otel_rt4chart.redaction import build_redactor
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description.embedding import build_embedder
from rt4chart_clustering.evalset.formats import FORMATS
from rt4chart_clustering.evalset.load import load_release, parse_set_name
from rt4chart_clustering.evalset.promote import promote_issue
from rt4chart_clustering.evalset.review import (
    decide_case,
    format_case,
    parse_stored_case,
    review_cases,
)
from rt4chart_clustering.gate.result import write_atomically
from rt4chart_clustering.triage.find_issue import find_issue
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    StoredCase,
    eval_sets,
    release,
    stored_cases,
    write_cases,
)
from rt4chart_collector.store.issues.issues import list_issues
from rt4chart_collector.store.schema.migrate import migrate


def execute(options: argparse.Namespace) -> int:
    """Open the database and run the subcommand."""
    settings = load(ClusteringSettings, {"dsn": getattr(options, "dsn", None)})
    with open_database(settings.dsn, needs="rt4chart_issues") as client:
        migrate(client)
        return ACTIONS[options.action](client, options)


def _list(client: Client, options: argparse.Namespace) -> int:
    found = eval_sets(client)
    if getattr(options, "json", False):
        names = ("name", "pending", "approved", "rejected", "release")
        rows = [{name: getattr(stored, name) for name in names} for stored in found]
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return 0
    for stored in found:
        latest = f"release {stored.release}" if stored.release else "no release"
        _say(
            f"{printable(stored.name):24} {stored.pending} pending, {stored.approved} approved, "
            f"{stored.rejected} rejected, {latest}"
        )
    if not found:
        _say("No eval sets. `rt4chart evalset promote ISSUE` makes cases from an issue's failures.")
    return 0


def _promote(client: Client, options: argparse.Namespace) -> int:
    name, _ = parse_set_name(options.to)
    if options.n < 1:
        raise InputError(f"--n: expected 1 or more, got {options.n}")
    issue = find_issue(list_issues(client), options.issue)
    done = promote_issue(
        client,
        issue,
        name,
        number=options.n,
        actor=actor_of(options),
        now_ns=time.time_ns(),
        embedder=build_embedder(load(ClusteringSettings).embedder),
        redactor=build_redactor(options.redact or "none", options.redact_pattern),
    )
    result = {
        "set": name,
        "new": list(done.new),
        "known": done.known,
        "alike": done.alike,
        "refused": dict(done.refused),
    }
    if options.json:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return 0
    refused = "".join(f", {count} {why}" for why, count in sorted(done.refused.items()))
    _say(
        f"{name}: {len(done.new)} new cases to review ({done.known} were in the set, "
        f"{done.alike} answers similar or beyond --n{refused}). "
        f"Next: rt4chart evalset review {name}"
    )
    return 0


def _show(client: Client, options: argparse.Namespace) -> int:
    name, _ = parse_set_name(options.set)
    found = [
        stored for stored in stored_cases(client, name) if options.state in (None, stored.state)
    ]
    if options.json:
        rows = [
            {"id": stored.id, "state": stored.state, "by": stored.actor, "note": stored.note}
            | {"case": json.loads(stored.body)}
            for stored in found
        ]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return 0
    for stored in found:
        note = f": {printable(stored.note)}" if stored.note else ""
        text = format_case(parse_stored_case(stored))
        _say(f"{stored.id}  {stored.state} by {printable(stored.actor)}{note}\n{text}")
    return 0


def _review(client: Client, options: argparse.Namespace) -> int:
    name, _ = parse_set_name(options.set)
    waiting = [stored for stored in stored_cases(client, name) if stored.state is CaseState.PENDING]
    if options.approve or options.reject:
        chosen = _decided_cases(stored_cases(client, name), waiting, options)
        write_cases(client, name, chosen, version=time.time_ns())
        count = len(chosen)
    else:
        if not sys.stdin.isatty():
            raise InputError(
                "expected a terminal for the questions, or --approve ID … or --reject ID …"
            )
        count = 0
        # Written one by one, so that an interrupted review keeps its decisions.
        for stored in review_cases(waiting, actor=actor_of(options), ask=input, say=_say):
            write_cases(client, name, [stored], version=time.time_ns())
            count += 1
    left = sum(stored.state is CaseState.PENDING for stored in stored_cases(client, name))
    _say(f"{name}: {count} decided, {left} pending")
    return 0


def _decided_cases(
    known: list[StoredCase], waiting: list[StoredCase], options: argparse.Namespace
) -> list[StoredCase]:
    """The cases that the command line decides on; InputError for an unknown id."""
    by_id, result = {one.id: one for one in known}, dict[str, StoredCase]()
    for ids, state in ((options.approve, CaseState.APPROVED), (options.reject, CaseState.REJECTED)):
        wanted = [one.id for one in waiting] if ids == ["all"] else ids or []
        for name in wanted:
            if name not in by_id or name in result:
                raise InputError(f"expected the id of a case of the set, once; got {name!r}")
            one = by_id[name]
            result[name] = decide_case(one, state, actor=actor_of(options), note=options.note)
    return list(result.values())


def _release(client: Client, options: argparse.Namespace) -> int:
    name, _ = parse_set_name(options.set)
    number = release(client, name, actor=actor_of(options), now_ms=time.time_ns() // 1_000_000)
    _say(f"{name}@{number}; rt4chart gate --evalset {name}@{number} --answers FILE.jsonl")
    return 0


def _export(client: Client, options: argparse.Namespace) -> int:
    name, cases = load_release(client, options.set)
    files = FORMATS[options.format](cases, name.replace("@", "-"))
    for file, text in files.items():
        path = options.out / file
        if path.exists() and not options.force:
            raise InputError(f"expected no file of that name, got {path}: --force writes over it")
        write_atomically(path, text)
        _say(str(path))
    return 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


ACTIONS: Mapping[str, Callable[[Client, argparse.Namespace], int]] = {
    "list": _list,
    "promote": _promote,
    "show": _show,
    "review": _review,
    "release": _release,
    "export": _export,
}
