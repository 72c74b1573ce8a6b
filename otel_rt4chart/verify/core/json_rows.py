"""The JSON rows of `rt4chart verify`: exchanges in, reports out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, BinaryIO

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.strict_json import strict_json
from otel_rt4chart.verify.core.model import (
    Advice,
    Claim,
    Evidence,
    Exchange,
    Finding,
    Passage,
    Report,
    Usage,
)
from otel_rt4chart.verify.core.revision import revised

# Each field's own name, then what RAGAS, Phoenix and Langfuse call it.
NAMES = {
    "question": ("question", "user_input", "input", "query"),
    "contexts": ("contexts", "passages", "retrieved_contexts", "documents"),
    "answer": ("answer", "response", "output"),
}
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


@dataclass(frozen=True, slots=True)
class InputRow:
    """One row of input; `id` and `route` are None where the row has none."""

    exchange: Exchange
    id: object = None
    route: object = None


# The longest line that is read: a row with a whole book of passages has a few megabytes.
MAX_LINE_BYTES = 64 * 1024 * 1024


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; InputError for a longer one than `MAX_LINE_BYTES`, which never fits."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"line {number}: expected one JSON object a line of at most "
                f"{MAX_LINE_BYTES // 1024 // 1024} MiB, got a longer line"
            )
        yield line


def parse_row(line: bytes) -> Mapping[str, Any]:
    """The JSON object in a line; InputError says what the line has instead."""
    try:
        # Some editors put a byte order mark before the first row.
        text = line.decode("utf-8-sig").rstrip("\r\n")
        value = strict_json(text)
    except UnicodeDecodeError as error:
        raise InputError(
            f"expected UTF-8, byte {error.start} is {line[error.start]:#04x}"
        ) from error
    except json.JSONDecodeError as error:
        problem = f"{error.msg}, at column {error.pos + 1} of the line"
        raise InputError(f"expected one JSON object a line: {problem}") from error
    except ValueError as error:
        raise InputError(f"expected one JSON object a line: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, got {_type_name(value)}")
    return value


def read_row(value: Mapping[str, Any], *, as_of: str = "") -> InputRow:
    """The exchange of a row `{"id", "question", "contexts": [str | {"id", "text"}], "answer"}`.

    A context may have `metadata`, and a row `as_of`, the date of the answer: stale sources are
    found by them. The parameter `as_of` is the date of rows without one. `NAMES` lists the names
    that other tools give the fields.
    """
    name, answer = _field(value, "answer")
    if not isinstance(answer, str):
        raise InputError(f"expected {name} to be a string, got {_type_name(answer)}")
    if not answer.strip():
        raise InputError(f"expected {name} to hold text, got an empty string")
    name, question = _field(value, "question")
    if not isinstance(question or "", str):
        raise InputError(f"expected {name} to be a string, got {_type_name(question)}")
    name, contexts = _field(value, "contexts")
    if not isinstance(contexts, list) or not contexts:
        raise InputError(f"expected {name} to be a list of passages, got {_type_name(contexts)}")
    passages = tuple(passage_from(one, number) for number, one in enumerate(contexts, start=1))
    exchange = Exchange(question or "", passages, answer, _date(value.get("as_of"), as_of))
    return InputRow(exchange, value.get("id"), value.get("route"))


def _field(value: Mapping[str, Any], name: str) -> tuple[str, Any]:
    """The name that the row uses for a field, quoted, and the field's value."""
    names = NAMES[name]
    used = [one for one in names if value.get(one) is not None]
    if len(used) > 1:
        raise InputError(f"expected one of {_quoted(names)}, got {_quoted(used, ' and ')}")
    if used:
        return f'"{used[0]}"', value[used[0]]
    return f'"{name}" (or {_quoted(names[1:])})', None


def _quoted(names: Sequence[str], last: str = " or ") -> str:
    *others, one = (f'"{name}"' for name in names)
    return last.join((", ".join(others), one)) if others else one


def _date(written: object, otherwise: str) -> str:
    if written in (None, ""):
        return otherwise
    if not isinstance(written, str) or not _ISO_DATE.match(written):
        raise InputError(
            f'expected "as_of" to be a date such as 2026-01-31, got {_type_name(written)}'
        )
    try:
        date.fromisoformat(written[:10])
    except ValueError as error:
        raise InputError(
            f'expected "as_of" to be a date such as 2026-01-31, got {written[:10]}: {error}'
        ) from error
    return written


def report_row(row: InputRow, report: Report) -> dict[str, Any]:
    """The report as `rt4chart verify` writes it."""
    out: dict[str, Any] = {"id": row.id}
    if row.route is not None:
        out["route"] = row.route
    return out | {
        "label": report.label,
        "hallucination_rate": report.hallucination_rate,
        "misleading_rate": report.misleading_rate,
        "claims": claim_rows(report.claims),
        "findings": finding_rows(report.findings),
        **advice_row(row.exchange.answer, report.advice),
        "judge": report.judge,
        "usage": usage_row(report.usage),
    }


def advice_row(answer: str, advice: Advice) -> dict[str, Any]:
    """What to do about the answer; `revised` is the answer with the edits, null without any."""
    return {
        "action": advice.action,
        "reason": advice.reason,
        "edits": [asdict(edit) for edit in advice.edits],
        "revised": revised(answer, advice.edits) if advice.edits else None,
    }


def usage_row(usage: Usage) -> dict[str, Any]:
    """The cost, without the parts that are not known."""
    return {name: value for name, value in asdict(usage).items() if value is not None}


def claim_rows(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Claims with their evidence; offsets are characters (code points)."""
    return [
        {
            "text": claim.text,
            "label": claim.label,
            "status": claim.status,
            "start": claim.answer_range.start,
            "end": claim.answer_range.end,
            "confidence": None if claim.confidence is None else round(claim.confidence, 4),
            "reason": claim.reason,
            "evidence": [evidence_row(one) for one in claim.evidence],
        }
        for claim in claims
    ]


def evidence_row(evidence: Evidence) -> dict[str, Any]:
    """A sentence of a passage and its relation to the claim."""
    return {
        "passage": evidence.passage_id,
        "start": evidence.start,
        "end": evidence.end,
        "text": evidence.text,
        "relation": evidence.relation,
    }


def finding_rows(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings, without their empty fields."""
    return [
        {
            key: value
            for key, value in (
                ("name", finding.name),
                ("kind", finding.kind or None),
                ("detail", finding.detail),
                ("claim", finding.claim),
                ("passages", list(finding.passage_ids)),
                ("evidence", [evidence_row(one) for one in finding.evidence]),
                ("value", finding.value),
            )
            if value not in (None, [])
        }
        for finding in findings
    ]


def passage_from(value: object, number: int) -> Passage:
    """A passage from a text, or from a mapping with `text` and optional `id` and `metadata`.

    `number` names a passage without an id. InputError for any other value.
    """
    if isinstance(value, Passage):
        return value
    if isinstance(value, str):
        return Passage(id=f"p{number}", text=value)
    text = value.get("text") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and isinstance(text, str):
        about = value.get("metadata")
        metadata = about if isinstance(about, Mapping) else {}
        return Passage(str(value.get("id", f"p{number}")), text, metadata=metadata)
    raise InputError(
        f'expected passage {number} to be a string or {{"id", "text"}}, got {_type_name(value)}'
    )


def _type_name(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", type(None): "nothing"}
    if isinstance(value, list) and not value:
        return "an empty list"
    return names.get(type(value), f"the {type(value).__name__} {value!r}"[:80])
