"""Labelled answers from a folder in RAGTruth's two-file layout, ours or RAGTruth's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Exchange, Passage

_PASSAGE = re.compile(r"(?im)^\s*passage\s+\d+\s*:")


def question_of(source_info: object) -> str:
    """The question of a QA source; the other tasks have none."""
    asked = source_info.get("question") if isinstance(source_info, dict) else None
    return asked if isinstance(asked, str) else ""


def passages_of(source_info: object) -> list[str] | None:
    """The texts a source holds; None where it is of no known form."""
    if isinstance(source_info, str):
        return [source_info]
    if not isinstance(source_info, dict):
        return None
    passages = source_info.get("passages")
    if isinstance(passages, str):
        return [part.strip() for part in _PASSAGE.split(passages) if part.strip()]
    if isinstance(passages, list):
        return [str(passage) for passage in passages]
    return ["\n".join(_statements(source_info))]


def _statements(record: object, path: str = "") -> Iterator[str]:
    """One line for each value of a record, under the names that lead to it; null is unknown."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield from _statements(value, f"{path} {_spaced(str(key))}".strip())
    elif isinstance(record, list):
        for value in record:
            yield from _statements(value, path)
    else:
        said = "unknown" if record is None else record
        if isinstance(record, bool):
            said = "yes" if record else "no"
        yield f"{path}: {said}" if path else str(said)


def _spaced(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key)


SOURCES, RESPONSES = "source_info.jsonl", "response.jsonl"
_KINDS = {
    "contradicted": "contradicted",
    "baseless": "baseless",
    "unspecified": "unspecified",
    "evident conflict": "contradicted",
    "subtle conflict": "contradicted",
    "evident baseless info": "baseless",
    "subtle baseless info": "baseless",
}


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Characters of the answer that a person marked: contradicted, baseless or unspecified."""

    range: AnswerRange
    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled answer; `label` is None where people did not tell contradicted from baseless.

    `has_spans` is False where an unfaithful answer was marked as a whole only.
    """

    id: str
    source_id: str
    task: str
    dataset: str
    group: str
    split: str
    exchange: Exchange
    is_hallucinated: bool
    label: AnswerLabel | None
    spans: tuple[GoldSpan, ...]

    @property
    def has_spans(self) -> bool:
        """True where the spans say all that is wrong with the answer, be it nothing."""
        return bool(self.spans) or not self.is_hallucinated


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object with the place it came from."""

    path: Path
    number: int
    value: Mapping[str, object]

    def error(self, message: str) -> InputError:
        """An error that names the file and the line."""
        return InputError(f"{self.path}, line {self.number}: {message}")

    def text(self, key: str, default: str | None = None) -> str:
        """A string or a number under a key, as a string."""
        found = self.value.get(key, default)
        if not isinstance(found, (str, int)) or isinstance(found, bool):
            raise self.error(f"{key!r} must be a text, {_shown(found)} came")
        return str(found)


def read_rows(folder: Path) -> tuple[Row, ...]:
    """All rows of a folder, in the file's order."""
    if not folder.is_dir():
        raise InputError(f"a folder with {SOURCES} and {RESPONSES} was expected: {folder}")
    sources = {line.text("source_id"): line for line in _lines(folder / SOURCES)}
    return tuple(_row(line, sources) for line in _lines(folder / RESPONSES))


def choose_split(rows: Sequence[Row], wanted: str | None) -> tuple[str, tuple[Row, ...]]:
    """The rows of a split and its name; unless one is wanted: dev, else test, else all."""
    known = {row.split for row in rows}
    name = wanted or next((split for split in ("dev", "test") if split in known), "all")
    chosen = tuple(row for row in rows if name == "all" or row.split == name)
    if not chosen:
        raise InputError(
            f"no row is of the split {name!r}; the rows have: {', '.join(sorted(known)) or 'none'}"
        )
    return name, chosen


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, written in enumerate(file, start=1):
                if written.strip():
                    yield Line(path, number, _object(path, number, written))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: UTF-8 was expected: {error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def _object(path: Path, number: int, written: str) -> Mapping[str, object]:
    try:
        value = json.loads(written)
    except ValueError as error:
        raise InputError(f"{path}, line {number}: JSON was expected: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}, line {number}: an object was expected, {_shown(value)} came")
    return value


def _row(line: Line, sources: Mapping[str, Line]) -> Row:
    source_id = line.text("source_id")
    if source_id not in sources:
        raise line.error(f"source {source_id!r} is not in {SOURCES}")
    source = sources[source_id]
    answer = line.text("response")
    spans = _spans(line, answer)
    is_hallucinated = bool(line.value.get("hallucinated", bool(spans)))
    return Row(
        line.text("id"),
        source_id,
        source.text("task_type", ""),
        line.text("dataset", "") or source.text("source", ""),
        line.text("group", "") or source_id,
        line.text("split", "all"),
        Exchange(_question(source), _passages(source), answer),
        is_hallucinated,
        _label(line, spans, is_hallucinated=is_hallucinated),
        spans,
    )


def _question(source: Line) -> str:
    asked = source.value.get("question")
    return asked if isinstance(asked, str) else question_of(source.value.get("source_info"))


def _passages(source: Line) -> tuple[Passage, ...]:
    texts = source.value.get("contexts")
    if texts is None and "source_info" in source.value:
        texts = passages_of(source.value["source_info"])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise source.error("'contexts' (a list of texts) or RAGTruth's 'source_info' was expected")
    return tuple(Passage(f"p{number}", text) for number, text in enumerate(texts, start=1))


def _spans(line: Line, answer: str) -> tuple[GoldSpan, ...]:
    labels = line.value.get("labels", [])
    if not isinstance(labels, list):
        raise line.error(f"'labels' must be a list, {_shown(labels)} came")
    return tuple(_span(line, one, len(answer)) for one in labels)


def _span(line: Line, one: object, length: int) -> GoldSpan:
    if not isinstance(one, dict):
        raise line.error(f"a label must be an object, {_shown(one)} came")
    start, end, kind = one.get("start"), one.get("end"), one.get("label_type", "unspecified")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= length:
        raise line.error(
            f"a label's 'start' and 'end' must lie in the {length} characters of the response,"
            f" {_shown(start)} and {_shown(end)} came"
        )
    if str(kind).lower() not in _KINDS:
        raise line.error(f"'label_type' must be one of {', '.join(_KINDS)}; {_shown(kind)} came")
    return GoldSpan(AnswerRange(start, end), _KINDS[str(kind).lower()])


def _label(line: Line, spans: Sequence[GoldSpan], *, is_hallucinated: bool) -> AnswerLabel | None:
    """Told by the row, else joined from its spans: one contradicted span decides."""
    told = line.value.get("label")
    if isinstance(told, str):
        try:
            return AnswerLabel(told)
        except ValueError:
            raise line.error(
                f"'label' must be entailed, contradicted or baseless; {_shown(told)} came"
            ) from None
    if not is_hallucinated:
        return AnswerLabel.ENTAILED
    kinds = {span.kind for span in spans}
    if "contradicted" in kinds:
        return AnswerLabel.CONTRADICTED
    return AnswerLabel.BASELESS if kinds == {"baseless"} else None


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)[:80]
