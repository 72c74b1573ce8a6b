"""The result of `rt4chart bench --html`: one page that works offline, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from otel_rt4chart.bench.charts import Axes, Bar, interval_chart, line_chart
from otel_rt4chart.bench.curves import f1_by_window, precision_recall, stated_and_right
from otel_rt4chart.bench.protocol import ProtocolResult
from otel_rt4chart.bench.protocol_tables import FigureTable, protocol_tables
from otel_rt4chart.bench.runner import BenchResult
from otel_rt4chart.bench.tables import answer_rows, number

_STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1b1f24; --quiet: #59636e; --rule: #d1d9e0;
  --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; --c4: #bf3989; --c5: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --quiet: #9198a1;
  --rule: #3d444d; --c0: #58a6ff; --c1: #f0883e; --c2: #3fb950; --c3: #bc8cff; --c4: #f778ba;
  --c5: #8b949e; } }
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
  margin: 2rem auto; max-width: 68rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
p.note { color: var(--quiet); margin: .3rem 0; white-space: pre-line; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--rule); padding: .25rem .6rem; text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { font-weight: 600; }
section.charts { display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { height: auto; max-width: 34rem; width: 100%; }
svg text { fill: var(--quiet); font-size: 12px; }
.grid { stroke: var(--rule); } .guide { stroke: var(--quiet); stroke-dasharray: 4 4; }
.line { fill: none; stroke-width: 2; }
.line.c0 { stroke: var(--c0); } .line.c1 { stroke: var(--c1); }
.line.c2 { stroke: var(--c2); } .line.c3 { stroke: var(--c3); } .line.c4 { stroke: var(--c4); }
.line.c5 { stroke: var(--c5); } .dot.c0, svg text.c0 { fill: var(--c0); }
.dot.c1, svg text.c1 { fill: var(--c1); } .dot.c2, svg text.c2 { fill: var(--c2); }
.dot.c3, svg text.c3 { fill: var(--c3); } .dot.c4, svg text.c4 { fill: var(--c4); }
.dot.c5, svg text.c5 { fill: var(--c5); }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def bench_page(found: ProtocolResult) -> str:
    """The whole page."""
    full = found.firsts[0].result
    judges = ", ".join(run.result.judge for run in found.firsts) if found.compares_judges else ""
    title = f"{judges or full.judge} on {full.overall.answers} labelled answers"
    tables = [_answers_table(full), *protocol_tables(found)]
    charts = "".join(_charts(found))
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
    )
    shown = f'<section class="charts">{charts}</section>' if charts else ""
    note = (
        f"split {full.split} · {full.overall.hallucinated} answers with an error by their labels · "
        f"{full.overall.claims} decided claims · {full.overall.undecided} undecided answers"
    )
    body = f'<h1>{escape(title)}</h1>\n<p class="note">{escape(note)}</p>\n{shown}\n'
    return f"{head}<body>\n<main>\n{body}{''.join(map(_table, tables))}</main>\n</body>\n</html>\n"


def _answers_table(result: BenchResult) -> FigureTable:
    head, *rows = [row for row in answer_rows(result) if row]
    note = "P, R, F1 and balanced accuracy of flagged answers; spans by characters of the answer"
    return FigureTable("answers and spans", head, [*rows], note)


def _table(table: FigureTable) -> str:
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    if not table.rows:
        return f"<h2>{escape(table.title)}</h2>{note}\n"
    width = len(table.head)
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in (*row, *[""] * (width - len(row))))
        + "</tr>"
        for row in table.rows
    )
    return (
        f"<h2>{escape(table.title)}</h2>{note}\n"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>\n"
    )


def _charts(result: ProtocolResult) -> Iterator[str]:
    firsts = result.firsts
    answers = firsts[0].result.answers
    if points := precision_recall(answers):
        axes = Axes("recall of answers with an error", "precision")
        share = firsts[0].result.overall.flag_all.precision
        title = f"Precision and recall by threshold (flag all: {number(share)} at 1)"
        yield line_chart(title, axes, {"": points})
    if points := stated_and_right(answers):
        axes = Axes("stated confidence", "right by the marked spans")
        yield line_chart("Verdicts right by stated confidence", axes, {"": points}, diagonal=True)
    if lines := f1_by_window(result.runs):
        windows = [point.x for points in lines.values() for point in points]
        axes = Axes("sentences of a chunk", "F1", (min(windows), max(windows)))
        yield line_chart("F1 of answers by window", axes, lines)
    bars = [
        Bar(name, one.difference, one.low, one.high, _words(name, one.difference))
        for name, found in result.against_first.items()
        for one in found.differences
        if one.metric == "F1" and one.difference is not None
        if one.low is not None and one.high is not None
    ]
    if bars:
        beside = firsts[0].variant.name if result.compares_judges else "the full pipeline"
        yield interval_chart(f"F1 beside {beside}", "difference of F1, 95% interval", bars)


def _words(name: str, difference: float) -> str:
    return f"{name}: F1 {difference:+.3f}"
