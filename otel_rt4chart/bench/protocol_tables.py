"""The protocol's tables, for the terminal and for the page; and its figures as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from otel_rt4chart.bench.conflicts import ConflictScores, score_conflicts
from otel_rt4chart.bench.metrics import ConfusionCounts
from otel_rt4chart.bench.paired import MetricDifference, PairedComparison
from otel_rt4chart.bench.protocol import (
    MetricRow,
    ProtocolResult,
    ProtocolRun,
    RunSpread,
    run_metrics,
)
from otel_rt4chart.bench.records import record_values, row_key
from otel_rt4chart.bench.runner import BenchResult, JudgedAnswer
from otel_rt4chart.bench.tables import aligned, as_values, number

Cells = Sequence[str]


class FigureTable(NamedTuple):
    """A table with a heading; the first column has names. Without rows only the note is shown."""

    title: str
    head: Cells
    rows: Sequence[Cells]
    note: str = ""


def render_table(table: FigureTable) -> str:
    """The table as aligned lines."""
    lines = aligned([(table.title, *table.head[1:]), *table.rows]) if table.rows else [table.title]
    return "\n".join(filter(None, [*lines, table.note])) + "\n"


def protocol_tables(found: ProtocolResult) -> list[FigureTable]:
    """All tables beside that of the answers, in the order of the paper's section 4.

    Of several judges, those that compare them; what one judge has alone is left to its own run.
    """
    tables: list[FigureTable] = []
    first = found.firsts[0].result
    if first.is_holistic and not found.compares_judges:
        tables.append(
            FigureTable("kinds of error, spans, evidence", (), (), f"not measured: {_HOLISTIC}")
        )
    elif not found.compares_judges:
        tables += conflict_tables(score_conflicts(first.answers))
    if len(found.firsts) > 1:
        tables += [variants_table(found), paired_table(found)]
    if repeats := found.repeats:
        tables.append(repeats_table(repeats))
    return [*tables, cost_table(found.runs)]


def conflict_tables(found: ConflictScores) -> Iterator[FigureTable]:
    """Conflict cases, the types of spans, and the refuting evidence."""
    cases = (("conflict cases", found.conflicts), ("baseless cases", found.baseless))
    known = [(name, *_counts(counts)) for name, counts in cases if counts is not None]
    note = (
        "an answer is a case if it holds such an error, and found if a claim of it has that label"
    )
    if not known:
        note = "not measured: the labels do not say which answers conflict and which are baseless"
    yield FigureTable("kinds of error", ("", "answers", "P", "R", "F1"), known, note)
    if found.types:
        rows = [
            (one.type, str(one.spans), _share(one.flagged, one.spans), _share(one.named, one.kinds))
            for one in found.types
        ]
        note = "found: spans that a flagged range overlaps; with its kind: by a claim of that label"
        yield FigureTable("marked spans", ("", "spans", "found", "with its kind"), rows, note)
    yield _grounding_table(found)


def _grounding_table(found: ConflictScores) -> FigureTable:
    title, grounding = "refuting evidence", found.grounding
    if grounding is None:
        note = "not measured: the labels of this data set quote no evidence"
        return FigureTable(title, (), (), note)
    counts = grounding.characters
    figures = map(number, (counts.precision, counts.recall, counts.f1))
    shown = (grounding.detected, grounding.quoted, grounding.located)
    return FigureTable(
        title,
        ("", "cases found", "quoted", "located", "P", "R", "F1"),
        [("characters", *map(str, shown), *figures)],
        "of the conflict cases that were found, those whose quoted evidence stands in the passages",
    )


def variants_table(found: ProtocolResult) -> FigureTable:
    """Each variant's metrics; the first run of each."""
    metrics = [run_metrics(run.result) for run in found.firsts]
    rows = [
        (run.variant.name, *_metric_cells(run.result, row))
        for run, row in zip(found.firsts, metrics, strict=True)
    ]
    if not found.compares_judges:
        full = found.firsts[0].variant
        note = f"the full pipeline has windows of {full.window} sentences that share {full.overlap}"
        return FigureTable("variants", ("", *metrics[0]), rows, note)
    flagged = found.firsts[0].result.overall.flag_all
    every = (flagged.precision, flagged.recall, flagged.f1, flagged.balanced_accuracy)
    undecided = [str(run.result.overall.undecided) for run in found.firsts]
    shown = [(*row, one) for row, one in zip(rows, undecided, strict=True)]
    shown.append(("flag all", *map(number, every)))
    note = f"{NO_SPANS}: {_HOLISTIC}"
    is_told = any(run.result.is_holistic for run in found.firsts)
    return FigureTable("judges", ("", *metrics[0], "undecided"), shown, note * is_told)


