"""`rt4chart verify`: a file of exchanges in, a file of verdicts out."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from otel_rt4chart.cli import Command
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.judges.batch import Run, advice
from otel_rt4chart.judges.build import JUDGES, ONNX, build_verifier, is_onnx, settings_with
from otel_rt4chart.settings.application import setting_warnings

_EPILOG = """\
A row: {"id", "question", "contexts": [text or {"id", "text", "metadata"}], "answer", "route",
"as_of"}; "contexts" and "answer" are needed. Exit status: 0 verified, 1 a row has an error, the
judge failed or the rate is above --fail-over, 2 wrong use. All of it: docs/start/verify-a-file.md
Answers that the service has stored: rt4chart verify --from-store --help
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE.jsonl", help="one exchange a line; - is stdin")
    parser.add_argument(
        "--judge",
        default="local",
        metavar="NAME",
        help=f"one of: {', '.join(JUDGES)}, {ONNX}PATH (a model on disk)",
    )
    parser.add_argument("--model", help="the judging model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument("--out", default="-", metavar="OUT.jsonl", help="default: stdout")
    parser.add_argument(
        "--jobs",
        type=jobs_from,
        metavar="N",
        help="answers verified at once (default: RT4CHART_JUDGE_CONCURRENCY for a judge behind an"
        " endpoint, 4 for a model, 1 for rules)",
    )
    parser.add_argument(
        "--fail-over",
        type=share_from,
        metavar="RATE",
        help="status 1 where the hallucination rate of all rows is above it, 0 to 1",
    )


def execute(options: argparse.Namespace) -> int:
    """Verify row by row and tell what came of it; the status is 1 where that is not all well."""
    settings = settings_with(options.judge, options.model)
    _tell(*(f"warning: {one}" for one in setting_warnings()))
    verifier = build_verifier(options.judge, settings, clock=time.perf_counter_ns)
    jobs = options.jobs or fitting_jobs(options.judge, settings.concurrency)
    refuse_overwriting(options.file, options.out)
    run = Run(verifier, as_of=datetime.now(UTC).isoformat(timespec="seconds"), jobs=jobs)
    is_watched = sys.stderr.isatty() and not (options.out == "-" and sys.stdout.isatty())
    with opened(options.file, "rb") as lines, opened(options.out, "wb") as out:
        try:
            with progress(time.monotonic) if is_watched else nullcontext(unseen) as show:
                for row in run.rows(lines):
                    _write(out, row)
                    show(run.count)
        finally:
            _tell(*run.lines())
    failures = list(_failures(run, options))
    _tell(*failures)
    return int(run.errors > 0 or failures != [])


def fitting_jobs(judge: str, concurrency: int) -> int:
    """A model is kept busy while rules run beside it; how many cores it takes is its own bound."""
    if judge == "rules":
        return 1
    return 4 if judge == "local" or is_onnx(judge) else concurrency


def _failures(run: Run, options: argparse.Namespace) -> Iterator[str]:
    """What makes a run fail beside rows with an error, and what to do about it."""
    tally, most = run.tally, options.fail_over
    if run.stopped:
        yield (
            f"{run.stopped}\nThe rows that were not verified carry an error;"
            f" {advice(options.judge)}.\nThen run this again:"
            " what RT4CHART_JUDGE_CACHE=FILE has kept is not paid for twice"
        )
    elif tally.is_silent:
        yield f"the judge gave no verdict: {tally.main_reason}\n{advice(options.judge)}"
    rate = tally.rate.value
    if most is not None and rate is None and tally.undecided:
        yield f"--fail-over {most:g}: no claim was decided, so there is no rate to hold against it"
    if most is not None and rate is not None and rate > most:
        yield f"--fail-over {most:g}: the rate is {rate:.4g}"


def _tell(*lines: str) -> None:
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _write(out: BinaryIO, row: Mapping[str, Any]) -> None:
    # A lone surrogate in a JSON escape is no UTF-8; it goes out as it came in.
    text = json.dumps(row, ensure_ascii=False)
    out.write(text.encode("utf-8", "backslashreplace") + b"\n")
    out.flush()


@contextmanager
def progress(clock: Callable[[], float], what: str = "rows") -> Iterator[Callable[[int], None]]:
    """One rewritten line on standard error, wiped at the end."""
    started = clock()

    def show(count: int) -> None:
        speed = count / max(clock() - started, 1e-9)
        sys.stderr.write(f"\r\x1b[K{count} {what}, {speed:.1f} a second")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")


def unseen(count: int) -> None:
    """Progress where nobody watches."""


def jobs_from(written: str) -> int:
    """How many answers to verify at once."""
    if not written.isdecimal() or not 1 <= int(written) <= 1000:
        raise argparse.ArgumentTypeError(f"expected an integer from 1 to 1000, got {written!r}")
    return int(written)


def share_from(written: str) -> float:
    """A share from 0 to 1."""
    try:
        rate = float(written)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {written!r}")
    return rate


def refuse_overwriting(file: str, out: str) -> None:
    """Raise InputError where opening the output would empty the input before it is read."""
    source, target = Path(file), Path(out)
    if "-" in (file, out) or not (source.exists() and target.exists()):
        return
    if source.samefile(target):
        raise InputError(f"--out {out} is the input file itself: name another file")


@contextmanager
def opened(name: str, mode: str) -> Iterator[BinaryIO]:
    """The file, or the standard stream for `-`."""
    if name == "-":
        yield sys.stdin.buffer if mode == "rb" else sys.stdout.buffer
        return
    try:
        file = open(name, mode)  # noqa: SIM115 closed below
    except OSError as error:
        raise InputError(f"cannot open {name}: {error.strerror}") from error
    with file:
        yield file  # type: ignore[misc]


COMMAND = Command("verify", "verify the answers of a JSON-lines file", configure, execute)
