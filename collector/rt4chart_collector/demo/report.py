"""The demo's report for a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.text import printable
from otel_rt4chart.verify import Claim, Label
from rt4chart_collector.demo.result import DemoResult, IssueLine, RouteLine
from rt4chart_collector.store.answers.answers import StoredAnswer

STYLES = {Label.CONTRADICTED: "bold white on red", Label.BASELESS: "bold black on yellow"}
EXAMPLE_CHARS = 240
QUERY = "SELECT Route, Label, count() FROM otel.rt4chart_claims FINAL GROUP BY ALL ORDER BY ALL"


def show(result: DemoResult, console: Console, *, to_copy: bool = True) -> None:
    """Print the whole report; `to_copy` leaves long commands on one line."""
    for part in (routes(result), issues(result.issues), example(result.example)):
        console.print()
        console.print(part)
    console.print()
    console.print(next_steps(result.dsn), soft_wrap=to_copy)


def routes(result: DemoResult) -> RenderableType:
    """The table per route, and under it how our flags compare with people's marks."""
    table = Table(
        title="What share of the claims the passages do not support",
        title_style="bold",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for name in ("route", "answers", "claims", "contradicted", "baseless", "rate [95%]", "people"):
        table.add_column(name, justify="left" if name == "route" else "right", no_wrap=True)
    for line in result.routes:
        table.add_row(*cells(line))
    table.add_section()
    table.add_row(*cells(result.total), style="bold")
    known = result.agreement
    note = Text(
        f"people: the share of the same claims in which the data set marks an error. Of "
        f"{known.marked} claims it marks, {percent(known.recall)} were flagged; of the "
        f"{known.claims - known.marked} others, {percent(known.false_alarms)}. "
        f"{rank_note(result)}The answers were edited to be wrong far more often than real ones are.",
        style="dim",
    )
    return Group(table, note)


def rank_note(result: DemoResult) -> str:
    """How alike our rates and people's order the routes."""
    if result.rank_correlation is None:
        return ""
    return (
        f"Our rates order the {len(result.routes)} routes as people's do with a rank correlation "
        f"of {result.rank_correlation:.2f}. "
    )


def cells(line: RouteLine) -> tuple[str, ...]:
    """One row of the table as text."""
    return (
        plain(line.route),
        str(line.answers),
        str(line.claims),
        percent(line.contradicted),
        percent(line.baseless),
        f"{percent(line.rate)} [{percent(line.low)[:-1]}–{percent(line.high)[:-1]}]",
        percent(line.people),
    )


def issues(lines: tuple[IssueLine, ...]) -> RenderableType:
    """The largest issues, each with one claim and what the passages say."""
    if not lines:
        return Text("No issue: no group of failures was large enough.", style="dim")
    parts: list[RenderableType] = [Text("The failures, grouped", style="bold")]
    for line in lines:
        head = f"\n● {plain(line.title)} · {line.claims} claims"
        parts.append(Text(head, style="bold yellow"))
        against = "passage" if line.is_evidence else "nearest"
        for name, text in (("claim", line.claim), (against, line.sentence or "nothing near it")):
            shown = Text.assemble((f"{name:9}", "dim"), plain(shorten(text)))
            parts.append(Padding(shown, (0, 0, 0, 2)))
    return Group(*parts)


def example(answer: StoredAnswer | None) -> RenderableType:
    """One answer with its unfaithful words marked, and the evidence of each claim under it."""
    if answer is None:
        return Text("No answer was verified.", style="red")
    text = Text(plain(answer.answer))
    for claim in answer.claims:
        text.stylize(STYLES.get(claim.label, ""), *claim.answer_range)
    parts: list[RenderableType] = [
        Text(f"One answer, trace {answer.trace_id}", style="bold"),
        Padding(text, (1, 2)),
    ]
    return Group(*parts, *(Padding(claim_line(claim), (0, 0, 0, 2)) for claim in answer.claims))


def claim_line(claim: Claim) -> Text:
    """A claim's label, its words, and the sentences it stands on or against."""
    style = STYLES.get(claim.label, "green" if claim.label is Label.ENTAILED else "dim")
    line = Text.assemble((f" {claim.label} ", style), " ", plain(claim.text))
    if claim.reason:
        line.append(f"\n    why: {plain(claim.reason)}", style="dim")
    for evidence in claim.evidence:
        line.append(
            f"\n    {evidence.relation} · passage {plain(evidence.passage_id)} "
            f"[{evidence.start}:{evidence.end}] “{plain(evidence.text)}”",
            style="dim",
        )
    return line


def next_steps(dsn: str) -> Text:
    """Where everything lies, and how to go on; lines to copy are not broken."""
    code = (
        f'{command("python")} -c "import clickhouse_connect as c; '
        f"print(c.get_client(dsn='{dsn}').query('{QUERY}').result_rows)\""
    )
    steps = (
        ("the database", f"{dsn} (otel.otel_traces, otel.rt4chart_*)"),
        ("ask it", code),
        ("its issues", f"{command('rt4chart')} issues --dsn {dsn}"),
        ("your own application", f"{command('rt4chart')} up, then docs/instrument/application.md"),
    )
    return Text("\n").join(Text.assemble((f"{name}: ", "bold"), text) for name, text in steps)


def command(name: str) -> str:
    """How to call a program of this environment from where the reader stands."""
    here = Path(sys.executable).parent / name
    return name if shutil.which(name) == str(here) else os.path.relpath(here)


def percent(share: float | None) -> str:
    """A share as a percentage, a dash where there is none."""
    return "–" if share is None else f"{share:.0%}"


def shorten(text: str) -> str:
    """A sentence cut where it is too long to be an example."""
    return text if len(text) <= EXAMPLE_CHARS else text[: EXAMPLE_CHARS - 1] + "…"


def plain(text: str) -> str:
    """Untrusted text without control characters, one for one so that ranges still fit."""
    return printable(text, "·", keep="\n")
