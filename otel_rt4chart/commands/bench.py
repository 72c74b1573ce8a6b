"""`rt4chart bench`: a judge's figures on a folder of labelled answers."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from otel_rt4chart.bench.dataset import Row, choose_split, read_rows
from otel_rt4chart.bench.runner import run_bench
from otel_rt4chart.bench.stages import Checked, check, measure, measure_datasets
from otel_rt4chart.bench.tables import (
    as_values,
    escalation,
    escalation_values,
    render,
    render_escalation,
    render_stages,
    stage_values,
)
from otel_rt4chart.cli import Command
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.judges.batch import PATIENCE, Tally, advice
from otel_rt4chart.judges.build import JUDGES, ONNX, build_verifier, settings_with
from otel_rt4chart.settings.application import setting_warnings
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import Exchange, Report


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="source_info.jsonl and response.jsonl lie here"
    )
    parser.add_argument(
        "--judge",
        default="local",
        metavar="NAME",
        help=f"the judge to measure: {', '.join(JUDGES)}, {ONNX}PATH (default: local)",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--split",
        choices=("dev", "train", "test", "all"),
        help="which rows (default: dev, else test, where the rows tell a split)",
    )
    parser.add_argument("--limit", type=_positive, metavar="N", help="the first N rows only")
    parser.add_argument(
        "--stages", action="store_true", help="show beneath what each stage of verification loses"
    )
    parser.add_argument(
        "--escalation",
        action="store_true",
        help="show beneath what a cascade's threshold would escalate (of a cascade: its first"
        " judge's claims)",
    )
    parser.add_argument("--json", action="store_true", help="figures for machines")


def run(options: argparse.Namespace) -> int:
    """Print the tables; a wrong folder or judge is an error for the command line."""
    sys.stderr.write("".join(f"warning: {one}\n" for one in setting_warnings()))
    verifier = build_verifier(options.judge, settings_with(options.judge, options.model))
    split, rows = choose_split(read_rows(options.folder), options.split)
    rows = rows[: options.limit]
    reports: list[Report] = []
    tally = Tally()

    def verify(exchange: Exchange) -> Report:
        reports.append(verifier.verify(exchange))
        tally.add(reports[-1])
        if tally.is_hopeless:
            raise JudgeError(f"{PATIENCE} answers in a row got no verdict: {tally.main_reason}")
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
        sys.stderr.write(f"{advice(options.judge)}\n")
        return 1
    tables, values = [render(result), _undecided(tally)], dict(as_values(result))
    values["undecided_reasons"] = dict(tally.reasons.most_common())
    is_checked = options.stages or options.escalation
    checked = _checked(rows, reports, verifier.judge) if is_checked else []
    if options.stages:
        stages = measure("overall", checked), measure_datasets(checked)
        tables.append(render_stages(*stages))
        values["stages"] = stage_values(*stages)
    if options.escalation:
        found = escalation(_first_alone(rows, verifier.judge, options.judge) or checked)
        tables.append(render_escalation(found))
        values["escalation"] = escalation_values(found)
    shown = json.dumps(values, indent=2) + "\n" if options.json else "\n".join(filter(None, tables))
    sys.stdout.write(shown)
    if tally.is_silent:
        sys.stderr.write(f"the judge gave no verdict: {tally.main_reason}\n")
        sys.stderr.write(f"{advice(options.judge)}\n")
    return int(tally.is_silent)


def _undecided(tally: Tally) -> str:
    return "".join(f"{line}\n" for line in tally.undecided_lines())


def _first_alone(rows: Sequence[Row], judge: Judge | BatchJudge, name: str) -> list[Checked]:
    """Who is escalated is the word of a cascade's first judge; nothing for any other judge."""
    if not isinstance(judge, CascadeJudge):
        return []
    alone = build_verifier(name)
    alone.judge = judge.first
    return _checked(rows, [alone.verify(row.exchange) for row in rows], judge.first)


def _checked(
    rows: Sequence[Row], reports: Sequence[Report], judge: Judge | BatchJudge
) -> list[Checked]:
    pairs = zip(rows, reports, strict=True)
    return [check(row, report, judge) for row, report in pairs]


def _progress() -> Callable[[int, int], None]:
    """One rewritten line on standard error, where a person is watching."""
    if not sys.stderr.isatty():
        return lambda done, total: None

    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\r{done}/{total} answers" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return show


def _positive(written: str) -> int:
    if not written.isdecimal() or int(written) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 was expected, {written!r} came")
    return int(written)


COMMAND = Command(
    "bench", "measure a judge on labelled answers, beside flagging everything", configure, run
)
