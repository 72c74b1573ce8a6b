"""The bundled verdicts: reports of the embedded judge on the demo's answers, by content."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.core.model import Exchange, Report

VERDICTS = Path(__file__).parent / "data/verdicts.jsonl.gz"
Reports = Mapping[str, Report]
Progress = Callable[[int, int], None]


def exchange_key(exchange: Exchange) -> str:
    """A digest of what is verified: an edited answer has no bundled verdict."""
    texts = [exchange.question, exchange.answer]
    texts += [text for one in exchange.passages for text in (one.id, one.text)]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def verify_all(
    exchanges: Sequence[Exchange],
    build: Callable[[], Verifier],
    known: Reports,
    progress: Progress,
) -> dict[str, Report]:
    """The report on each exchange by its key: the known one, else the verifier's.

    The verifier is built only where a report is missing: to open the models takes time.
    """
    by_key = {exchange_key(exchange): exchange for exchange in exchanges}
    reports = {key: known[key] for key in by_key if key in known}
    if missing := by_key.keys() - known.keys():
        verifier = build()
        for key in missing:
            reports[key] = verifier.verify(by_key[key])
            progress(len(reports), len(by_key))
    return reports


def read_verdicts(judge: str, path: Path = VERDICTS) -> dict[str, Report]:
    """The bundled reports by key; none where they are another judge's, or there are none."""
    if not path.exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if json.loads(next(lines))["judge"] != judge:
            return {}
        rows = [json.loads(line) for line in lines]
    return {row["key"]: _value(Report, row["report"] | {"judge": judge}) for row in rows}


def write_verdicts(judge: str, reports: Reports, path: Path = VERDICTS) -> None:
    """Write the reports; the same ones give the same file."""
    rows: list[Mapping[str, Any]] = [{"judge": judge}]
    rows += [{"key": key, "report": _written(reports[key])} for key in sorted(reports)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _written(report: Report) -> dict[str, Any]:
    """The fields that are not the default ones, and not the same in every report."""
    return {name: value for name, value in asdict(report).items() if name not in ("judge", "plan")}


def _value(kind: Any, written: Any) -> Any:  # noqa: ANN401 - any type of a report's fields
    """What JSON was written for, by the annotations of the dataclasses."""
    if written is None or kind in (str, int, float, bool) or get_origin(kind) is Literal:
        return written
    if get_origin(kind) is UnionType:
        return _value(next(one for one in get_args(kind) if one is not NoneType), written)
    if get_origin(kind) is tuple:
        return tuple(_value(get_args(kind)[0], one) for one in written)
    if is_dataclass(kind) and isinstance(kind, type):
        types = _types(kind)
        return kind(
            **{one.name: _value(types[one.name], written[one.name])
               for one in fields(kind) if one.name in written}
        )  # fmt: skip
    return kind(written) if issubclass(kind, Enum) else kind(*written)


@cache
def _types(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)