NO_SPANS = "no spans"
_HOLISTIC = "one verdict on the whole answer (holistic), without a place or a kind of error"


def _metric_cells(result: BenchResult, metrics: MetricRow) -> Cells:
    return [
        NO_SPANS if name == "span F1" and result.is_holistic else number(value)
        for name, value in metrics.items()
    ]


def paired_table(result: ProtocolResult) -> FigureTable:
    """Each variant beside the first one, answer by answer."""
    first = result.firsts[0].variant.name if result.compares_judges else "full"
    names = ("F1", "balanced accuracy", "span F1")
    rows = [
        (
            name,
            *(_difference(one) for one in found.differences if one.metric in names),
            *_mcnemar_cells(found),
        )
        for name, found in result.against_first.items()
    ]
    head = ("", *names, f"right in {first} alone", "right in this alone", "McNemar p")
    title = f"minus {first}" if result.compares_judges else "minus the full pipeline"
    return FigureTable(title, head, rows, _INTERVAL)


def comparison_table(found: PairedComparison) -> FigureTable:
    """Two runs, a and b, metric by metric."""
    rows = [
        (one.metric, number(one.a), number(one.b), _difference(one)) for one in found.differences
    ]
    left_out = f" · {found.unshared} in one run alone, left out" if found.unshared else ""
    note = (
        f"{found.answers} answers of {found.groups} documents{left_out}\n"
        f"right in A alone: {found.only_a} · right in B alone: {found.only_b} · "
        f"McNemar's exact test: p = {found.p_value:.3g}\n{_INTERVAL}"
    )
    return FigureTable("B minus A", ("", "A", "B", "difference"), rows, note)


def repeats_table(repeats: Mapping[str, tuple[RunSpread, ...]]) -> FigureTable:
    """Mean and standard deviation of each metric over the repeats of each variant."""
    rows, head = [], [""]
    for variant, found in repeats.items():
        head = ["", "runs", *(one.metric for one in found)]
        rows.append((variant, str(len(found[0].values)), *map(_spread_cell, found)))
    return FigureTable("repeated runs", head, rows, "mean ± standard deviation of a single run")


def cost_table(runs: Sequence[ProtocolRun]) -> FigureTable:
    """What each run has taken."""
    many = any(run.repeat > 1 for run in runs)
    rows = [
        (
            f"{run.variant.name}, run {run.repeat}" if many else run.variant.name,
            *_cost_cells(run.result),
            *_per_answer(run.result),
        )
        for run in runs
    ]
    head = ("", *_COST, "$ an answer", "s an answer")
    note = "–: the price is not known. A judge in this process makes no calls"
    return FigureTable("cost", head, rows, note)


_COST = ("calls", "tokens in", "cached", "tokens out", "$", "s")
_INTERVAL = "[…]: 95% intervals, bootstrap over documents"


def _cost_cells(result: BenchResult) -> Cells:
    used = result.usage
    counts = (used.calls, used.input_tokens, used.cached_tokens, used.output_tokens)
    return (
        *(f"{count:,}" for count in counts),
        number(used.cost_usd, ".4f"),
        f"{result.seconds:.1f}",
    )


