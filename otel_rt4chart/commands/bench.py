"""`rt4chart bench`: measures a judge on a folder of labelled answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.bench.dataset import LabelledAnswer, choose_split, read_rows
from otel_rt4chart.bench.page import bench_page
from otel_rt4chart.bench.paired import compare_runs
from otel_rt4chart.bench.protocol import protocol_result
from otel_rt4chart.bench.protocol_tables import (
    comparison_table,
    comparison_values,
    protocol_tables,
    protocol_values,
    render_table,
)
from otel_rt4chart.bench.rivals.build import is_rival
from otel_rt4chart.bench.runner import BenchResult
from otel_rt4chart.bench.saved_runs import read_saved_run
from otel_rt4chart.bench.stages import CheckedAnswer, check_answer, measure_datasets, measure_stages
from otel_rt4chart.bench.tables import (
    escalation,
    escalation_values,
    render,
    render_escalation,
    render_stages,
    stage_values,
)
from otel_rt4chart.commands.bench_runs import BenchRuns
from otel_rt4chart.core.errors import InputError, JudgeError
from otel_rt4chart.core.text import printable
from otel_rt4chart.judges.batch import judge_advice, undecided_lines
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.settings.application import setting_warnings
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import Report


def run(options: argparse.Namespace) -> int:
    """Verify the rows and print the tables, or compare two runs."""
    if options.compare:
        return _compare(options)
    if options.folder is None:
        raise InputError("expected DIR, the folder with the labelled answers, or --compare A B")
    if options.html and (options.html.is_dir() or not options.html.parent.is_dir()):
        raise InputError(f"--html: expected a file in a folder that exists, got {options.html}")
    sys.stderr.write("".join(f"warning: {warning}\n" for warning in setting_warnings()))
    split, rows = choose_split(read_rows(options.folder), options.split)
    bench = BenchRuns(options, rows[: options.limit], split)
    try:
        bench.execute()
    except JudgeError as error:
        sys.stderr.write(f"stopped after {bench.done + 1} of {len(bench.rows)} answers: {error}\n")
        sys.stderr.write(f"{_advice(bench.judge)}\n")
        if options.resume:
            sys.stderr.write(f"run the same command again to continue {options.resume}\n")
        return 1
    _print(options, bench)
    for name, reason in bench.silent.items():
        judge = f"the judge {name}" if len(options.judges) > 1 else "the judge"
        sys.stderr.write(f"{judge} gave no verdict: {reason}\n{_advice(name)}\n")
    return int(bool(bench.silent))


def _advice(name: str) -> str:
    """How to diagnose a judge; the rivals' endpoint is that of every other judge."""
    return judge_advice("single" if is_rival(name) else name)


def _print(options: argparse.Namespace, bench: BenchRuns) -> None:
    result = protocol_result(bench.runs)
    tables = [] if result.compares_judges else [render(bench.runs[0].result)]
    tables += map(render_table, protocol_tables(result))
    # As the figures beside them, of the first runs; also of answers that were verified earlier.
    reasons = {run.variant.name: _undecided(run.result) for run in result.firsts}
    told = reasons if result.compares_judges else {"": reasons[result.firsts[0].variant.name]}
    tables.append("".join(_undecided_text(told)))
    values = protocol_values(result)
    values["undecided_reasons"] = dict(reasons[result.firsts[0].variant.name].most_common())
    for text, more in _stages(options, bench):
        tables.append(text)
        values |= more
    if options.html:
        options.html.write_text(bench_page(result), encoding="utf-8", errors="replace")
    output = (
        json.dumps(values, indent=2) + "\n" if options.json else "\n".join(filter(None, tables))
    )
    sys.stdout.write(output)


def _undecided(result: BenchResult) -> Counter[str]:
    """How often each reason stands where there is no verdict."""
    return Counter(
        printable(reason or "no reason given")
        for answer in result.answers
        for reason in answer.record.undecided_reasons
    )


def _undecided_text(reasons: Mapping[str, Counter[str]]) -> Iterator[str]:
    """A line for each frequent reason, after the judge's name where there are several."""
    for judge, own in reasons.items():
        yield from (f"{judge}{', ' * bool(judge)}{line}\n" for line in undecided_lines(own))


def _stages(
    options: argparse.Namespace, bench: BenchRuns
) -> list[tuple[str, Mapping[str, object]]]:
    """The texts and values of `--stages` and of `--escalation`."""
    if not (options.stages or options.escalation) or bench.verifier is None:
        return []
    judge, rows = bench.verifier.judge, bench.rows
    checked = _check_answers(rows, bench.reports, judge)
    found: list[tuple[str, Mapping[str, object]]] = []
    if options.stages:
        stages = measure_stages("overall", checked), measure_datasets(checked)
        found.append((render_stages(*stages), {"stages": stage_values(*stages)}))
    if options.escalation:
        thresholds = escalation(_check_first_judge(rows, judge, bench.judge) or checked)
        values = {"escalation": escalation_values(thresholds)}
        found.append((render_escalation(thresholds), values))
    return found


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


def _compare(options: argparse.Namespace) -> int:
    """Two files of `--json`, answer by answer."""
    (judge_a, a), (judge_b, b) = map(read_saved_run, options.compare)
    found = compare_runs(a, b)
    if options.json:
        values = {"a": judge_a, "b": judge_b, **comparison_values(found)}
        sys.stdout.write(json.dumps(values, indent=2) + "\n")
        return 0
    sys.stdout.write(f"A: {judge_a}, {options.compare[0]}\nB: {judge_b}, {options.compare[1]}\n\n")
    sys.stdout.write(render_table(comparison_table(found)))
    return 0
