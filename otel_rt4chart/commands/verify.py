"""`rt4chart verify`: verifies the answers of a JSON-lines file."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from otel_rt4chart.commands.report_table import ReportTable
from otel_rt4chart.commands.terminal_text import this_terminal
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.judges.batch import BatchRun, judge_advice
from otel_rt4chart.judges.build import (
    build_criteria,
    build_verifier,
    settings_for_judge,
    shared_endpoint,
)
from otel_rt4chart.judges.names import is_on_disk
from otel_rt4chart.settings.application import setting_warnings
from otel_rt4chart.settings.criteria_file import chosen_criteria
from otel_rt4chart.verify.core.json_rows import read_lines
from otel_rt4chart.verify.core.rates import Measure


def execute(options: argparse.Namespace) -> int:
    """Verify the rows and print a summary. The status is 1 after any error or failure."""
    settings = settings_for_judge(options.judge, options.model, exhaustive=options.exhaustive)
    _write_lines(*(f"warning: {warning}" for warning in setting_warnings()))
    endpoint = shared_endpoint(settings)
    verifier = build_verifier(
        options.judge, settings, clock=time.perf_counter_ns, endpoint=endpoint
    )
    criteria = build_criteria(chosen_criteria(), settings, endpoint)
    jobs = options.jobs or default_jobs(options.judge, settings.concurrency)
    refuse_overwriting(options.file, options.out)
    as_of = datetime.now(UTC).isoformat(timespec="seconds")
    run = BatchRun(verifier, as_of=as_of, jobs=jobs, criteria=criteria)
    is_shown = options.out == "-" and sys.stdout.isatty()
    is_watched = sys.stderr.isatty() and not is_shown
    table = ReportTable(this_terminal()) if is_shown and not options.json else None
    with open_file(options.file, "rb") as lines, open_file(options.out, "wb") as out:
        try:
            with progress(time.monotonic) if is_watched else nullcontext(no_progress) as show:
                for row in run.rows(read_lines(lines)):
                    written = table.lines(row) if table else (json.dumps(row, ensure_ascii=False),)
                    _write(out, written)
                    show(run.count)
        finally:
            _write_lines(*run.lines())
    failures = list(_failures(run, options))
    _write_lines(*failures)
    return int(run.errors > 0 or failures != [])


def default_jobs(judge: str, concurrency: int) -> int:
    """The default for `--jobs`: a model runs while rules work on other answers."""
    if judge == "rules":
        return 1
    return 4 if judge == "local" or is_on_disk(judge) else concurrency


def _failures(run: BatchRun, options: argparse.Namespace) -> Iterator[str]:
    """Reasons for status 1 other than rows with an error, and what to do."""
    summary, max_rate = run.summary, options.fail_over
    if run.stopped:
        yield (
            f"{run.stopped}\nThe rows that were not verified have an error;"
            f" {judge_advice(options.judge)}.\nThen run this again:"
            " verdicts cached in RT4CHART_JUDGE_CACHE=FILE are not paid for twice"
        )
    elif summary.is_silent:
        yield f"the judge gave no verdict: {summary.main_reason}\n{judge_advice(options.judge)}"
    measure = Measure(options.count)
    if max_rate is not None and not run.count:
        yield f"--fail-over {max_rate:g}: the file has no rows, so there is no rate to compare"
    rate = summary.rate(measure).value
    if max_rate is not None and rate is None and summary.undecided:
        yield f"--fail-over {max_rate:g}: no claim was decided, so there is no rate to compare"
    if max_rate is not None and rate is not None and rate > max_rate:
        kinds = "unfaithful and misleading" if measure is Measure.EITHER else measure
        yield f"--fail-over {max_rate:g}: the rate of {kinds} claims is {rate:.4g}"


def _write_lines(*lines: str) -> None:
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _write(out: BinaryIO, lines: Iterable[str]) -> None:
    # UTF-8 cannot encode a lone surrogate; it is written as the JSON escape that it came from.
    text = "".join(f"{line}\n" for line in lines)
    try:
        out.write(text.encode("utf-8", "backslashreplace"))
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"--out: the report cannot be written: {error.strerror}") from error


@contextmanager
def progress(clock: Callable[[], float], what: str = "rows") -> Iterator[Callable[[int], None]]:
    """A progress line on standard error, removed at the end."""
    started = clock()

    def show(count: int) -> None:
        speed = count / max(clock() - started, 1e-9)
        sys.stderr.write(f"\r\x1b[K{count} {what}, {speed:.1f} a second")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")


def no_progress(count: int) -> None:
    """Progress without a terminal."""


def refuse_overwriting(file: str, out: str) -> None:
    """Raise InputError if opening the output would truncate the input."""
    source, target = Path(file), Path(out)
    if "-" in (file, out) or not (source.exists() and target.exists()):
        return
    if source.samefile(target):
        raise InputError(f"--out: expected a file other than the input, got {out}")


@contextmanager
def open_file(name: str, mode: str) -> Iterator[BinaryIO]:
    """Open a file, or the standard stream for `-`."""
    if name == "-":
        yield sys.stdin.buffer if mode == "rb" else sys.stdout.buffer
        return
    try:
        file = open(name, mode)  # noqa: SIM115 closed below
    except OSError as error:
        raise InputError(f"cannot open {name}: {error.strerror}") from error
    try:
        yield file  # type: ignore[misc]
    finally:
        # What could not be written is written again here, and fails again.
        with suppress(OSError):
            file.close()