def _per_answer(result: BenchResult) -> Cells:
    answers, cost = max(len(result.answers), 1), result.usage.cost_usd
    return (
        number(None if cost is None else cost / answers, ".5f"),
        f"{result.seconds / answers:.3f}",
    )


def _counts(counts: ConfusionCounts) -> Cells:
    cases = counts.true_positive + counts.false_negative
    return str(cases), *map(number, (counts.precision, counts.recall, counts.f1))


def _share(part: int, whole: int) -> str:
    return number(part / whole if whole else None, ".3f")


def _difference(one: MetricDifference) -> str:
    if one.difference is None:
        return "–"
    interval = "" if one.low is None else f" [{one.low:+.3f} {one.high:+.3f}]"
    return f"{one.difference:+.3f}{interval}"


def _mcnemar_cells(found: PairedComparison) -> Cells:
    return str(found.only_a), str(found.only_b), f"{found.p_value:.3g}"


def _spread_cell(one: RunSpread) -> str:
    mean = number(one.mean)
    return mean if one.deviation is None else f"{mean} ± {one.deviation:.3f}"


def protocol_values(result: ProtocolResult) -> dict[str, Any]:
    """The first variant's figures as before, then those of every run with its answers."""
    first = result.firsts[0].result
    values = dict(as_values(first))
    values["conflicts"] = _conflict_values(score_conflicts(first.answers))
    values["runs"] = [_run_values(run) for run in result.runs]
    if result.against_first:
        values["against_first" if result.compares_judges else "against_full"] = {
            name: comparison_values(found) for name, found in result.against_first.items()
        }
    if repeats := result.repeats:
        values["repeats"] = {
            name: {one.metric: one._asdict() for one in found} for name, found in repeats.items()
        }
    return values


def comparison_values(found: PairedComparison) -> Mapping[str, object]:
    """A comparison as JSON values."""
    return {
        "answers": found.answers,
        "documents": found.groups,
        "unshared": found.unshared,
        "right_in_a_alone": found.only_a,
        "right_in_b_alone": found.only_b,
        "mcnemar_p": found.p_value,
        "differences": {one.metric: one._asdict() for one in found.differences},
    }


def _conflict_values(found: ConflictScores) -> Mapping[str, object]:
    grounding = found.grounding
    return {
        "conflict_cases": _case_values(found.conflicts),
        "baseless_cases": _case_values(found.baseless),
        "spans": {one.type: one._asdict() for one in found.types},
        "refuting_evidence": None
        if grounding is None
        else {
            "detected": grounding.detected,
            "quoted": grounding.quoted,
            "located": grounding.located,
            **(_case_values(grounding.characters) or {}),
        },
    }


def _case_values(counts: ConfusionCounts | None) -> dict[str, float | None] | None:
    if counts is None:
        return None
    return {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _run_values(run: ProtocolRun) -> Mapping[str, object]:
    variant, used = run.variant, run.result.usage
    return {
        "variant": variant.name,
        "repeat": run.repeat,
        "judge": run.result.judge,
        "window": variant.window,
        "overlap": variant.overlap,
        "left_out": sorted(variant.left_out),
        "metrics": run_metrics(run.result),
        "cost": {
            "calls": used.calls,
            "input_tokens": used.input_tokens,
            "cached_tokens": used.cached_tokens,
            "output_tokens": used.output_tokens,
            "cache_hits": used.cache_hits,
            "cost_usd": used.cost_usd,
            "seconds": round(run.result.seconds, 3),
        },
        "answers": [_answer_values(answer) for answer in run.result.answers],
    }


def _answer_values(answer: JudgedAnswer) -> Mapping[str, object]:
    row, gold = answer.row, answer.outcome.gold_spans
    return {
        "id": row.id,
        "row": row_key(row).digest,
        "group": f"{row.dataset}/{row.group}",
        "task": row.task,
        "hallucinated": row.is_hallucinated,
        "gold_spans": None if gold is None else [list(span) for span in gold],
        **record_values(answer.record),
    }
