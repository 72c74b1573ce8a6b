"""`rt4chart gate`: new answers to an eval set, checked against limits and a baseline."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from otel_rt4chart.commands.verify import (
    default_jobs,
    no_progress,
    progress,
)
from otel_rt4chart.core.errors import InputError, RT4ChartError
from otel_rt4chart.core.text import printable
from otel_rt4chart.judges.build import (
    build_criteria,
    build_verifier,
    settings_for_judge,
    shared_endpoint,
)
from otel_rt4chart.settings.criteria_file import chosen_criteria
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.evalset.case import EvalCase
from rt4chart_clustering.evalset.load import load_cases
from rt4chart_clustering.gate.answers import read_answers, run_command
from rt4chart_clustering.gate.compare import check_comparable, compare
from rt4chart_clustering.gate.evaluate import (
    GateLimits,
    GateOutcome,
    check_criteria,
    evaluate_gate,
)
from rt4chart_clustering.gate.report import format_junit, format_markdown, format_text, outcome_json
from rt4chart_clustering.gate.result import GateResult, load_result, result_path, save_result
from rt4chart_clustering.gate.verify_answers import verify_answers

if TYPE_CHECKING:
    from rt4chart_clustering.gate.stored_comparison import StoredComparison


def execute(options: argparse.Namespace) -> int:
    """Get the answers, verify them, compare the result and report it."""
    name, cases = load_cases(options.evalset, options.dsn)
    before = load_result(result_path(options.baseline)) if options.baseline else None
    settings = settings_for_judge(options.judge, options.model)
    endpoint = shared_endpoint(settings)
    verifier = build_verifier(options.judge, settings, endpoint=endpoint)
    criteria = build_criteria(chosen_criteria(), settings, endpoint)
    check_criteria(dict(options.criterion), criteria)
    if before is not None:
        check_comparable(
            before, verifier.judge.id, Measure(options.count)
        )  # before the application is run
    if options.answers is not None:
        answers = read_answers(options.answers, cases)
    else:
        answers = run_command(options.program, cases, timeout_s=options.command_timeout)
    jobs = options.jobs or default_jobs(options.judge, settings.concurrency)
    is_watched = sys.stderr.isatty()
    with progress(time.monotonic, "cases") if is_watched else nullcontext(no_progress) as show:
        result = verify_answers(
            name, cases, answers, verifier, jobs=jobs, show=show, criteria=criteria
        )
    result = replace(result, release=options.release)
    found = evaluate_gate(
        result,
        GateLimits(
            options.max_rate,
            options.max_undecided,
            Measure(options.count),
            dict(options.criterion),
        ),
        compare(before, result, Measure(options.count)) if before else None,
    )
    if options.save:
        save_result(result, result_path(options.save))
    if options.release:
        found = replace(found, stored=_stored_comparison(options, cases, result, before))
    _write(options, found)
    return int(not found.is_open)


def _stored_comparison(
    options: argparse.Namespace,
    cases: Sequence[EvalCase],
    result: GateResult,
    before: GateResult | None,
) -> StoredComparison | None:
    """The comparison of the release in the store; None, with the reason as a note, without one.

    It decides nothing, so that a gate without a database is as good as one with it.
    """
    # Imported here, because a gate without a release needs no database.
    from rt4chart_clustering.gate.stored_comparison import comparison_of

    try:
        return comparison_of(result, before, cases, Measure(options.count), options.dsn)
    except RT4ChartError as error:
        sys.stderr.write(f"rt4chart gate: no comparison of releases: {printable(str(error))}\n")
        return None


def _write(options: argparse.Namespace, found: GateOutcome) -> None:
    words = json.dumps(outcome_json(found), ensure_ascii=False, indent=2) + "\n"
    sys.stdout.write(words if options.json else format_text(found))
    try:
        if options.markdown is not None:
            # Appended, because other steps write to GITHUB_STEP_SUMMARY too.
            with options.markdown.open("a", encoding="utf-8") as summary:
                summary.write(format_markdown(found))
        if options.junit is not None:
            options.junit.write_bytes(format_junit(found))
    except OSError as error:
        raise InputError(f"expected a file that can be written: {error}") from error
