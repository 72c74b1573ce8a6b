"""`rt4chart verify`: a file of exchanges in, a file of verdicts out."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from otel_rt4chart.cli import Command
from otel_rt4chart.errors import InputError
from otel_rt4chart.judges import JUDGES, ONNX, build_verifier
from otel_rt4chart.rows import parse, report_row, row_from
from otel_rt4chart.verify import Verifier


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE.jsonl", help="one exchange a line; - is stdin")
    parser.add_argument(
        "--judge",
        default="local",
        metavar="NAME",
        help=f"one of: {', '.join(JUDGES)}, {ONNX}PATH (a model on disk)",
    )
    parser.add_argument("--out", default="-", metavar="OUT.jsonl", help="default: stdout")


def execute(options: argparse.Namespace) -> int:
    """Verify row by row; the status is 1 where a row failed."""
    verifier = build_verifier(options.judge, clock=time.perf_counter_ns)
    refuse_overwriting(options.file, options.out)
    rows = failed = 0
    spent = Spent()
    with opened(options.file, "rb") as lines, opened(options.out, "wb") as out:
        for row in verify_rows(lines, verifier):
            rows += 1
            failed += "error" in row
            spent.add(row.get("usage", {}))
            # A lone surrogate in a JSON escape is no UTF-8; it goes out as it came in.
            text = json.dumps(row, ensure_ascii=False)
            out.write(text.encode("utf-8", "backslashreplace") + b"\n")
            out.flush()
    sys.stderr.write(f"{rows} rows, {failed} with an error{spent}\n")
    return int(failed > 0)


class Spent:
    """What an endpoint's calls came to, over all rows."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._sums: Counter[str] = Counter()
        self._is_priced = True

    def add(self, usage: Mapping[str, Any]) -> None:
        """Count a row's usage."""
        self._sums.update({name: value for name, value in usage.items() if value})
        self._is_priced &= not usage or "cost_usd" in usage

    def __str__(self) -> str:
        """Nothing where no tokens were used."""
        tokens = self._sums["input_tokens"], self._sums["output_tokens"]
        if not any(tokens):
            return ""
        cost = f"{self._sums['cost_usd']:.4f} USD" if self._is_priced else "price unknown"
        hits = self._sums["cache_hits"]
        return (
            f"; {self._sums['calls']} calls, {tokens[0]} + {tokens[1]} tokens, {cost},"
            f" {hits} verdicts from the cache"
        )


def verify_rows(lines: Iterable[bytes], verifier: Verifier) -> Iterator[dict[str, Any]]:
    """A row out for each row in; a bad one carries its line number and an `error`."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        value: Any = {}
        try:
            value = parse(line)
            row = row_from(value)
            yield report_row(row, verifier.verify(row.exchange))
        except InputError as error:
            yield {"id": value.get("id"), "line": number, "error": str(error)}


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
