"""Reads what `rt4chart bench --json` printed, to compare two runs answer by answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otel_rt4chart.bench.paired import ComparedAnswer, score_answer
from otel_rt4chart.bench.records import RowKey, parse_record
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.model import AnswerRange


def read_saved_run(path: Path) -> tuple[str, dict[RowKey, ComparedAnswer]]:
    """The judge of the file's first run, and its answers by what identifies them."""
    if not path.is_file():
        raise InputError(f"{path}: expected the output of rt4chart bench --json, in a file")
    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected the output of rt4chart bench --json: {error}") from None
    try:
        run = values["runs"][0]
        return printable(str(run["judge"])), {
            RowKey(str(one["id"]), str(one["row"])): _scored(one) for one in run["answers"]
        }
    except (KeyError, IndexError, TypeError, ValueError, InputError) as error:
        raise InputError(
            f"{path}: expected the output of rt4chart bench --json with its answers: {error!r}"
        ) from None


def _scored(values: Mapping[str, Any]) -> ComparedAnswer:
    written = values["gold_spans"]
    gold = None if written is None else [AnswerRange(start, end) for start, end in written]
    record = parse_record(values)
    return score_answer(str(values["group"]), bool(values["hallucinated"]), gold, record)
