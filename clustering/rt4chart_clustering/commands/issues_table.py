"""Issues for people: tables and lines, without anything that steers a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from otel_rt4chart.plain import printable
from rt4chart_clustering.commands.issues_verb import moment
from rt4chart_clustering.triage.overview import Standing
from rt4chart_clustering.triage.severity import Level, sparkline
from rt4chart_clustering.triage.state import State, acts_in

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
    lines = [
        Text(str(clean(shown["title"])), "bold"),
        Text(f"{shown['id']} · {shown['state']} ({acts}) · {shown['fingerprint']}"),
        Text(
            f"{shown['severity']} {shown['score']:.0f} · {shown['claims']} claims in "
            f"{shown['answers']} answers · {shown['a_day']:g} a day, {percent(shown['share'])} of "
            f"the route · {sparkline(tuple(shown['daily']))}"
        ),
        Text(f"first seen {shown['first_seen']}, last seen {shown['last_seen']}"),
    ]
    if shown["summary"]:
        lines.append(clean(shown["summary"]))
    for name in ("models", "prompts", "evidence", "context"):
        lines += _named(name, shown[name])
    lines += _standing(shown)
    for claim in shown["examples"]:
        lines += [Text(), *_claim(claim)]
    return Group(*lines)


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


def _standing(shown: Mapping[str, Any]) -> list[Text]:
    """What people and the software have said of it."""
    lines = []
    if shown["owner"]:
        lines.append(Text.assemble("owner     ", clean(shown["owner"])))
    for ticket in shown["tickets"]:
        told = f"{ticket['system']} {ticket['url'] or ticket['key']}"
        lines.append(Text.assemble("ticket    ", clean(told)))
    if shown["cause"]:
        lines.append(Text.assemble("cause     ", clean(str(shown["cause"].get("cause", "")))))
        lines.append(Text.assemble("fix       ", clean(str(shown["cause"].get("fix", "")))))
    if merge := shown["proposed"]["merge"]:
        told = f"merge into {merge.get('into')}: rt4chart issues merge"
        lines.append(
            Text.assemble("proposed  ", clean(f"{told} {merge.get('into')} {shown['id']}"))
        )
    if shown["proposed"]["split"]:
        lines.append(Text(f"proposed  split: rt4chart issues split {shown['id']}"))
    return lines


def _named(name: str, parts: Sequence[Mapping[str, Any]]) -> list[Text]:
    told = ", ".join(f"{one['name']} ({one['claims']})" for one in parts if one["name"])
    return [Text.assemble(f"{name:10}", clean(told))] if told else []


def _claim(claim: Mapping[str, Any]) -> list[Text]:
    lines = [
        Text.assemble("claim     ", clean(claim["claim"])),
        Text(f"          {claim['label']}"),
    ]
    lines += [
        Text.assemble("passage   ", clean(f"{one['passage']}: {one['text']}"))
        for one in claim["evidence"]
    ]
    if not claim["evidence"] and claim["nearest"]:
        lines.append(Text.assemble("nearest   ", clean(claim["nearest"])))
    lines.append(Text.assemble("trace     ", clean(claim["trace_id"])))
    return lines


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
