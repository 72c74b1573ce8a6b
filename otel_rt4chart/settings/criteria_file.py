"""RT4CHART_CRITERIA: the file of custom criteria, read and checked whole at the start."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_rt4chart.core.settings import Environment, load, setting
from otel_rt4chart.core.settings_parsers import InvalidPartError, Parser
from otel_rt4chart.core.strict_json import strict_json
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.criteria.json_schema import check_schema
from otel_rt4chart.verify.criteria.model import (
    KINDS,
    KNOWN,
    AnswerTest,
    CitationCheck,
    Criteria,
    Criterion,
    JudgedCheck,
    RegexCheck,
    SchemaCheck,
)
from otel_rt4chart.verify.criteria.patterns import compiled

MAX_FILE_CHARACTERS = 256 * 1024
MAX_CRITERIA = 50
MAX_TEXT = 4_000
MAX_CITATIONS = 100
# Names are in addresses, metrics and columns.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
EXPECTED = "a file of criteria, FILE.toml or FILE.json"
SHARED = ("name", "kind", "routes", "rate", "when_question")


def read_criteria(written: str) -> Criteria:
    """The criteria of the file of that name; InvalidPartError says what is wrong with it."""
    path = Path(written).expanduser()
    text = _read(path)
    if path.suffix.lower() == ".json":
        parse: Callable[[str], object] = strict_json
    elif path.suffix.lower() == ".toml":
        parse = tomllib.loads
    else:
        raise InvalidPartError(written, EXPECTED, "name the file so")
    try:
        value = parse(text)
    except (ValueError, RecursionError) as error:
        problem = f"{path.suffix[1:].upper()} in it, got an error: {error}"
        raise InvalidPartError(written, problem, "correct that line") from None
    if not isinstance(value, Mapping) or set(value) != {"criteria"}:
        got = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        expected = f"only the list criteria in it, got {one_line(got, 60) or 'nothing'}"
        raise InvalidPartError(written, expected, "write [[criteria]] before each criterion")
    items = value["criteria"]
    if not isinstance(items, list) or not 0 < len(items) <= MAX_CRITERIA:
        expected = f"a list of 1 to {MAX_CRITERIA} criteria"
        raise InvalidPartError(written, expected, "or unset the variable for none")
    found = tuple(_Reader(path, number, item).criterion() for number, item in enumerate(items, 1))
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidPartError(written, f"each name once, got {twice} twice", "rename one of them")
    return Criteria(found)


def _read(path: Path) -> str:
    try:
        # A pipe or a device could block the reader for ever.
        if not path.is_file():
            raise InvalidPartError(str(path), EXPECTED, "there is no file of that name")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidPartError(str(path), EXPECTED, f"it cannot be read: {reason}") from None
    if len(text) > MAX_FILE_CHARACTERS:
        raise InvalidPartError(str(path), "a file of at most 256 KiB", "shorten it")
    return text


class _Reader:
    """Reads one criterion; every error names it and the key."""

    def __init__(self, path: Path, number: int, item: object) -> None:
        self._path = path
        self._where = f"criterion {number}"
        self._item: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
        if not self._item:
            raise self._error("a table with a name", "write name = and the other keys")

    def criterion(self) -> Criterion:
        name = self._text("name", limit=60)
        if NAME.fullmatch(name) is None:
            expected = "a name of letters, digits, _, - and . that begins with a letter"
            raise self._error(f"{expected}, got {name!r}", "rename it")
        self._where = name
        check, own = self._check(name)
        if unknown := [key for key in self._item if key not in (*SHARED, *own)]:
            known = ", ".join((*SHARED, *own))
            raise self._error(
                f"the keys {known}, got {str(unknown[0])[:40]!r}", "remove or rename it"
            )
        return Criterion(
            name,
            check,
            routes=self._routes(),
            rate=self._rate(),
            when_question=self._pattern("when_question"),
        )

    def _check(self, name: str) -> tuple[AnswerTest, tuple[str, ...]]:
        """The check, and the keys that its kind has of its own."""
        kind = self._text("kind", needed=False)
        if not kind and name in KNOWN:
            return KNOWN[name], ()
        if kind == JudgedCheck.kind:
            own = ("instruction", "applies_when", "passages")
            reads = self._item.get("passages", True)
            if not isinstance(reads, bool):
                raise self._error("passages to be true or false", "false: without the passages")
            applies = self._text("applies_when", needed=False)
            return JudgedCheck(self._text("instruction"), applies, reads), own
        if kind == RegexCheck.kind:
            must, must_not = self._pattern("must_match"), self._pattern("must_not_match")
            if not must and not must_not:
                raise self._error("must_match or must_not_match", "add one of them")
            return RegexCheck(must, must_not), ("must_match", "must_not_match")
        if kind == SchemaCheck.kind:
            return SchemaCheck(self._schema()), ("schema",)
        if kind == CitationCheck.kind:
            return CitationCheck(self._least()), ("least",)
        known = f" or leave kind out of {', '.join(KNOWN)}"
        got = f"got {kind[:40]!r}" if kind else "got none"
        raise self._error(f"kind to be one of {', '.join(KINDS)}, {got}", f"choose one,{known}")

    def _text(self, key: str, *, needed: bool = True, limit: int = MAX_TEXT) -> str:
        value = self._item.get(key, "")
        if not isinstance(value, str) or len(value) > limit or (needed and not value.strip()):
            got = f"{len(value):,} characters" if isinstance(value, str) else type(value).__name__
            raise self._error(
                f"{key} to be text of 1 to {limit:,} characters, got {got}", "write it"
            )
        return value.strip()

    def _pattern(self, key: str) -> str:
        value = self._item.get(key, "")
        if value == "" and key not in self._item:
            return ""
        try:
            if not isinstance(value, str) or not value:
                raise ValueError("it is no text")
            compiled(value)
        except ValueError as error:
            advice = f"correct it: {error}"
            raise self._error(f"{key} to be a regular expression", advice) from None
        return value

    def _routes(self) -> tuple[str, ...]:
        value = self._item.get("routes", [])
        is_list = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        if not is_list or (not value and "routes" in self._item):
            raise self._error(
                'routes to be a list such as ["support/*"]', "or leave it out for all"
            )
        return tuple(value)

    def _rate(self) -> float:
        value = self._item.get("rate", 1.0)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value <= 1:
            advice = "write 0.1 for a tenth of the verified answers; to stop it, remove it"
            raise self._error(f"rate to be above 0 and at most 1, got {value!r:.40}", advice)
        return float(value)

    def _least(self) -> int:
        value = self._item.get("least", 1)
        if type(value) is not int or not 1 <= value <= MAX_CITATIONS:
            raise self._error(
                f"least to be an integer from 1 to {MAX_CITATIONS}", "or leave it out"
            )
        return int(value)

    def _schema(self) -> str:
        """The schema as JSON text: that of the key, or of the file that it names."""
        value = self._item.get("schema")
        try:
            if isinstance(value, str):
                value = strict_json(_read(self._path.parent / Path(value).expanduser()))
            check_schema(value)
            return json.dumps(value, sort_keys=True)
        except InvalidPartError as error:
            raise self._error("schema to name a file", str(error)) from None
        except (ValueError, TypeError, RecursionError) as error:
            advice = f"correct it: {error}"
            raise self._error("schema to be a JSON Schema, or its file", advice) from None

    def _error(self, expected: str, advice: str) -> InvalidPartError:
        # The messages of parsers have several lines.
        told = " ".join(advice.split())
        return InvalidPartError(f"{self._path}: {self._where}", expected, told)


def criteria_setting() -> Criteria:
    """The setting RT4CHART_CRITERIA, of the service and of commands that verify."""
    return setting(
        Criteria(),
        "further judgements of a verified answer, by rules or by a model at the endpoint",
        Parser(EXPECTED, read_criteria, lambda value: isinstance(value, Criteria)),
    )


@dataclass(frozen=True, slots=True)
class _ServiceCriteria:
    """The setting of the service that commands without a service also read."""

    criteria: Criteria = criteria_setting()


def chosen_criteria(environ: Environment | None = None) -> Criteria:
    """The criteria of RT4CHART_CRITERIA; SettingsError says what is wrong with the file."""
    return load(_ServiceCriteria, environ=environ).criteria
