"""Issues for people: tables and lines, without anything that steers a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.text import printable
from rt4chart_clustering.commands.issues_verb import moment
from rt4chart_clustering.grouping.issue_state import State, acts_in
from rt4chart_clustering.triage.overview import Standing
from rt4chart_clustering.triage.severity import Level, sparkline

_STYLES = {Level.CRITICAL: "bold red", Level.HIGH: "red", Level.MEDIUM: "yellow", Level.LOW: "dim"}


def listed(found: Sequence[Standing], ids: Mapping[int, str], closed: str) -> RenderableType:
    """The list."""
    table = _table()
    table.add_column("id", no_wrap=True)
    table.add_column("title", overflow="fold", ratio=1)
    for name in ("state", "severity"):
        table.add_column(name, no_wrap=True)
    for name in ("claims", "of route"):
        table.add_column(name, no_wrap=True, justify="right")
    for name in ("7 days", "last seen", "owner"):
        table.add_column(name, no_wrap=True)
    for one in found:
        issue, level = one.issue, one.severity.level
        table.add_row(
            ids[issue.id],
            clean(issue.title),
            issue.state,
            Text(f"{level} {one.severity.score:.0f}", _STYLES[level]),
            str(issue.claims),
            percent(one.traffic.share),
            sparkline(one.traffic.daily),
            moment(issue.last_ns)[:16].replace("T", " "),
            clean(issue.owner) or Text("–"),
        )
    return Group(table, Text(closed, "dim")) if closed else table


def one(shown: Mapping[str, Any]) -> RenderableType:
    """One issue, its figures first, then claims with what stands against them."""
    acts = ", ".join(acts_in(State(shown["state"])))
    head = [
        Text(clean(shown["title"]).plain, "bold"),
        Text(f"{shown['id']} · {shown['state']} ({acts}) · {shown['fingerprint']}"),
        Text(
            f"{shown['severity']} {shown['score']:.0f} · {shown['claims']} claims in "
            f"{shown['answers']} answers · {shown['a_day']:g} a day, {percent(shown['share'])} of "
            f"the route · {sparkline(tuple(shown['daily']))}"
        ),
        Text(f"first seen {shown['first_seen']}, last seen {shown['last_seen']}"),
    ]
    if shown["summary"]:
        head.append(clean(shown["summary"]))
    parts = ("models", "prompts", "evidence", "context")
    lines = [(name, _named(shown[name])) for name in parts]
    lines += _standing(shown)
    for claim in shown["examples"]:
        lines += [("", " "), *_claim(claim)]
    return Group(*head, pairs([(name, clean(text)) for name, text in lines if text]))


def pairs(lines: Sequence[tuple[str, Text]]) -> RenderableType:
    """Names, and beside them texts that may take several lines."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in lines:
        grid.add_row(Text(name), text)
    return grid


def history(rows: Sequence[Mapping[str, str]]) -> RenderableType:
    """The trail, one event a line."""
    table = _table()
    for name in ("at", "by", "kind"):
        table.add_column(name, no_wrap=True)
    table.add_column("value", overflow="ellipsis", no_wrap=True, max_width=70)
    table.add_column("note", overflow="fold", ratio=1)
    for row in rows:
        table.add_row(
            row["at"], clean(row["by"]), row["kind"], clean(row["value"]), clean(row["note"])
        )
    return table


def clean(text: str) -> Text:
    """Untrusted text on one line, as it is written: no markup, no control characters."""
    return Text(" ".join(printable(text).split()))


def percent(share: float | None) -> str:
    """A share as a percentage."""
    if share is None:
        return "–"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def _standing(shown: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What people and the software have said of it."""
    lines = [("owner", str(shown["owner"]))]
    lines += [("ticket", f"{one['system']} {one['url'] or one['key']}") for one in shown["tickets"]]
    if shown["cause"]:
        lines += [(name, str(shown["cause"].get(name, ""))) for name in ("cause", "fix")]
    if merge := shown["proposed"]["merge"]:
        into = merge.get("into")
        lines.append(("proposed", f"rt4chart issues merge {into} {shown['id']}"))
    if shown["proposed"]["split"]:
        lines.append(("proposed", f"rt4chart issues split {shown['id']}"))
    return lines


def _named(parts: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{one['name']} ({one['claims']})" for one in parts if one["name"])


def _claim(claim: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [("claim", claim["claim"]), ("label", str(claim["label"]))]
    lines += [("passage", f"{one['passage']}: {one['text']}") for one in claim["evidence"]]
    if not claim["evidence"] and claim["nearest"]:
        lines.append(("nearest", claim["nearest"]))
    return [*lines, ("trace", claim["trace_id"])]


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
