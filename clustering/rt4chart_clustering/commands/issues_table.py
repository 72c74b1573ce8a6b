"""Issues as tables and text for a terminal, without control characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.text import clip, printable
from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.description.pattern_names import pattern_name
from rt4chart_clustering.grouping.issue_state import IssueState, allowed_actions
from rt4chart_clustering.triage.issue_details import fix_of
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_clustering.triage.severity import SeverityLevel, sparkline
from rt4chart_collector.core.printing import Listing
from rt4chart_collector.core.times import utc_time

_VALUE_LENGTH, MAX_STEPS = 70, 5
_STYLES = {
    SeverityLevel.CRITICAL: "bold red",
    SeverityLevel.HIGH: "red",
    SeverityLevel.MEDIUM: "yellow",
    SeverityLevel.LOW: "dim",
}


_COLUMNS = (
    "id",
    "title",
    "state",
    "severity",
    "claims",
    "of route",
    "counted as",
    "7 days",
    "last seen",
    "owner",
)


def issue_table(
    found: Sequence[RankedIssue], ids: Mapping[int, str], closed: str
) -> RenderableType:
    """The list of issues."""
    listing = Listing(_COLUMNS, [_row(one, ids[one.issue.id]) for one in found], "title")
    return Group(listing, Text(closed, "dim")) if closed else listing


def _row(one: RankedIssue, shown_id: str) -> Sequence[Text]:
    issue, level = one.issue, one.severity.level
    return (
        Text(shown_id),
        clean_text(issue.title),
        Text(issue.state),
        Text(f"{level} {one.severity.score:.0f}", _STYLES[level]),
        Text(str(issue.claims)),
        Text(format_percent(one.traffic.share)),
        Text(str(one.measure)),
        Text(sparkline(one.traffic.daily)),
        Text(utc_time(issue.last_ns)),
        clean_text(issue.owner) or Text("–"),
    )


def issue_view(shown: Mapping[str, Any]) -> RenderableType:
    """One issue: its figures, then its claims with their evidence."""
    acts = ", ".join(allowed_actions(IssueState(shown["state"])))
    head = [
        Text(clean_text(shown["title"]).plain, "bold"),
        Text(f"{shown['id']} · {shown['state']} ({acts}) · {pattern_name(shown['fingerprint'])}"),
        Text(
            f"{shown['severity']} {shown['score']:.0f} · {shown['claims']} claims in "
            f"{shown['answers']} answers · {shown['a_day']:g} a day, "
            f"{format_percent(shown['share'])} of the route, {shown['measure']} · "
            f"{sparkline(tuple(shown['daily']))}"
        ),
        Text(f"first seen {shown['first_seen']}, last seen {shown['last_seen']}"),
    ]
    if shown["summary"]:
        head.append(clean_text(shown["summary"]))
    parts = ("models", "prompts", "evidence", "context")
    lines = [("entered in", entered_text(shown["steps"]))]
    lines += [(name, _named_parts(shown[name])) for name in parts]
    lines += _triage_lines(shown)
    for claim in shown["examples"]:
        lines += [("", " "), *_claim(claim)]
    return Group(*head, name_value_grid([(name, clean_text(text)) for name, text in lines if text]))


def name_value_grid(lines: Sequence[tuple[str, Text]]) -> RenderableType:
    """Names with texts beside them, which may have several lines."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in lines:
        grid.add_row(Text(name), text)
    return grid


def history_table(rows: Sequence[Mapping[str, str]]) -> RenderableType:
    """The trail, one event a row; a long value is shortened."""
    names = ("at", "by", "kind", "value", "note")
    return Listing(
        names,
        [
            [clean_text(row[name] if name != "value" else _event_value(row)) for name in names]
            for row in rows
        ],
    )


def _event_value(row: Mapping[str, str]) -> str:
    value = row["value"]
    return pattern_name(value) if row["kind"] == "born" else clip(value, _VALUE_LENGTH)


def clean_text(text: str) -> Text:
    """Untrusted text on one line, as it is written: no markup, no control characters."""
    return Text(" ".join(printable(text).split()))


def format_percent(share: float | None) -> str:
    """A share as a percentage."""
    if share is None:
        return "–"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def _triage_lines(shown: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The issues like it, the owner, the tickets, the cause and the proposals."""
    lines = [("people", confirmed_text(**shown["people"]))]
    lines += [("also like", _shares(shown["related"])), ("owner", str(shown["owner"]))]
    lines += [
        ("ticket", f"{issue_view['system']} {issue_view['url'] or issue_view['key']}")
        for issue_view in shown["tickets"]
    ]
    if shown["cause"]:
        lines += [
            ("cause", str(shown["cause"].get("cause", ""))),
            ("immediate fix", str(fix_of(shown["cause"]))),
        ]
    if merge := shown["proposed"]["merge"]:
        into = merge.get("into")
        lines.append(("proposed", f"rt4chart issues merge {into} {shown['id']}"))
    if shown["proposed"]["split"]:
        lines.append(("proposed", f"rt4chart issues split {shown['id']}"))
    return lines


def confirmed_text(judged: int, confirmed: int) -> str:
    """What people say of the claims; "" if nobody has judged one."""
    return f"call {confirmed} of {judged} judged claims wrong too" if judged else ""


def entered_text(steps: Sequence[Mapping[str, Any]]) -> str:
    """In which steps of a chain the claims entered; "" if none was traced."""
    traced = sum(step["claims"] for step in steps)
    words = [
        f"{step['claims']}{f' of {traced} traced claims' if at == 0 else ''} "
        + (f"in {step['name']}" if step["name"] else "not known")
        for at, step in enumerate(steps[:MAX_STEPS])
    ]
    return ", ".join([*words, *["…"] * (len(steps) > MAX_STEPS)])


def _named_parts(parts: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{issue_view['name']} ({issue_view['claims']})"
        for issue_view in parts
        if issue_view["name"]
    )


def _claim(claim: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [("claim", claim["claim"]), ("label", str(claim["label"]))]
    if claim["label"] == Label.ENTAILED:
        lines.append(("status", str(claim["status"])))
    lines += [(one["relation"], f"{one['passage']}: {one['text']}") for one in claim["evidence"]]
    if not claim["evidence"] and claim["nearest"]:
        lines.append(("nearest", claim["nearest"]))
    return [*lines, ("also like", _shares(claim["also_like"])), ("trace", claim["trace_id"])]


def _shares(shares: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{one['share']:.0%} {one['title'] or one['id']}" for one in shares)
