"""The demo's report for a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.text import one_line, printable
from otel_rt4chart.verify import Claim, Label
from rt4chart_collector.demo.people import CorrectedLine
from rt4chart_collector.demo.result import (
    ApplicationResult,
    DemoResult,
    IssueLine,
    RouteLine,
)
from rt4chart_collector.store.answers.answers import StoredAnswer

STYLES = {Label.CONTRADICTED: "bold white on red", Label.BASELESS: "bold black on yellow"}
EXAMPLE_CHARS = 240
QUERY = "SELECT Route, Label, count() FROM otel.rt4chart_claims FINAL GROUP BY ALL ORDER BY ALL"


COLUMNS = ("route", "answers", "claims", "undecided", "contradicted", "baseless", "rate [95%]",
           "human")  # fmt: skip
HELPDESK_COLUMNS = ("route", "answers", "claims", "undecided", "rate [95%]", "written")
KIND_COLUMNS = ("sentences that are", "all", "right", "undecided", "missed", "otherwise", "alarm")
CORRECTED_COLUMNS = ("route", "raw", "corrected [95%]", "human", "in the interval", "labels")


def show(result: DemoResult, console: Console, *, to_copy: bool = True) -> None:
    """Print the whole report; `to_copy` leaves long commands on one line."""
    for part in (*_application(result), *_public_rows(result)):
        console.print()
        console.print(part)
    console.print()
    console.print(next_steps(result), soft_wrap=to_copy)


def _application(result: DemoResult) -> tuple[RenderableType, ...]:
    """The incident, the help desk's routes, what failed there, and how often the judge is right."""
    failed = (issues(result.issues), example(result.example))
    if result.application is None:
        return failed
    found = result.application
    return incident(found), helpdesk_routes(found), *failed, kinds(found)


def _public_rows(result: DemoResult) -> tuple[RenderableType, ...]:
    return routes(result), *corrected(result)


def incident(found: ApplicationResult) -> RenderableType:
    """The incident in three lines."""
    first, *others = (plain(line) for line in found.incident.lines())
    return Text("\n").join([Text(first, style="bold red"), *map(Text, others)])


def helpdesk_routes(found: ApplicationResult) -> RenderableType:
    """The table of the help desk's routes, and a note on its traffic."""
    table = route_table("helpdesk: unsupported claims by route", HELPDESK_COLUMNS)
    for line in found.routes:
        route, answers, claims, undecided, _, _, rate, people = cells(line)
        table.add_row(route, answers, claims, undecided, rate, people)
    note = Text(
        "The help desk is invented, and so is its traffic: two weeks drawn from written answers "
        "whose errors are known. written: the share of sentences that were written wrong. Answers "
        "on which the judge errs are left out of the traffic; they are counted below.",
        style="dim",
    )
    return Group(table, note)


def kinds(found: ApplicationResult) -> RenderableType:
    """The table of written sentences by kind of error and by what the judge says of them."""
    table = route_table("helpdesk: the judge on every written sentence, once", KIND_COLUMNS)
    for line in found.kinds:
        name = f"{line.family} {line.kind.replace('_', ' ')}".strip()
        counts = (line.sentences, line.right, line.undecided, line.missed, line.otherwise)
        table.add_row(name, *map(str, counts), str(line.false_alarms))
    note = Text(
        "undecided: the judge says that it is not sure. missed: called supported. otherwise: "
        "flagged, with another reason or other words than the truth.",
        style="dim",
    )
    return Group(table, note)


def routes(result: DemoResult) -> RenderableType:
    """The table per route, and a note that compares verdicts with human labels."""
    table = route_table("Public rows: unsupported claims by route", COLUMNS)
    for line in result.routes:
        table.add_row(*cells(line))
    table.add_section()
    table.add_row(*cells(result.total), style="bold")
    known = result.agreement
    note = Text(
        f"claims: those that the judge decided; the rates are shares of them. undecided: the share "
        f"of all claims that it left undecided. "
        f"human: the share of the same claims that the data set labels as wrong. The judge flagged "
        f"{percent(known.recall)} of these {known.marked} claims, and "
        f"{percent(known.false_alarms)} of the {known.claims - known.marked} others. "
        f"{rank_note(result)}{misleading_note(result)}"
        "The data set is edited to contain far more errors than real answers.",
        style="dim",
    )
    return Group(table, note)


def corrected(result: DemoResult) -> tuple[RenderableType, ...]:
    """The rates that labels correct beside those of judge and people; none without labels."""
    if not result.corrected:
        return ()
    labels = sum(line.labels for line in result.corrected)
    table = route_table(f"The same rates, corrected by {labels} human labels", CORRECTED_COLUMNS)
    for line in result.corrected:
        table.add_row(*corrected_cells(line))
    covered = sum(line.is_covered for line in result.corrected)
    note = Text(
        "raw: the share of the claims that the judge decided which it flags. corrected: the share "
        "of all claims that are wrong, estimated from the judge's verdicts on all of them and from "
        "people's labels on a few that chance drew, as rt4chart label does. human: the share of "
        "all claims that the data set labels as wrong. The intervals contain it on "
        f"{covered} of {len(result.corrected)} routes.{corrected_rank_note(result)}",
        style="dim",
    )
    return (Group(table, note),)


