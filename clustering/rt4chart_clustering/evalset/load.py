"""An eval set by what a person calls it: a file, or a release in the store."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.evalset.case import EvalCase, case_from
from rt4chart_clustering.evalset.files import read_cases

if TYPE_CHECKING:
    from rt4chart_collector.store.engine.connect import Client

NAME = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:@(?P<release>[1-9]\d{0,8}))?")


def load_cases(wanted: str, dsn: str | None) -> tuple[str, list[EvalCase]]:
    """The set's name with its release, and its cases.

    A file where there is one of that name, or where it is written as one; else a release in the
    store, the latest unless one is named. InputError where there is neither.
    """
    path = Path(wanted)
    if path.suffix == ".jsonl" or path.is_file():
        return path.stem, read_cases(path)
    name_from(wanted)
    # A gate over a file must not pay for the database.
    from otel_rt4chart.core.settings import load
    from rt4chart_clustering.core.settings import ClusteringSettings
    from rt4chart_collector.store.engine.connect import connect
    from rt4chart_collector.store.schema.migrate import migrate

    with connect(load(ClusteringSettings, {"dsn": dsn}).dsn) as client:
        migrate(client)
        return released(client, wanted)


def released(client: Client, wanted: str) -> tuple[str, list[EvalCase]]:
    """A release by NAME@RELEASE, or the latest by NAME, and its cases."""
    from rt4chart_collector.store.issues.eval_sets import latest_release, released_cases

    name, number = name_from(wanted)
    number = number or latest_release(client, name)
    if not number:
        raise InputError(
            "expected an eval set, a file or a released set of the store; there is no release of "
            f"{name!r}: rt4chart evalset list"
        )
    cases = [case_from(json.loads(one.body)) for one in released_cases(client, name, number)]
    return f"{name}@{number}", cases


def name_from(written: str) -> tuple[str, int]:
    """NAME or NAME@RELEASE; 0 where no release is named."""
    match = NAME.fullmatch(written)
    if match is None:
        raise InputError(
            "expected a set's name, letters, digits, '.', '_' and '-', perhaps with @RELEASE; "
            f"got {written!r}"
        )
    return match["name"], int(match["release"] or 0)
