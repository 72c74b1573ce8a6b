"""Reads labels from files: our own, and the exports of other tools.

docs/operate/labels.md says which fields of each format are read. Pure: a text in, rows out.
"""

from __future__ import annotations

import csv
import io
import json
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.strict_json import strict_json
from otel_rt4chart.core.text import encodable
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, RaterKind

OURS, LANGFUSE, PHOENIX, ARGILLA, LABEL_STUDIO = FORMATS = (
    "rt4chart",
    "langfuse",
    "phoenix",
    "argilla",
    "label-studio",
)
# Words of other tools that have one meaning; for any other word there is --map.
MEANINGS = {
    **{label.value: label for label in GivenLabel},
    "supported": GivenLabel.ENTAILED,
    "faithful": GivenLabel.ENTAILED,
    "unsupported": GivenLabel.BASELESS,
    "cannot tell": GivenLabel.CANNOT_TELL,
}
NO_CLAIM, NO_OBJECT = -1, "the line is no JSON object"
# No label on an answer of a model is older.
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """A label of a file; `problem` says why it cannot be read, "" where it can.

    `claim` is -1 where the file names no claim of the answer, `trace_id` and `verifier` are ""
    where it does not say. `draw` is that of our own files.
    """

    trace_id: str = ""
    span_id: str = ""
    claim: int = NO_CLAIM
    label: GivenLabel = GivenLabel.CANNOT_TELL
    rater: str = ""
    kind: RaterKind = RaterKind.PERSON
    status: str = ""
    note: str = ""
    at_ns: int = 0
    verifier: str = ""
    text_hash: str = ""
    draw: str = ""
    is_blind: bool = False
    problem: str = ""


class LabelProblemError(Exception):
    """Why a row cannot be read; the text is counted and shown, and quotes little of it."""


def parse_label_map(text: str) -> tuple[str, GivenLabel]:
    """A word of another tool and the label that it means, from `THEIRS=OURS`."""
    theirs, _, ours = text.rpartition("=")
    if not theirs or ours not in tuple(GivenLabel):
        raise ArgumentTypeError(
            f"expected WORD=LABEL with a label of {', '.join(GivenLabel)}, got {text!r}"
        )
    return theirs.strip().lower(), GivenLabel(ours)


def read_labels_text(
    text: str, *, form: str | None = None, meanings: Mapping[str, GivenLabel] | None = None
) -> tuple[str, list[LabelRecord]]:
    """The format, and a record for each label of the text, JSON, JSONL or CSV.

    Raises InputError for a text that is none of them, and for a format that is not recognized.
    """
    rows = list(_rows(text))
    if not rows:
        raise InputError("expected labels, got an empty file")
    objects = [row for row in rows if isinstance(row, Mapping)]
    found = form or next((name for row in objects if (name := _format_of(row))), None)
    if found is None:
        raise InputError(
            f"expected the fields of {', '.join(FORMATS)}, got "
            f"{', '.join(list(objects[0])[:8]) if objects else 'no objects'}; name it with --format"
        )
    known = {**MEANINGS, **(meanings or {})}
    return found, [record for row in rows for record in _records(row, found, known)]


def _records(row: object, form: str, meanings: Mapping[str, GivenLabel]) -> Iterator[LabelRecord]:
    if not isinstance(row, Mapping):
        yield row if isinstance(row, LabelRecord) else LabelRecord(problem=NO_OBJECT)
        return
    try:
        yield from READERS[form](row, meanings)
    except LabelProblemError as error:
        yield LabelRecord(problem=str(error))


