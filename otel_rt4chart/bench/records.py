"""What a judge said of one labelled answer, in a form that a file holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.gold_evidence import PassageRange
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
    """A verdict on an answer; `evidence` is what contradicts its claims, `seconds` it took."""

    label: AnswerLabel
    claims: tuple[RecordedClaim, ...]
    evidence: tuple[PassageRange, ...]
    usage: Usage
    seconds: float

    @property
    def unfaithful(self) -> tuple[RecordedClaim, ...]:
        """The contradicted and baseless claims."""
        return tuple(claim for claim in self.claims if claim.label.is_unfaithful)


def record_report(report: Report, seconds: float) -> AnswerRecord:
    """The record of a report."""
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
        # As it is written, so that a run that is continued has the same figures.
        round(seconds, 4),
    )


def row_digest(row: LabelledAnswer) -> str:
    """A hash of the texts that a judge reads, to know a row again whatever its id."""
    exchange = row.exchange
    texts = [exchange.question, *(one.text for one in exchange.passages), exchange.answer]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


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
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"expected the record of an answer, got {error!r}") from None
