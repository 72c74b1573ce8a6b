"""`rt4chart issues families`: issues grouped by failure family."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rt4chart_clustering.commands.issues_table import clean_text
from rt4chart_clustering.triage.families import IssueFamily, group_by_family
from rt4chart_clustering.triage.filter import OPEN, IssueFilter, filter_issues
from rt4chart_clustering.triage.find_issue import hex_id, short_ids
from rt4chart_clustering.triage.ranking import rank_issues
from rt4chart_clustering.triage.severity import sparkline
from rt4chart_collector.core.printing import write
from rt4chart_collector.store.engine.connect import Client

_WORST = 3


def families(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Print the failure families across routes, with the worst issues of each."""
    known = rank_issues(client, now_ns=now_ns)
    since_ns = now_ns - options.since * 1_000_000_000 if options.since else 0
    wanted = IssueFilter(
        options.state or OPEN, route=options.route, since_ns=since_ns, terms=options.filter or ()
    )
    found = group_by_family(filter_issues(known, wanted, now_ns))
    ids = short_ids([one.issue for one in known])
    words = _table(found, ids) if found else "No matching issues."
    write([family_row(one) for one in found], words, as_json=options.json)
    return 0


def family_row(one: IssueFamily) -> dict[str, Any]:
    """A family's row; `issues` are all of its ids, the worst first."""
    return {
        "family": str(one.family),
        "title": one.family.label,
        "claims": one.claims,
        "weighted": round(one.weighted, 2),
        "daily": [round(weight, 2) for weight in one.daily],
        "routes": list(one.routes),
        "issues": [hex_id(ranked.issue.id) for ranked in one.issues],
    }


def _table(found: Sequence[IssueFamily], ids: Mapping[int, str]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("family", no_wrap=True)
    table.add_column("failure", overflow="fold", ratio=1)
    for name in ("claims", "issues", "routes"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("7 days", no_wrap=True)
    table.add_column("worst issues", overflow="fold", ratio=1)
    for one in found:
        worst = [
            f"{ids[each.issue.id]} {clean_text(each.issue.title)}" for each in one.issues[:_WORST]
        ]
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