def _rows(text: str) -> Iterator[object]:
    """Objects; in place of a row that cannot be read, a record with the problem."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("["):
        try:
            yield from cast(list[object], strict_json(stripped))
        except (ValueError, RecursionError) as error:
            raise InputError(f"expected a JSON array: {error}") from error
    elif stripped.startswith("{"):
        for line in stripped.splitlines():
            if line.strip():
                yield _json(line)
    else:
        yield from _csv_rows(stripped)


def _csv_rows(text: str) -> Iterator[object]:
    """Read strictly: a broken quote would take the rows behind it into its field."""
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InputError(f"expected CSV with a header: {error}") from error
    if twice := [name for name, number in Counter(header).items() if number > 1]:
        raise InputError(f"expected CSV with each column once, got {twice[0][:40]!r} twice")
    while True:
        first = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            lines = f"lines {first} to {reader.line_num}"
            yield LabelRecord(problem=f"{lines} are no row of CSV: {error}")
            continue
        if values is None:
            return
        if len(values) > len(header):
            yield LabelRecord(problem=f"line {first} has more fields than the header")
        elif values:
            yield dict(zip(header, values, strict=False))


def _json(line: str) -> object:
    try:
        return strict_json(line)
    except (json.JSONDecodeError, RecursionError):
        return LabelRecord(problem=NO_OBJECT)
    except ValueError as error:
        return LabelRecord(problem=str(error))


def _format_of(row: Row) -> str | None:
    keys = row.keys()
    marks = (
        (LABEL_STUDIO, {"annotations"}),
        (ARGILLA, {"responses"}),
        (PHOENIX, {"annotator_kind"}),
        (LANGFUSE, {"stringValue"}),
        (LANGFUSE, {"string_value"}),
        (LANGFUSE, {"observationId", "value"}),
        (OURS, {"id", "label"}),
        (OURS, {"trace_id", "span_id", "claim", "label"}),
    )
    return next((name for name, wanted in marks if wanted <= keys), None)


def _ours(row: Row, meanings: Mapping[str, GivenLabel]) -> Iterator[LabelRecord]:
    """Our own JSONL or CSV: what `rt4chart label --export` writes."""
    found = replace(
        _place(row),
        rater=_name(row.get("rater")),
        kind=_kind(_text(row, "kind")),
        status=_text(row, "status"),
        note=_text(row, "note"),
        at_ns=_time_ns(_text(row, "at")),
        verifier=_text(row, "verifier"),
        text_hash=_text(row, "claim_hash"),
        draw=_text(row, "draw"),
        is_blind=_text(row, "blind").lower() in ("true", "1"),
    )
    yield _with_label(found, _text(row, "label"), meanings)


def _langfuse(row: Row, meanings: Mapping[str, GivenLabel]) -> Iterator[LabelRecord]:
    """A score, with the names of the API or of the export to blob storage."""
    metadata = _object(row.get("metadata"))
    value = _text(row, "stringValue", "string_value") or _text(row, "value")
    trace, span = _text(row, "traceId", "trace_id"), _text(row, "observationId", "observation_id")
    found = replace(
        _place(metadata, trace, span),
        rater=_name(row.get("authorUserId") or row.get("author_user_id")),
        kind=RaterKind.JUDGE if _text(row, "source").upper() == "EVAL" else RaterKind.PERSON,
        note=_text(row, "comment"),
        at_ns=_time_ns(_text(row, "timestamp", "createdAt")),
    )
    yield _with_label(found, value, meanings)


def _phoenix(row: Row, meanings: Mapping[str, GivenLabel]) -> Iterator[LabelRecord]:
    """A span annotation of the API, or a row of the client's data frame."""
    metadata, result = _object(row.get("metadata")), _object(row.get("result"))
    is_person = _text(row, "annotator_kind").upper() == "HUMAN"
    found = replace(
        _place(metadata, "", _text(row, "span_id")),
        rater=_name(row.get("user_id") or row.get("identifier")),
        kind=RaterKind.PERSON if is_person else RaterKind.JUDGE,
        note=_text(result, "explanation") or _text(row, "explanation", "result.explanation"),
        at_ns=_time_ns(_text(row, "updated_at", "created_at")),
    )
    yield _with_label(
        found, _text(result, "label") or _text(row, "label", "result.label"), meanings
    )


def _argilla(row: Row, meanings: Mapping[str, GivenLabel]) -> Iterator[LabelRecord]:
    """A record of `Dataset.records.to_list()`: each user's answer to the question `label`."""
    metadata, responses = _object(row.get("metadata")), _object(row.get("responses"))
    place = _place({**metadata, "id": _text(row, "external_id") or _text(row, "id")})
    answers = responses.get("label")
    if answers is None and len(responses) == 1:
        (answers,) = responses.values()
    if not isinstance(answers, list) or not answers:
        yield LabelRecord(problem="no response to the question `label`")
        return
    for answer in map(_object, answers):
        try:
            yield _argilla_answer(place, answer, meanings)
        except LabelProblemError as error:
            yield LabelRecord(problem=str(error))


def _argilla_answer(
    place: LabelRecord, answer: Row, meanings: Mapping[str, GivenLabel]
) -> LabelRecord:
    if (status := _text(answer, "status")) in ("draft", "discarded"):
        raise LabelProblemError(f"the response is a {status}")
    found = replace(place, rater=_name(answer.get("user_id")))
    return _with_label(found, _text(answer, "value"), meanings)


