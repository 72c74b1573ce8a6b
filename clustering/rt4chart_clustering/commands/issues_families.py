"""`rt4chart issues families`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rt4chart_clustering.commands.issues_table import clean
from rt4chart_clustering.commands.issues_verb import Verb, write
from rt4chart_clustering.triage.families import IssueFamily, by_family
from rt4chart_clustering.triage.filter import OPEN, Wanted, narrowed
from rt4chart_clustering.triage.find import hex_of, short_ids
from rt4chart_clustering.triage.overview import overview
from rt4chart_clustering.triage.severity import sparkline
from rt4chart_collector.store.engine.connect import Client

_WORST = 3


def families(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """What goes wrong across routes, and the worst issues of each family."""
    known = overview(client, now_ns=now_ns)
    since_ns = now_ns - options.since * 1_000_000_000 if options.since else 0
    wanted = Wanted(options.state or OPEN, route=options.route, since_ns=since_ns)
    found = by_family(narrowed(known, wanted))
    ids = short_ids([one.issue for one in known])
    words = _table(found, ids) if found else "No such issue."
    write([row(one) for one in found], words, as_json=options.json)
    return 0


def row(one: IssueFamily) -> dict[str, Any]:
    """A family's row; `issues` are all of its ids, the worst first."""
    return {
        "family": str(one.family),
        "title": one.family.label,
        "claims": one.claims,
        "weighted": round(one.weighted, 2),
        "daily": [round(weight, 2) for weight in one.daily],
        "routes": list(one.routes),
        "issues": [hex_of(standing.issue.id) for standing in one.issues],
    }


def _table(found: Sequence[IssueFamily], ids: Mapping[int, str]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("family", no_wrap=True)
    table.add_column("what goes wrong", overflow="fold", ratio=1)
    for name in ("claims", "issues", "routes"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("7 days", no_wrap=True)
    table.add_column("the worst of them", overflow="fold", ratio=1)
    for one in found:
        worst = [f"{ids[each.issue.id]} {clean(each.issue.title)}" for each in one.issues[:_WORST]]
        table.add_row(
            str(one.family),
            one.family.label,
            str(one.claims),
            str(len(one.issues)),
            str(len(one.routes)),
            sparkline(one.daily),
            Text("\n".join(worst)),
        )
    return table


def _nothing(parser: argparse.ArgumentParser) -> None:
    """The options that all share suffice."""


VERB = Verb(
    "families",
    "families",
    "what goes wrong across routes: issues by family",
    _nothing,
    families,
    ("route", "state", "since"),
)
