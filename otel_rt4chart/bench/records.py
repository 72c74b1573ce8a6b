"""What a judge said of one labelled answer, in a form that a file holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.gold_evidence import PassageRange
from otel_rt4chart.bench.rivals.verdict import HolisticVerdict
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Label, Report, Usage


@dataclass(frozen=True, slots=True)
class RecordedClaim:
    """A claim's verdict; `reason` only where it is undecided."""

    label: Label
    confidence: float | None
    range: AnswerRange
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """A verdict on an answer; `evidence` is what contradicts its claims, `seconds` it took.

    `is_holistic` for a verdict on the answer as a whole: it has no claims, but a `score` from 0 to
    1, the more the likelier it is wrong, or a `reason` for which there is none.
    """

    label: AnswerLabel
    claims: tuple[RecordedClaim, ...]
    evidence: tuple[PassageRange, ...]
    usage: Usage
    seconds: float
    is_holistic: bool = False
    score: float | None = None
    reason: str = ""

    @property
    def undecided_reasons(self) -> tuple[str, ...]:
        """Why claims are undecided, or why there is no verdict on the whole answer."""
        if self.is_holistic:
            return (self.reason,) if self.label is AnswerLabel.UNDECIDED else ()
        return tuple(claim.reason for claim in self.claims if claim.label is Label.UNDECIDED)

    @property
    def unfaithful(self) -> tuple[RecordedClaim, ...]:
        """The contradicted and baseless claims."""
        return tuple(claim for claim in self.claims if claim.label.is_unfaithful)


def record_verdict(found: Report | HolisticVerdict, seconds: float) -> AnswerRecord:
    """The record of a verdict; the seconds as they are written.

    So a run that is continued has the same figures.
    """
    taken = round(seconds, 4)
    if isinstance(found, Report):
        return _record_report(found, taken)
    return AnswerRecord(
        found.label, (), (), found.usage, taken,
        is_holistic=True, score=found.score, reason=found.reason,
    )  # fmt: skip


def _record_report(report: Report, seconds: float) -> AnswerRecord:
    return AnswerRecord(
        report.label,
        tuple(
            RecordedClaim(
                claim.label,
                claim.confidence,
                claim.answer_range,
                claim.reason if claim.label is Label.UNDECIDED else "",
            )
            for claim in report.claims
            if claim.label is not Label.NOT_A_CLAIM
        ),
        tuple(
            PassageRange(one.passage_id, one.start, one.end)
            for claim in report.claims
            if claim.label is Label.CONTRADICTED
            for one in claim.evidence
        ),
        report.usage,
        seconds,
    )


class RowKey(NamedTuple):
    """What identifies a labelled answer: its id, and a hash of the texts that a judge reads."""

    id: str
    digest: str


def row_key(row: LabelledAnswer) -> RowKey:
    """The key of a row, by which it is known again in a file of results."""
    exchange = row.exchange
    texts = [exchange.question, *(one.text for one in exchange.passages), exchange.answer]
    return RowKey(row.id, hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16])


def record_values(record: AnswerRecord) -> dict[str, Any]:
    """The record as JSON values."""
    usage = {name: value for name, value in asdict(record.usage).items() if name != "milliseconds"}
    return {
        "label": record.label.value,
        "claims": [
            {
                "label": claim.label.value,
                "confidence": claim.confidence,
                "start": claim.range.start,
                "end": claim.range.end,
            }
            | ({"reason": claim.reason} if claim.reason else {})
            for claim in record.claims
        ],
        "evidence": [list(one) for one in record.evidence],
        "usage": usage,
        "seconds": record.seconds,
        **({"score": record.score, "reason": record.reason} if record.is_holistic else {}),
    }


def parse_record(values: Mapping[str, Any]) -> AnswerRecord:
    """The record of JSON values; InputError where they are none."""
    try:
        return AnswerRecord(
            AnswerLabel(values["label"]),
            tuple(
                RecordedClaim(
                    Label(one["label"]),
                    None if one["confidence"] is None else float(one["confidence"]),
                    AnswerRange(int(one["start"]), int(one["end"])),
                    str(one.get("reason", "")),
                )
                for one in values["claims"]
            ),
            tuple(PassageRange(str(a), int(b), int(c)) for a, b, c in values["evidence"]),
            Usage(**values["usage"]),
            float(values["seconds"]),
            "score" in values,
            None if values.get("score") is None else float(values["score"]),
            str(values.get("reason", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"expected the record of an answer, got {error!r}") from None
