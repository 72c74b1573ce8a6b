"""Reads labelled answers from a folder in RAGTruth's two-file layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.bench.gold_evidence import evidence_quotes
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.json_rows import parse_row, read_lines
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Exchange, Passage

_PASSAGE = re.compile(r"(?im)^\s*passage\s+\d+\s*:")


def question_of(source_info: object) -> str:
    """The question of a QA source; the other tasks have none."""
    question = source_info.get("question") if isinstance(source_info, dict) else None
    return question if isinstance(question, str) else ""


def passages_of(source_info: object) -> list[str] | None:
    """The texts of a source; None if its form is unknown."""
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
    """One line for each value of a record, with the path of keys to it; null becomes `unknown`."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield from _statements(value, f"{path} {_spaced_name(str(key))}".strip())
    elif isinstance(record, list):
        for value in record:
            yield from _statements(value, path)
    else:
        written = "unknown" if record is None else record
        if isinstance(record, bool):
            written = "yes" if record else "no"
        yield f"{path}: {written}" if path else str(written)


def _spaced_name(key: str) -> str:
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
    """A range of the answer that an annotator marked as contradicted, baseless or unspecified.

    `type` is the annotator's own word, such as "evident conflict". `quotes` are the texts of the
    passages that refute it, as far as the annotator gives any.
    """

    range: AnswerRange
    kind: str
    type: str = ""
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One labelled answer; `label` is None if annotators gave no kind of unfaithfulness.

    `has_spans` is False for an unfaithful answer that was only labelled as a whole.
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
        """True if the spans mark everything that is wrong with the answer, possibly nothing."""
        return bool(self.spans) or not self.is_hallucinated


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One JSON object with its file and line."""

    path: Path
    number: int
    value: Mapping[str, object]

    def error(self, message: str) -> InputError:
        """An error that names the file and the line."""
        return InputError(f"{self.path}, line {self.number}: {message}")

    def text(self, key: str, default: str | None = None) -> str:
        """A string or a number under a key, as a string."""
        value = self.value.get(key, default)
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise self.error(f"{key!r}: expected a string, got {_preview(value)}")
        return str(value)


def read_rows(folder: Path) -> tuple[LabelledAnswer, ...]:
    """All rows of a folder, in the file's order."""
    if not folder.is_dir():
        raise InputError(f"expected a folder with {SOURCES} and {RESPONSES}, got {folder}")
    sources = {line.text("source_id"): line for line in _read_lines(folder / SOURCES)}
    return tuple(_labelled_answer(line, sources) for line in _read_lines(folder / RESPONSES))


def choose_split(
    rows: Sequence[LabelledAnswer], wanted: str | None
) -> tuple[str, tuple[LabelledAnswer, ...]]:
    """The name and the rows of a split; by default dev, else test, else all."""
    known = {row.split for row in rows}
    name = wanted or next((split for split in ("dev", "test") if split in known), "all")
    chosen = tuple(row for row in rows if name == "all" or row.split == name)
    if not chosen:
        raise InputError(
            f"--split: expected one of {', '.join(sorted(known)) or 'none'}, got {name!r}"
        )
    return name, chosen


def _read_lines(path: Path) -> Iterator[JsonLine]:
    try:
        with path.open("rb") as file:
            for number, written in enumerate(read_lines(file), start=1):
                if written.strip():
                    yield JsonLine(path, number, _parse_object(path, number, written))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def _parse_object(path: Path, number: int, written: bytes) -> Mapping[str, object]:
    try:
        return parse_row(written)
    except InputError as error:
        raise InputError(f"{path}, line {number}: {error}") from error


def _labelled_answer(line: JsonLine, sources: Mapping[str, JsonLine]) -> LabelledAnswer:
    source_id = line.text("source_id")
    if source_id not in sources:
        raise line.error(f"source {source_id!r} is not in {SOURCES}")
    source = sources[source_id]
    answer = line.text("response")
    spans = _gold_spans(line, answer)
    is_hallucinated = bool(line.value.get("hallucinated", bool(spans)))
    return LabelledAnswer(
        line.text("id"),
        source_id,
        printable(source.text("task_type", "")),
        printable(line.text("dataset", "") or source.text("source", "")),
        line.text("group", "") or source_id,
        line.text("split", "all"),
        Exchange(_question(source), _passages(source), answer),
        is_hallucinated,
        _gold_label(line, spans, is_hallucinated=is_hallucinated),
        spans,
    )


def _question(source: JsonLine) -> str:
    question = source.value.get("question")
    return question if isinstance(question, str) else question_of(source.value.get("source_info"))


def _passages(source: JsonLine) -> tuple[Passage, ...]:
    texts = source.value.get("contexts")
    if texts is None and "source_info" in source.value:
        texts = passages_of(source.value["source_info"])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise source.error("expected 'contexts' (a list of strings) or RAGTruth's 'source_info'")
    return tuple(Passage(f"p{number}", text) for number, text in enumerate(texts, start=1))


def _gold_spans(line: JsonLine, answer: str) -> tuple[GoldSpan, ...]:
    labels = line.value.get("labels", [])
    if not isinstance(labels, list):
        raise line.error(f"'labels': expected a list, got {_preview(labels)}")
    return tuple(_gold_span(line, label, len(answer)) for label in labels)


def _gold_span(line: JsonLine, label: object, length: int) -> GoldSpan:
    if not isinstance(label, dict):
        raise line.error(f"'labels': expected objects, got {_preview(label)}")
    start, end, kind = label.get("start"), label.get("end"), label.get("label_type", "unspecified")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= length:
        raise line.error(
            f"a label's 'start' and 'end': expected positions in the {length} characters of the"
            f" response, got {_preview(start)} and {_preview(end)}"
        )
    name = str(kind).lower()
    if name not in _KINDS:
        raise line.error(f"'label_type': expected one of {', '.join(_KINDS)}, got {_preview(kind)}")
    quotes = evidence_quotes(label) if _KINDS[name] == "contradicted" else ()
    if quotes is None:
        raise line.error("a label's 'evidence': expected a quotation of the passages, or a list")
    return GoldSpan(AnswerRange(start, end), _KINDS[name], name, quotes)


def _gold_label(
    line: JsonLine, spans: Sequence[GoldSpan], *, is_hallucinated: bool
) -> AnswerLabel | None:
    """The label of the row, else derived from its spans: one contradicted span decides."""
    written = line.value.get("label")
    if isinstance(written, str):
        try:
            return AnswerLabel(written)
        except ValueError:
            raise line.error(
                f"'label': expected entailed, contradicted or baseless, got {_preview(written)}"
            ) from None
    if not is_hallucinated:
        return AnswerLabel.ENTAILED
    kinds = {span.kind for span in spans}
    if "contradicted" in kinds:
        return AnswerLabel.CONTRADICTED
    return AnswerLabel.BASELESS if kinds == {"baseless"} else None


def _preview(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)[:80]
