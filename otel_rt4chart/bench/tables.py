"""Formats bench results as text tables and as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.bench.metrics import BenchScores, ConfusionCounts
from otel_rt4chart.bench.runner import BenchResult
from otel_rt4chart.bench.stages import (
    CheckedAnswer,
    Figure,
    JudgedClaim,
    StageFigures,
    mean,
    product,
)
from otel_rt4chart.verify.core.cascade import threshold_for_error, threshold_for_share
from otel_rt4chart.verify.core.model import AnswerLabel

_HEADINGS = (
    "", "n", "unfaithful", "P", "R", "F1", "bAcc", "span P", "span R", "span F1", "undecided",
)  # fmt: skip
_LABELS = (AnswerLabel.ENTAILED, AnswerLabel.CONTRADICTED, AnswerLabel.BASELESS)


def render(result: BenchResult) -> str:
    """The aligned table, with the scores of flagging every answer below."""
    overall = result.overall
    speed = f"{overall.claims} claims · {number(result.claims_per_second, '.0f')} claims/s"
    said = "holistic: a verdict on each answer, no spans" if result.is_holistic else speed
    lines = [
        f"judge {result.judge} · split {result.split} · {overall.answers} answers · {said}",
        "",
        *aligned(answer_rows(result)),
    ]
    if overall.three_way:
        lines += ["", "labels by annotators (rows) and by the judge (columns)"]
        lines += aligned(list(_confusion(overall)))
    return "\n".join(lines) + "\n"


def answer_rows(result: BenchResult) -> list[Sequence[str]]:
    """The heading and the rows of the answers' table; an empty row separates groups."""
    return [_HEADINGS, *_rows(result)]


def as_values(result: BenchResult) -> Mapping[str, object]:
    """The same for `--json`; null for undefined figures."""
    return {
        "judge": result.judge,
        "split": result.split,
        "seconds": round(result.seconds, 3),
        "claims_per_second": result.claims_per_second,
        "overall": _score_values(result.overall),
        "tasks": {scores.name: _score_values(scores) for scores in result.tasks},
        "datasets": {scores.name: _score_values(scores) for scores in result.datasets},
    }


