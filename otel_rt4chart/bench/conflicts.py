"""Conflict cases apart: whether they are found, of which kind, and whether the evidence refutes.

RT4CHART, section 4.3 and Table 5: detection is measured by answer, the refuting evidence by the
overlap of characters, on the conflict cases that were found and whose evidence is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.gold_evidence import PassageRange, locate_quotes
from otel_rt4chart.bench.metrics import ConfusionCounts, shared_characters
from otel_rt4chart.bench.records import AnswerRecord
from otel_rt4chart.bench.runner import JudgedAnswer
from otel_rt4chart.verify.core.model import AnswerLabel, Label

_KINDS = {"contradicted": Label.CONTRADICTED, "baseless": Label.BASELESS}


class TypeFigures(NamedTuple):
    """The marked spans of one type: how many, how many are flagged, and `named` with their kind.

    `kinds` is the number of those whose kind is told.
    """

    type: str
    spans: int
    flagged: int
    kinds: int
    named: int


class Grounding(NamedTuple):
    """The refuting evidence: conflict cases found, of which some are quoted, and some located.

    `characters` counts those of the passages, over the located cases.
    """

    detected: int
    quoted: int
    located: int
    characters: ConfusionCounts


@dataclass(frozen=True, slots=True)
class ConflictScores:
    """`conflicts` and `baseless` count answers with such an error; None where labels lack it.

    `grounding` is None where the data set has no evidence labels.
    """

    conflicts: ConfusionCounts | None
    baseless: ConfusionCounts | None
    types: tuple[TypeFigures, ...]
    grounding: Grounding | None


def score_conflicts(answers: Sequence[JudgedAnswer]) -> ConflictScores:
    """The metrics over these answers; none where the judge names no kind of error."""
    if any(answer.record.is_holistic for answer in answers):
        return ConflictScores(None, None, (), None)
    return ConflictScores(
        _cases((_has_conflict(a.row), _says(a.record, Label.CONTRADICTED)) for a in answers),
        _cases((_has_baseless(a.row), _says(a.record, Label.BASELESS)) for a in answers),
        _types(answers),
        _grounding(answers),
    )


def _has_conflict(row: LabelledAnswer) -> bool | None:
    """Whether annotators found a conflict; None where they do not say."""
    kinds = {span.kind for span in row.spans}
    if row.label is AnswerLabel.CONTRADICTED or "contradicted" in kinds:
        return True
    is_told = not row.is_hallucinated or row.label is AnswerLabel.BASELESS
    return False if is_told else None


def _has_baseless(row: LabelledAnswer) -> bool | None:
    """The same for what is in no passage."""
    kinds = {span.kind for span in row.spans}
    if row.label is AnswerLabel.BASELESS or "baseless" in kinds:
        return True
    # An answer that is contradicted as a whole may hold a baseless claim beside it.
    return False if not row.is_hallucinated or kinds == {"contradicted"} else None


def _says(record: AnswerRecord, label: Label) -> bool:
    return any(claim.label is label for claim in record.claims)


def _cases(pairs: Iterable[tuple[bool | None, bool]]) -> ConfusionCounts | None:
    found = Counter(pairs)
    counts = ConfusionCounts(
        found[True, True], found[False, True], found[False, False], found[True, False]
    )
    return counts if found[True, True] + found[True, False] else None


def _types(answers: Iterable[JudgedAnswer]) -> tuple[TypeFigures, ...]:
    found: Counter[tuple[str, str]] = Counter()
    for row, record, _ in answers:
        for span in row.spans:
            over = [one for one in record.unfaithful if shared_characters(one.range, span.range)]
            name = span.type or span.kind
            found[name, "spans"] += 1
            found[name, "flagged"] += bool(over)
            found[name, "kinds"] += span.kind in _KINDS
            found[name, "named"] += any(one.label is _KINDS.get(span.kind) for one in over)
    names = sorted({name for name, _ in found})
    return tuple(
        TypeFigures(n, *(found[n, part] for part in TypeFigures._fields[1:])) for n in names
    )


def _grounding(answers: Sequence[JudgedAnswer]) -> Grounding | None:
    if not any(span.quotes for answer in answers for span in answer.row.spans):
        return None
    detected = [a for a in answers if _has_conflict(a.row) and _says(a.record, Label.CONTRADICTED)]
    quoted = located = 0
    total: Counter[str] = Counter()
    for row, record, _ in detected:
        quotes = [quote for span in row.spans for quote in span.quotes]
        quoted += bool(quotes)
        gold = locate_quotes(quotes, row.exchange.passages)
        if gold is None:
            continue
        located += 1
        right, shown = _characters(gold), _characters(record.evidence)
        total["hit"] += len(right & shown)
        total["false"] += len(shown - right)
        total["missed"] += len(right - shown)
    counts = ConfusionCounts(total["hit"], total["false"], false_negative=total["missed"])
    return Grounding(len(detected), quoted, located, counts)


def _characters(ranges: Iterable[PassageRange]) -> set[tuple[str, int]]:
    return {(passage, at) for passage, start, end in ranges for at in range(start, end)}
