"""The finding of a model: the cause of an issue with its evidence, a fix, and four scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import encodable
from rt4chart_clustering.explain.loss_stage import LossStage

SCORES = (
    "factual_grounding",
    "privacy_and_safety",
    "instruction_adherence",
    "optimal_plan_execution",
)
MAX_TEXT, MAX_QUOTE, MAX_QUOTES, MIN_QUOTE = 2_000, 600, 6, 10


@dataclass(frozen=True, slots=True)
class FindingQuote:
    """Words of a passage; with an empty `passage_id`, of the span's own texts or its answer."""

    trace_id: str
    span_id: str
    passage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CauseFinding:
    """A cause, the stage at which most evidence was lost, quotes that show it, and a fix.

    `scores` are 1 to 5 by the names of SCORES, 5 is best.
    """

    cause: str
    stage: LossStage
    quotes: tuple[FindingQuote, ...]
    immediate_fix: str
    scores: Mapping[str, int]


def parse_finding(given: Mapping[str, Any]) -> CauseFinding:
    """The finding that a model submitted; InputError lists everything that is wrong with it."""
    problems: list[str] = []
    cause, immediate_fix = (_text(given, name, problems) for name in ("cause", "immediate_fix"))
    stage = given.get("stage")
    if stage not in list(LossStage):
        problems.append(f"stage: expected one of {', '.join(LossStage)}, got {str(stage)[:60]!r}")
    quotes = _quotes(given.get("quotes"), problems)
    scores = _scores(given.get("scores"), problems)
    if problems:
        raise InputError("; ".join(problems))
    return CauseFinding(cause, LossStage(str(stage)), quotes, immediate_fix, scores)


def finding_row(finding: CauseFinding) -> dict[str, Any]:
    """The finding as JSON values."""
    return {
        "cause": finding.cause,
        "stage": str(finding.stage),
        "immediate_fix": finding.immediate_fix,
        "scores": dict(finding.scores),
        "quotes": [
            {name: getattr(one, name) for name in FindingQuote.__slots__} for one in finding.quotes
        ],
    }


def _text(given: Mapping[str, Any], name: str, problems: list[str]) -> str:
    value = given.get(name)
    text = encodable(value).strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= MAX_TEXT:
        problems.append(f"{name}: expected a text of 1 to {MAX_TEXT} characters, got {len(text)}")
    return text


def _quotes(given: object, problems: list[str]) -> tuple[FindingQuote, ...]:
    rows = given if isinstance(given, list) else []
    if not 1 <= len(rows) <= MAX_QUOTES:
        problems.append(f"quotes: expected a list of 1 to {MAX_QUOTES}, got {len(rows)}")
        return ()
    found = [_quote(row) for row in rows]
    if None in found:
        problems.append(
            "quotes: expected of each the texts trace_id, span_id, passage_id and text, this of "
            f"{MIN_QUOTE} to {MAX_QUOTE} characters"
        )
    return tuple(one for one in found if one is not None)


def _quote(row: object) -> FindingQuote | None:
    if not isinstance(row, dict):
        return None
    cells = [row.get(name, "") for name in FindingQuote.__slots__]
    if not all(isinstance(cell, str) for cell in cells):
        return None
    quote = FindingQuote(*(encodable(cell) for cell in cells))
    length = len(" ".join(quote.text.split()))
    return quote if MIN_QUOTE <= length <= MAX_QUOTE else None


def _scores(given: object, problems: list[str]) -> dict[str, int]:
    row = given if isinstance(given, dict) else {}
    scores = {name: row.get(name) for name in SCORES}
    wrong = [
        name for name, score in scores.items() if type(score) is not int or not 1 <= score <= 5
    ]
    if wrong:
        problems.append(f"scores: expected a whole number from 1 to 5 for {', '.join(wrong)}")
    return {name: score for name, score in scores.items() if isinstance(score, int)}
