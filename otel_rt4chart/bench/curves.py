"""The points of the page's curves: precision and recall over thresholds, confidence and right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.bench.metrics import shared_characters
from otel_rt4chart.bench.protocol import ProtocolRun, first_runs
from otel_rt4chart.bench.records import AnswerRecord
from otel_rt4chart.bench.runner import JudgedAnswer
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.rates.population import score_of
from otel_rt4chart.verify.rates.reliability import EDGES


class CurvePoint(NamedTuple):
    """A point of a curve, with the words for its tooltip."""

    x: float
    y: float
    note: str


def precision_recall(answers: Sequence[JudgedAnswer]) -> list[CurvePoint]:
    """Precision (y) by recall (x): answers flagged from a probability on, the surest first.

    Empty where the judge states no confidence, or where one of the classes is missing.
    """
    scored = [
        (_doubt(a.record), a.row.is_hallucinated)
        for a in answers
        if a.record.claims or a.record.is_holistic
    ]
    known = sorted(
        ((doubt, wrong) for doubt, wrong in scored if doubt is not None), key=lambda one: -one[0]
    )
    positives = sum(wrong for _, wrong in known)
    if not positives or positives == len(known):
        return []
    points = []
    hit = 0
    for flagged, (doubt, wrong) in enumerate(known, start=1):
        hit += wrong
        # Answers with the same probability are flagged together.
        if flagged == len(known) or known[flagged][0] < doubt:
            note = (
                f"from {doubt:.2f} on: precision {hit / flagged:.3f}, recall {hit / positives:.3f}"
            )
            points.append(CurvePoint(hit / positives, hit / flagged, note))
    return points


def _doubt(record: AnswerRecord) -> float | None:
    """The probability that the most doubtful claim is wrong; None where a claim has none.

    Of a judge of whole answers, its own score.
    """
    if record.is_holistic:
        return record.score
    scores = [
        None if claim.confidence is None else score_of(claim.label, claim.confidence)
        for claim in record.claims
    ]
    known = [score for score in scores if score is not None]
    return max(known) if len(known) == len(scores) else None


def stated_and_right(answers: Sequence[JudgedAnswer]) -> list[CurvePoint]:
    """The share of right verdicts (y) by their mean stated confidence (x), in bins of claims.

    Only claims count of which the labels tell: those of answers whose errors are all marked.
    """
    known = [pair for answer in answers for pair in _verdicts(answer)]
    points = []
    for low, high in pairwise(EDGES):
        own = [(c, r) for c, r in known if low <= c and (c < high or high == EDGES[-1])]
        if own:
            stated = sum(confidence for confidence, _ in own) / len(own)
            right = sum(is_right for _, is_right in own) / len(own)
            note = f"{len(own)} claims: {stated:.2f} stated, {right:.3f} right"
            points.append(CurvePoint(stated, right, note))
    return points


def _verdicts(answer: JudgedAnswer) -> list[tuple[float, bool]]:
    """The stated confidence of each decided claim, and whether the marked spans agree."""
    found = []
    marked = answer.outcome.gold_spans
    for claim in answer.record.claims if marked is not None else ():
        if claim.confidence is not None and claim.label.is_decided:
            is_wrong = any(shared_characters(one, claim.range) for one in marked or ())
            found.append((claim.confidence, is_wrong == (claim.label is not Label.ENTAILED)))
    return found


def f1_by_window(runs: Sequence[ProtocolRun]) -> dict[str, list[CurvePoint]]:
    """F1 (y) by window (x), a line for each overlap; empty unless windows differ."""
    grid = [run for run in first_runs(runs) if run.variant.kind in ("full", "window")]
    lines: dict[str, list[CurvePoint]] = {}
    for run in sorted(grid, key=lambda one: (one.variant.overlap, one.variant.window)):
        f1, variant = run.result.overall.answer.f1, run.variant
        if f1 is not None:
            note = f"window {variant.window}, overlap {variant.overlap}: F1 {f1:.3f}"
            point = CurvePoint(variant.window, f1, note)
            lines.setdefault(f"overlap {variant.overlap}", []).append(point)
    return lines if len(grid) > 1 else {}
