"""`rt4chart bench`: measures a judge on a folder of labelled answers."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence

from otel_rt4chart.bench.dataset import LabelledAnswer, choose_split, read_rows
from otel_rt4chart.bench.runner import run_bench
from otel_rt4chart.bench.stages import CheckedAnswer, check_answer, measure_datasets, measure_stages
from otel_rt4chart.bench.tables import (
    as_values,
    escalation,
    escalation_values,
    render,
    render_escalation,
    render_stages,
    stage_values,
)
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW, BatchSummary, judge_advice
from otel_rt4chart.judges.build import build_verifier, settings_for_judge
from otel_rt4chart.settings.application import setting_warnings
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import Exchange, Report


def run(options: argparse.Namespace) -> int:
    """Verify the rows and print the tables."""
    sys.stderr.write("".join(f"warning: {warning}\n" for warning in setting_warnings()))
    verifier = build_verifier(options.judge, settings_for_judge(options.judge, options.model))
    split, rows = choose_split(read_rows(options.folder), options.split)
    rows = rows[: options.limit]
    reports: list[Report] = []
    summary = BatchSummary()

    def verify(exchange: Exchange) -> Report:
        reports.append(verifier.verify(exchange))
        summary.add(reports[-1])
        if summary.is_hopeless:
            raise JudgeError(
                f"{MAX_FAILURES_IN_A_ROW} answers in a row got no verdict: {summary.main_reason}"
            )
        return reports[-1]

    try:
        result = run_bench(
            rows,
            verify,
            judge=verifier.judge.id,
            split=split,
            clock=time.perf_counter_ns,
            progress=_progress(),
        )
    except JudgeError as error:
        sys.stderr.write(f"stopped after {len(reports)} of {len(rows)} answers: {error}\n")
        sys.stderr.write(f"{judge_advice(options.judge)}\n")
        return 1
    tables, values = [render(result), _undecided_text(summary)], dict(as_values(result))
    values["undecided_reasons"] = dict(summary.reasons.most_common())
    is_checked = options.stages or options.escalation
    checked = _check_answers(rows, reports, verifier.judge) if is_checked else []
    if options.stages:
        stages = measure_stages("overall", checked), measure_datasets(checked)
        tables.append(render_stages(*stages))
        values["stages"] = stage_values(*stages)
    if options.escalation:
        thresholds = escalation(_check_first_judge(rows, verifier.judge, options.judge) or checked)
        tables.append(render_escalation(thresholds))
        values["escalation"] = escalation_values(thresholds)
    output = (
        json.dumps(values, indent=2) + "\n" if options.json else "\n".join(filter(None, tables))
    )
    sys.stdout.write(output)
    if summary.is_silent:
        sys.stderr.write(f"the judge gave no verdict: {summary.main_reason}\n")
        sys.stderr.write(f"{judge_advice(options.judge)}\n")
    return int(summary.is_silent)


def _undecided_text(summary: BatchSummary) -> str:
    return "".join(f"{line}\n" for line in summary.undecided_lines())


def _check_first_judge(
    rows: Sequence[LabelledAnswer], judge: Judge | BatchJudge, name: str
) -> list[CheckedAnswer]:
    """The answers by the first judge of a cascade, which decides what is escalated; else none."""
    if not isinstance(judge, CascadeJudge):
        return []
    alone = build_verifier(name)
    alone.judge = judge.first
    return _check_answers(rows, [alone.verify(row.exchange) for row in rows], judge.first)


def _check_answers(
    rows: Sequence[LabelledAnswer], reports: Sequence[Report], judge: Judge | BatchJudge
) -> list[CheckedAnswer]:
    pairs = zip(rows, reports, strict=True)
    return [check_answer(row, report, judge) for row, report in pairs]


def _progress() -> Callable[[int, int], None]:
    """A progress line on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        return lambda done, total: None

    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\r{done}/{total} answers" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return show