def _label_studio(row: Row, meanings: Mapping[str, GivenLabel]) -> Iterator[LabelRecord]:
    """A task of the JSON export: the first choice of each annotation."""
    place = _place(_object(row.get("data")))
    annotations = row.get("annotations")
    if not isinstance(annotations, list) or not annotations:
        yield LabelRecord(problem="the task has no annotation")
        return
    for annotation in map(_object, annotations):
        try:
            yield _label_studio_annotation(place, annotation, meanings)
        except LabelProblemError as error:
            yield LabelRecord(problem=str(error))


def _label_studio_annotation(
    place: LabelRecord, annotation: Row, meanings: Mapping[str, GivenLabel]
) -> LabelRecord:
    if annotation.get("was_cancelled"):
        raise LabelProblemError("the annotation was cancelled")
    by = annotation.get("completed_by")
    # People have numbers there.
    by = by.get("email") if isinstance(by, Mapping) else str(by) if type(by) is int else by
    found = replace(
        place,
        rater=_name(by),
        at_ns=_time_ns(_text(annotation, "updated_at", "created_at")),
    )
    return _with_label(found, _first_choice(annotation.get("result")), meanings)


def _first_choice(result: object) -> str:
    for item in map(_object, result if isinstance(result, list) else ()):
        choices = _object(item.get("value")).get("choices")
        if item.get("type") == "choices" and isinstance(choices, list) and choices:
            return str(choices[0])
    return ""


Reader = Callable[[Row, Mapping[str, GivenLabel]], Iterable[LabelRecord]]
READERS: Mapping[str, Reader] = {
    OURS: _ours,
    LANGFUSE: _langfuse,
    PHOENIX: _phoenix,
    ARGILLA: _argilla,
    LABEL_STUDIO: _label_studio,
}


def _place(row: Row, trace: str = "", span: str = "") -> LabelRecord:
    """Which claim a row is about: from `id` (TRACE/SPAN/NUMBER), or from fields of its own."""
    parts = (_text(row, "claim_id") or _text(row, "id")).split("/")
    if len(parts) == 3 and parts[2].isdecimal() and len(parts[2]) < 6:
        return LabelRecord(parts[0], parts[1], int(parts[2]))
    number = _text(row, "claim")
    claim = int(number) if number.isdecimal() and len(number) < 6 else NO_CLAIM
    return LabelRecord(_text(row, "trace_id") or trace, _text(row, "span_id") or span, claim)


def _with_label(record: LabelRecord, word: str, meanings: Mapping[str, GivenLabel]) -> LabelRecord:
    if not record.span_id:
        return LabelRecord(problem="no id of a claim: expected TRACE/SPAN/NUMBER, or a span id")
    label = meanings.get(word.strip().lower())
    if label is not None:
        return replace(record, label=label)
    known = word.strip()[:40]
    unknown = f"unknown label {known!r}: say what it means with --map"
    return LabelRecord(problem=unknown if known else "no label")


def _text(row: Row, *names: str) -> str:
    """The first of these fields that has a value, as text."""
    for name in names:
        value = row.get(name)
        if value is not None and value != "":
            text = value.strip() if isinstance(value, str) else json.dumps(value, default=str)
            return encodable(text)
    return ""


def _name(value: object) -> str:
    """Who gave a label; "" where the row does not say."""
    if value is None or isinstance(value, str):
        return _text({"name": value}, "name")
    raise LabelProblemError("the rater is no text")


def _kind(word: str) -> RaterKind:
    """A person unless the row says otherwise."""
    if (kind := word.lower() or RaterKind.PERSON) in tuple(RaterKind):
        return RaterKind(kind)
    raise LabelProblemError(f"unknown kind {word[:40]!r}: expected person or judge")


def _object(value: object) -> Row:
    """A JSON object, or one that is written as text; empty for anything else."""
    if isinstance(value, str) and value.startswith("{"):
        value = _json(value)
    return value if isinstance(value, Mapping) else {}


def _time_ns(text: str) -> int:
    """A time in ISO 8601, in UTC where it names no zone; 0 for none."""
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise LabelProblemError(f"unknown time {text[:40]!r}: expected ISO 8601") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment < EARLIEST:
        raise LabelProblemError(f"the time {text[:40]!r} is before {EARLIEST:%Y}")
    return int(moment.timestamp() * 1000) * 10**6
