"""A file of verdicts that a run writes answer by answer, and that continues one that broke off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.records import (
    AnswerRecord,
    RowKey,
    parse_record,
    record_values,
    row_key,
)
from otel_rt4chart.core.errors import InputError

RunKey = str
_BEGINS = '{"run": "'


class ResultsFile:
    """Verdicts by run and row; each is on disk before the next answer is verified."""

    def __init__(self, path: Path) -> None:
        """Read what is there; InputError for a file of another kind."""
        self._path = path
        self._known: dict[RunKey, dict[RowKey, AnswerRecord]] = {}
        self._has_torn_end = False
        for run, key, record in self._read():
            self._known.setdefault(run, {})[key] = record
        try:
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(f"--resume: {path} cannot be written: {error.strerror}") from error

    def __enter__(self) -> Self:
        """The file itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self._file.close()

    def known(self, run: RunKey) -> dict[RowKey, AnswerRecord]:
        """The verdicts of a run that are there already."""
        return self._known.get(run, {})

    def keep(self, run: RunKey, row: LabelledAnswer, record: AnswerRecord) -> None:
        """Write a verdict."""
        key = row_key(row)
        line = {"run": run, "id": key.id, "row": key.digest, "record": record_values(record)}
        self._file.write("\n" * self._has_torn_end + json.dumps(line) + "\n")
        self._has_torn_end = False
        self._file.flush()

    def _read(self) -> Iterator[tuple[RunKey, RowKey, AnswerRecord]]:
        if self._path.exists() and not self._path.is_file():
            raise InputError(f"--resume: expected a file of an earlier run, got {self._path}")
        try:
            written = self._path.read_text("utf-8") if self._path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--resume: {self._path} cannot be read: {error}") from error
        lines = written.split("\n")
        self._has_torn_end = bool(lines[-1])
        for number, line in enumerate(lines, start=1):
            # A run that is killed while it writes leaves a part of a line, also amid the others
            # once it has been continued; that answer is verified again.
            if (value := _parsed(line)) is not None:
                yield self._entry(number, value)
            elif line.strip() and not line.startswith(_BEGINS[: len(line)]):
                raise InputError(
                    f"--resume: {self._path}, line {number}: expected a file of an earlier run"
                )

    def _entry(self, number: int, value: dict[str, Any]) -> tuple[RunKey, RowKey, AnswerRecord]:
        try:
            key = RowKey(str(value["id"]), str(value["row"]))
            return str(value["run"]), key, parse_record(value["record"])
        except (KeyError, InputError) as error:
            raise InputError(
                f"--resume: {self._path}, line {number}: expected a line of an earlier run: {error}"
            ) from None


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
