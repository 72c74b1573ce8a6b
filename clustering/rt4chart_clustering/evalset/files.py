"""Eval sets as files: one case a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.json_rows import parse_row
from rt4chart_clustering.evalset.case import EvalCase, case_from


def read_cases(path: Path) -> list[EvalCase]:
    """The cases of a JSON-lines file; InputError with the line's number where one is none."""
    try:
        with path.open("rb") as lines:
            return cases_from(lines, str(path))
    except OSError as error:
        raise InputError(f"expected an eval set, a file of JSON lines: {error}") from error


def cases_from(lines: Iterable[bytes], where: str) -> list[EvalCase]:
    """The cases of the lines, each with an id of its own; `where` is for the error."""
    found: dict[str, EvalCase] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            case = case_from(parse_row(line))
        except InputError as error:
            raise InputError(f"{where}, line {number}: {error}") from error
        if case.id in found:
            raise InputError(f"{where}, line {number}: expected an id of its own, got {case.id!r}")
        found[case.id] = case
    if not found:
        raise InputError(f"{where}: expected at least one case, got none")
    return list(found.values())