def corrected_rank_note(result: DemoResult) -> str:
    """A sentence on the rank correlation of the corrected rates."""
    if result.corrected_rank_correlation is None:
        return ""
    return (
        " The rank correlation of the corrected rates with the human rates is "
        f"{result.corrected_rank_correlation:.2f}."
    )


def corrected_cells(line: CorrectedLine) -> tuple[str, ...]:
    """One row of the table of corrected rates as text."""
    interval = f" [{percent(line.low)[:-1]}–{percent(line.high)[:-1]}]"
    return (
        plain(line.route),
        percent(line.raw),
        percent(line.corrected) + (interval if line.corrected is not None else ""),
        percent(line.people),
        "yes" if line.is_covered else "no",
        str(line.labels),
    )


def route_table(title: str, columns: Sequence[str]) -> Table:
    """An empty table with one row for each route."""
    table = Table(
        title=title,
        title_style="bold",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,  # the divider is a space already: 80 columns hold it all
        show_edge=False,
    )
    for name in columns:
        table.add_column(name, justify="right" if table.columns else "left", no_wrap=True)
    return table


def rank_note(result: DemoResult) -> str:
    """A sentence on the rank correlation with the human rates."""
    if result.rank_correlation is None:
        return ""
    return (
        f"The rank correlation of our rates with the human rates over the {len(result.routes)} "
        f"routes is {result.rank_correlation:.2f}. "
    )


def misleading_note(result: DemoResult) -> str:
    """A sentence on the claims that are supported and mislead, which the table leaves out."""
    if result.total.misleading is None:
        return ""
    return (
        f"Beside them, {percent(result.total.misleading)} of the claims are supported but "
        "misleading: another passage contradicts or limits them, or a restriction is left out. "
    )


def cells(line: RouteLine) -> tuple[str, ...]:
    """One row of the table as text."""
    return (
        plain(line.route),
        str(line.answers),
        str(line.claims),
        percent(line.undecided),
        percent(line.contradicted),
        percent(line.baseless),
        f"{percent(line.rate)} [{percent(line.low)[:-1]}–{percent(line.high)[:-1]}]",
        percent(line.people),
    )


def issues(lines: tuple[IssueLine, ...]) -> RenderableType:
    """The largest issues, each with one claim and a sentence of the passages."""
    if not lines:
        return Text("No issues: no group of failures was large enough.", style="dim")
    parts: list[RenderableType] = [Text("Issues (grouped failures)", style="bold")]
    for line in lines:
        head = f"\n● {plain(line.title)} · {line.claims} claims"
        parts.append(Text(head, style="bold yellow"))
        against = "passage" if line.is_evidence else "nearest"
        sentence = line.sentence or "nothing near it"
        for name, text, words in (
            ("claim", line.claim, line.claimed),
            (against, sentence, line.found),
        ):
            shown = Text.assemble((f"{name:9}", "dim"), one_line(text, EXAMPLE_CHARS, words))
            parts.append(Padding(shown, (0, 0, 0, 2)))
    return Group(*parts)


def example(answer: StoredAnswer | None) -> RenderableType:
    """One answer with its unfaithful claims marked, and the evidence of each claim."""
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
    """A claim with its label and the sentences that support or contradict it."""
    style = STYLES.get(claim.label, "green" if claim.label is Label.ENTAILED else "dim")
    line = Text.assemble((f" {claim.label} ", style), " ", plain(claim.text))
    if claim.reason:
        line.append(f"\n    reason: {plain(claim.reason)}", style="dim")
    for evidence in claim.evidence:
        line.append(
            f"\n    {evidence.relation} · passage {plain(evidence.passage_id)} "
            f"[{evidence.start}:{evidence.end}] “{plain(evidence.text)}”",
            style="dim",
        )
    return line


def next_steps(result: DemoResult) -> Text:
    """Where the database is, and commands to continue with."""
    dsn = result.dsn
    code = (
        f'{command("python")} -c "import clickhouse_connect as c; '
        f"print(c.get_client(dsn='{dsn}').query('{QUERY}').result_rows)\""
    )
    steps = (
        ("database", f"{dsn} (otel.otel_traces, otel.rt4chart_*)"),
        ("query", code),
        ("issues", f"{command('rt4chart')} issues --dsn {dsn}"),
        ("console", f"{command('rt4chart')} demo --serve"),
        ("your own application", f"{command('rt4chart')} up, then docs/instrument/application.md"),
    )
    return Text("\n").join(Text.assemble((f"{name}: ", "bold"), text) for name, text in steps)


def command(name: str) -> str:
    """The command for a program of this environment, relative to the working directory."""
    program = Path(sys.executable).parent / name
    return name if shutil.which(name) == str(program) else os.path.relpath(program)


def percent(share: float | None) -> str:
    """A share as a percentage, a dash for None."""
    return "–" if share is None else f"{share:.0%}"


def plain(text: str) -> str:
    """Untrusted text with control characters replaced one by one, so that ranges still fit."""
    return printable(text, "·", keep="\n")
