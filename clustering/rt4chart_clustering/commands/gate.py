"""`rt4chart gate`: an eval set's questions, answered anew, held against a bound and a baseline."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from otel_rt4chart.cli import Command
from otel_rt4chart.commands.verify import (
    default_jobs,
    no_progress,
    parse_jobs,
    parse_share,
    progress,
)
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.judges.build import JUDGES, build_verifier, settings_for_judge
from rt4chart_clustering.evalset.load import load_cases
from rt4chart_clustering.gate import report
from rt4chart_clustering.gate.answers import answers_from_command, answers_from_file
from rt4chart_clustering.gate.compare import check_judge, compare
from rt4chart_clustering.gate.judge import judged
from rt4chart_clustering.gate.outcome import Bounds, Outcome, outcome
from rt4chart_clustering.gate.result import kept_at, load, save

_EPILOG = """\
Exit status: 0 the gate opens, 1 it stays shut, 2 wrong use. The command of --command gets
{"id", "question", "contexts"} a line on standard input and writes {"id", "answer"} a line, with
"contexts" where it retrieved anew. All of it: docs/operate/evalsets.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--evalset",
        required=True,
        metavar="SET",
        help="a file of cases, FILE.jsonl, or a released set of the store, NAME or NAME@RELEASE",
    )
    parser.add_argument("--dsn", help="the database, for a set of the store (RT4CHART_DSN)")
    answers = parser.add_mutually_exclusive_group(required=True)
    answers.add_argument("--answers", type=Path, metavar="FILE.jsonl", help="the new answers")
    answers.add_argument("--command", dest="program", metavar="CMD", help="what answers the cases")
    parser.add_argument(
        "--command-timeout", type=float, default=600.0, metavar="S", help="seconds (default 600)"
    )
    parser.add_argument(
        "--max-rate", type=parse_share, default=0.05, metavar="RATE", help="0 to 1 (default 0.05)"
    )
    parser.add_argument(
        "--max-undecided",
        type=parse_share,
        default=0.2,
        metavar="SHARE",
        help="0 to 1 (default 0.2)",
    )
    parser.add_argument("--baseline", metavar="NAME", help="an earlier run that must not be beaten")
    parser.add_argument("--save", metavar="NAME", help="keep this run as a baseline")
    parser.add_argument("--judge", default="local", help=f"one of: {', '.join(JUDGES)}")
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument("--jobs", type=parse_jobs, metavar="N", help="answers verified at once")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="a summary, appended")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML")
    parser.add_argument("--json", action="store_true", help="print the result for machines")


def execute(options: argparse.Namespace) -> int:
    """Ask, verify, compare, tell."""
    name, cases = load_cases(options.evalset, options.dsn)
    before = load(kept_at(options.baseline)) if options.baseline else None
    settings = settings_for_judge(options.judge, options.model)
    verifier = build_verifier(options.judge, settings)
    if before is not None:
        check_judge(before, verifier.judge.id)  # before anything is asked
    if options.answers is not None:
        answers = answers_from_file(options.answers, cases)
    else:
        answers = answers_from_command(options.program, cases, timeout_s=options.command_timeout)
    jobs = options.jobs or default_jobs(options.judge, settings.concurrency)
    is_watched = sys.stderr.isatty()
    with progress(time.monotonic, "cases") if is_watched else nullcontext(no_progress) as show:
        result = judged(name, cases, answers, verifier, jobs=jobs, show=show)
    found = outcome(
        result,
        Bounds(options.max_rate, options.max_undecided),
        compare(before, result) if before else None,
    )
    if options.save:
        save(result, kept_at(options.save))
    _write(options, found)
    return int(not found.is_open)


def _write(options: argparse.Namespace, found: Outcome) -> None:
    words = json.dumps(report.as_json(found), ensure_ascii=False, indent=2) + "\n"
    sys.stdout.write(words if options.json else report.in_words(found))
    try:
        if options.markdown is not None:
            # Appended, because GITHUB_STEP_SUMMARY is a file that other steps write too.
            with options.markdown.open("a", encoding="utf-8") as summary:
                summary.write(report.markdown(found))
        if options.junit is not None:
            options.junit.write_bytes(report.junit(found))
    except OSError as error:
        raise InputError(f"expected a file that can be written: {error}") from error


COMMAND = Command("gate", "hold new answers to an eval set against a bound", configure, execute)