def number(figure: float | None, form: str = ".3f") -> str:
    """A formatted figure; a dash if it is undefined."""
    return "–" if figure is None else format(figure, form)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines: the first column aligned left, the others right."""
    widths = [
        max(len(row[column]) for row in rows if column < len(row))
        for column in range(max(map(len, rows)))
    ]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def _score_values(scores: BenchScores) -> Mapping[str, object]:
    return {
        "answers": scores.answers,
        "hallucinated": scores.hallucinated,
        "undecided": scores.undecided,
        "claims": scores.claims,
        "answer": _count_figures(scores.answer),
        "flag_all": _count_figures(scores.flag_all),
        "span": {
            "precision": scores.span.precision,
            "recall": scores.span.recall,
            "f1": scores.span.f1,
        },
        "three_way": {
            f"{gold}->{predicted}": count
            for (gold, predicted), count in sorted(scores.three_way.items())
        },
    }


def _count_figures(counts: ConfusionCounts) -> Mapping[str, float | None]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "balanced_accuracy": counts.balanced_accuracy,
    }


def _rows(result: BenchResult) -> Iterator[Sequence[str]]:
    for scores in result.tasks:
        yield _line(scores)
    if len(result.datasets) > 1:
        yield ()
        for scores in result.datasets:
            yield _line(scores)
    yield ()
    yield _line(result.overall)
    flagged = result.overall.flag_all
    yield ("flag all", str(result.overall.answers), str(result.overall.hallucinated),
           *_cells(flagged))  # fmt: skip


def _line(scores: BenchScores) -> Sequence[str]:
    span = scores.span
    return (
        scores.name,
        str(scores.answers),
        str(scores.hallucinated),
        *_cells(scores.answer),
        *(number(figure) for figure in (span.precision, span.recall, span.f1)),
        str(scores.undecided),
    )


def _cells(counts: ConfusionCounts) -> Iterator[str]:
    for figure in (counts.precision, counts.recall, counts.f1, counts.balanced_accuracy):
        yield number(figure)


def _confusion(scores: BenchScores) -> Iterator[Sequence[str]]:
    labels = (*_LABELS, AnswerLabel.UNDECIDED, AnswerLabel.NO_CLAIMS)
    yield ("", *labels)
    for gold in _LABELS:
        yield (gold, *(str(scores.three_way.get((gold, label), 0)) for label in labels))


THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHARE = ERROR = 0.2  # targets of the two suggested thresholds

_STAGES = ("extraction", "linking", "classification", "localisation")
_MEANING = {
    "extraction": (
        "recall × grounded. Recall: marked spans that the range of a claim overlaps; grounded:"
        " claims that say only what their sentence says; atomic: claims that hold one statement;"
        " kept: sentences whose claims keep all numbers, negations and qualifiers"
    ),
    "linking": (
        "claims of faithful answers that have a candidate sentence; agreement: decided claims whose"
        " label stays the same when the judge reads only their candidates"
    ),
    "classification": (
        "balanced accuracy (0.50 is chance) over linked claims; a claim is unfaithful where its"
        " own range overlaps a marked span, an undecided one counts as not flagged"
    ),
    "localisation": (
        "rightly flagged claims whose printed range overlaps a marked span (hit); of the hits:"
        " characters shared by characters of both, and printed by marked length (median)"
    ),
    "product": (
        "of the four. The stages are not independent, and an answer needs only one of its claims"
        " flagged: read it beside the answers' balanced accuracy, not as a forecast of it"
    ),
}
_ESCALATED = (
    "of the claims that reached this judge; an undecided claim is escalated at every threshold;"
    " error: labels that the annotated spans contradict"
)


class ThresholdLevel(NamedTuple):
    """A threshold: the share of claims below it, and the error rates below and above it."""

    threshold: float
    escalated: Figure
    kept_error: Figure
    escalated_error: Figure


class Escalation(NamedTuple):
    """The effects of thresholds, and two suggestions for the targets SHARE and ERROR."""

    levels: tuple[ThresholdLevel, ...]
    for_share: float
    for_error: float


def escalation(checked: Iterable[CheckedAnswer]) -> Escalation:
    """What a cascade would escalate from this judge to its second one."""
    judged = [placed for answer in checked for placed in answer.claims if placed.is_linked]
    known = [
        claim for claim in judged if claim.is_wrong is not None and claim.claim.label.is_decided
    ]
    return Escalation(
        tuple(_level(threshold, judged) for threshold in THRESHOLDS),
        threshold_for_share([_confidence(claim) for claim in judged], SHARE),
        threshold_for_error([(_confidence(claim), not _is_error(claim)) for claim in known], ERROR),
    )


def _level(threshold: float, judged: Sequence[JudgedClaim]) -> ThresholdLevel:
    known = [claim for claim in judged if claim.is_wrong is not None]
    return ThresholdLevel(
        threshold,
        mean(_confidence(claim) < threshold for claim in judged),
        mean(_is_error(claim) for claim in known if _confidence(claim) >= threshold),
        mean(_is_error(claim) for claim in known if _confidence(claim) < threshold),
    )


def _confidence(claim: JudgedClaim) -> float:
    """The confidence for a cascade, which escalates undecided claims at every threshold.

    So it does those whose judge states none.
    """
    return (claim.claim.confidence or 0.0) if claim.claim.label.is_decided else 0.0


def _is_error(claim: JudgedClaim) -> bool:
    return claim.is_flagged != claim.is_wrong


def render_stages(overall: StageFigures, datasets: Sequence[StageFigures]) -> str:
    """The product, then each stage with its parts, then the definitions."""
    rows = [*datasets, overall] if len(datasets) > 1 else [overall]
    lines = aligned([("stages", *_STAGES, "product", "answers' bAcc"), *map(_summary, rows)])
    for title, parts in _tables(rows):
        lines += ["", *aligned([(title, *parts[0]), *_named_rows(rows, parts)])]
    lines += [
        "",
        *_weakest_stage(overall),
        *(f"{name}: {meaning}." for name, meaning in _MEANING.items()),
    ]
    return "\n".join(lines) + "\n"


def stage_values(overall: StageFigures, datasets: Sequence[StageFigures]) -> Mapping[str, object]:
    """The same for `--json`; null where a figure is not defined."""
    return {
        "overall": _stage_values(overall),
        "datasets": {dataset.name: _stage_values(dataset) for dataset in datasets},
    }


def render_escalation(found: Escalation) -> str:
    """One line for each threshold, then the suggestions."""
    head = ("escalation under", "claims escalated", "error of the kept", "error of the escalated")
    rows = [(f"{level[0]:.2f}", *map(_cell, level[1:])) for level in found.levels]
    lines = [
        *aligned([head, *rows]),
        "",
        f"escalates about {SHARE:.0%} of the claims: {found.for_share:.2f}",
        f"leaves at most {ERROR:.0%} of the kept claims wrong: {found.for_error:.2f}",
        f"escalation: {_ESCALATED}.",
    ]
    return "\n".join(lines) + "\n"


def escalation_values(found: Escalation) -> Mapping[str, object]:
    """The same for `--json`."""
    return {
        "levels": [
            {
                "threshold": level.threshold,
                "escalated": level.escalated._asdict(),
                "kept_error": level.kept_error._asdict(),
                "escalated_error": level.escalated_error._asdict(),
            }
            for level in found.levels
        ],
        "threshold_for_share": found.for_share,
        "threshold_for_error": found.for_error,
    }


def _summary(stages: StageFigures) -> Sequence[str]:
    figures = [*stages.stages.values(), product(stages.stages.values())]
    return (
        stages.name,
        *(number(figure, ".2f") for figure in figures),
        _cell(_balanced(stages.answers)),
    )


def _tables(rows: Sequence[StageFigures]) -> Iterator[tuple[str, list[Sequence[str]]]]:
    """For each stage the column names, then the cells of each row."""
    for stage in _STAGES:
        parts = [_stage_parts(row)[stage] for row in rows]
        yield (
            stage,
            [tuple(parts[0]), *(tuple(map(_figure_or_count, part.values())) for part in parts)],
        )


def _named_rows(
    rows: Sequence[StageFigures], parts: Sequence[Sequence[str]]
) -> Iterator[Sequence[str]]:
    for row, cells in zip(rows, parts[1:], strict=True):
        yield row.name, *cells


def _stage_parts(figures: StageFigures) -> Mapping[str, Mapping[str, Figure | int]]:
    """The figures of each stage by name; an integer is a count."""
    counts = figures.claims
    flagged = counts.true_positive + counts.false_positive
    wrong = counts.true_positive + counts.false_negative
    return {
        "extraction": {
            "recall": figures.recall,
            "grounded": figures.grounded,
            "atomic": figures.atomic,
            "kept": figures.kept,
        },
        "linking": {"linked": figures.linked, "agreement": figures.agreement},
        "classification": {
            "balanced accuracy": _balanced(counts),
            "precision": Figure(counts.precision if wrong else None, flagged),
            "recall": Figure(counts.recall, wrong),
            "false alarms": counts.false_positive,
            "misses": counts.false_negative,
        },
        "localisation": {"hit": figures.hit, "overlap": figures.overlap, "length": figures.length},
    }


def _balanced(counts: ConfusionCounts) -> Figure:
    unflagged = counts.true_negative + counts.false_negative
    total = counts.true_positive + counts.false_positive + unflagged
    return Figure(counts.balanced_accuracy, total)


def _weakest_stage(overall: StageFigures) -> Iterator[str]:
    figures = {name: figure for name, figure in overall.stages.items() if figure is not None}
    if figures:
        name = min(figures, key=figures.__getitem__)
        yield f"weakest stage: {name} ({figures[name]:.2f})"
        yield ""


def _stage_values(stages: StageFigures) -> Mapping[str, object]:
    parts = {
        stage: {
            name.replace(" ", "_"): found._asdict() if isinstance(found, Figure) else found
            for name, found in figures.items()
        }
        for stage, figures in _stage_parts(stages).items()
    }
    return {
        stage: {"figure": stages.stages[stage], **figures} for stage, figures in parts.items()
    } | {
        "product": product(stages.stages.values()),
        "answer_balanced_accuracy": _balanced(stages.answers)._asdict(),
    }


def _figure_or_count(found: Figure | int) -> str:
    return _cell(found) if isinstance(found, Figure) else f"{found:,}"


def _cell(figure: Figure) -> str:
    return "–" if figure.value is None else f"{figure.value:.2f} of {figure.n:,}"
