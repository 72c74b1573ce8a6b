"""What explaining an issue comes to: the cause with its evidence, a fix, and four scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import encodable
from rt4chart_clustering.explain.stage import Lost

SCORES = (
    "factual_grounding",
    "privacy_and_safety",
    "instruction_adherence",
    "optimal_plan_execution",
)
LONGEST, LONGEST_QUOTE, MOST_QUOTES, SHORTEST_QUOTE = 2_000, 600, 6, 10


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage, or where `passage_id` is empty of the span's own texts and its answer."""

    trace_id: str
    span_id: str
    passage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause, the stage at which most evidence was lost, quotes that show it, what to do now.

    `scores` are 1 to 5 by the names of SCORES, 5 is best.
    """

    cause: str
    stage: Lost
    quotes: tuple[Quote, ...]
    fix: str
    scores: Mapping[str, int]


def finding_from(given: Mapping[str, Any]) -> Finding:
    """The finding that a model submitted; InputError says all that is wrong with its form."""
    problems: list[str] = []
    cause, fix = (_text(given, name, problems) for name in ("cause", "fix"))
    stage = given.get("stage")
    if stage not in list(Lost):
        problems.append(f"stage: expected one of {', '.join(Lost)}, got {str(stage)[:60]!r}")
    quotes = _quotes(given.get("quotes"), problems)
    scores = _scores(given.get("scores"), problems)
    if problems:
        raise InputError("; ".join(problems))
    return Finding(cause, Lost(str(stage)), quotes, fix, scores)


def finding_row(finding: Finding) -> dict[str, Any]:
    """The finding as JSON values."""
    return {
        "cause": finding.cause,
        "stage": str(finding.stage),
        "fix": finding.fix,
        "scores": dict(finding.scores),
        "quotes": [
            {name: getattr(one, name) for name in Quote.__slots__} for one in finding.quotes
        ],
    }


def _text(given: Mapping[str, Any], name: str, problems: list[str]) -> str:
    value = given.get(name)
    text = encodable(value).strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= LONGEST:
        problems.append(f"{name}: expected a text of 1 to {LONGEST} characters, got {len(text)}")
    return text


def _quotes(given: object, problems: list[str]) -> tuple[Quote, ...]:
    rows = given if isinstance(given, list) else []
    if not 1 <= len(rows) <= MOST_QUOTES:
        problems.append(f"quotes: expected a list of 1 to {MOST_QUOTES}, got {len(rows)}")
        return ()
    found = [_quote(row) for row in rows]
    if None in found:
        problems.append(
            "quotes: expected of each the texts trace_id, span_id, passage_id and text, this of "
            f"{SHORTEST_QUOTE} to {LONGEST_QUOTE} characters"
        )
    return tuple(one for one in found if one is not None)


def _quote(row: object) -> Quote | None:
    if not isinstance(row, dict):
        return None
    cells = [row.get(name, "") for name in Quote.__slots__]
    if not all(isinstance(cell, str) for cell in cells):
        return None
    quote = Quote(*(encodable(cell) for cell in cells))
    length = len(" ".join(quote.text.split()))
    return quote if SHORTEST_QUOTE <= length <= LONGEST_QUOTE else None


def _scores(given: object, problems: list[str]) -> dict[str, int]:
    told = given if isinstance(given, dict) else {}
    scores = {name: told.get(name) for name in SCORES}
    wrong = [
        name for name, score in scores.items() if type(score) is not int or not 1 <= score <= 5
    ]
    if wrong:
        problems.append(f"scores: expected a whole number from 1 to 5 for {', '.join(wrong)}")
    return {name: score for name, score in scores.items() if isinstance(score, int)}
