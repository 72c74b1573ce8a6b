"""Eval sets read from a JSON-lines file or from a release in the store."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.json_rows import parse_row
from rt4chart_clustering.evalset.case import EvalCase, parse_case

if TYPE_CHECKING:
    from rt4chart_collector.store.engine.connect import Client


def read_cases(path: Path) -> list[EvalCase]:
    """The cases of a JSON-lines file; InputError names the line that is none."""
    try:
        with path.open("rb") as lines:
            return parse_cases(lines, str(path))
    except OSError as error:
        raise InputError(f"expected an eval set, a file of JSON lines: {error}") from error


def parse_cases(lines: Iterable[bytes], where: str) -> list[EvalCase]:
    """The cases of the lines; `where` names their origin in errors."""
    found: dict[str, EvalCase] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            case = parse_case(parse_row(line))
        except InputError as error:
            raise InputError(f"{where}, line {number}: {error}") from error
        if case.id in found:
            raise InputError(
                f"{where}, line {number}: expected an id that no other case has, got {case.id!r}"
            )
        found[case.id] = case
    if not found:
        raise InputError(f"{where}: expected at least one case, got none")
    return list(found.values())


SET_NAME = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:@(?P<release>[1-9]\d{0,8}))?")


def load_cases(wanted: str, dsn: str | None) -> tuple[str, list[EvalCase]]:
    """The set's name with its release, and its cases.

    `wanted` is a file if it ends in .jsonl or a file of that name exists. Otherwise it is a release
    in the store, the latest one unless it names another. InputError if there is neither.
    """
    path = Path(wanted)
    if path.suffix == ".jsonl" or path.is_file():
        return path.stem, read_cases(path)
    parse_set_name(wanted)
    # Imported here, because a gate that reads a file needs no database.
    from otel_rt4chart.core.settings import load
    from rt4chart_clustering.core.settings import ClusteringSettings
    from rt4chart_collector.store.engine.open_database import open_database
    from rt4chart_collector.store.schema.migrate import migrate

    with open_database(
        load(ClusteringSettings, {"dsn": dsn}).dsn, needs="rt4chart_issues"
    ) as client:
        migrate(client)
        return load_release(client, wanted)


def load_release(client: Client, wanted: str) -> tuple[str, list[EvalCase]]:
    """A release by NAME@RELEASE, or the latest one by NAME, and its cases."""
    from rt4chart_collector.store.issues.eval_sets import latest_release, released_cases

    name, number = parse_set_name(wanted)
    number = number or latest_release(client, name)
    if not number:
        raise InputError(
            f"expected a file or a released eval set, but {name!r} is no file and has no release: "
            "rt4chart evalset list shows the sets"
        )
    cases = [parse_case(json.loads(one.body)) for one in released_cases(client, name, number)]
    return f"{name}@{number}", cases


def parse_set_name(written: str) -> tuple[str, int]:
    """The name and the release of NAME or NAME@RELEASE; release 0 if none is given."""
    match = SET_NAME.fullmatch(written)
    if match is None:
        raise InputError(
            "expected the name of an eval set, made of letters, digits, '.', '_' and '-', "
            "optionally with @RELEASE; "
            f"got {written!r}"
        )
    return match["name"], int(match["release"] or 0)
