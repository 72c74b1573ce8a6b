"""Bench results as plain text for people and as values for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.bench.metrics import Counts, Scores
from otel_rt4chart.bench.runner import Result
from otel_rt4chart.bench.stages import Checked, Figure, Placed, Stages, mean, product
from otel_rt4chart.verify.core.cascade import threshold_for_error, threshold_for_share
from otel_rt4chart.verify.core.model import AnswerLabel

_HEAD = (
    "", "n", "unfaithful", "P", "R", "F1", "bAcc", "span P", "span R", "span F1", "undecided",
)  # fmt: skip
_LABELS = (AnswerLabel.ENTAILED, AnswerLabel.CONTRADICTED, AnswerLabel.BASELESS)


def render(result: Result) -> str:
    """The aligned table with the flag-all line under each overall figure."""
    overall = result.overall
    speed = number(result.claims_per_second, ".0f")
    lines = [
        f"judge {result.judge} · split {result.split} · {overall.answers} answers ·"
        f" {overall.claims} claims · {speed} claims/s",
        "",
        *aligned([_HEAD, *_rows(result)]),
    ]
    if overall.three_way:
        lines += ["", "labels told by people (rows) and by the judge (columns)"]
        lines += aligned(list(_confusion(overall)))
    return "\n".join(lines) + "\n"


def as_values(result: Result) -> Mapping[str, object]:
    """The same for `--json`; null where a figure is not defined."""
    return {
        "judge": result.judge,
        "split": result.split,
        "seconds": round(result.seconds, 3),
        "claims_per_second": result.claims_per_second,
        "overall": _values(result.overall),
        "tasks": {scores.name: _values(scores) for scores in result.tasks},
        "datasets": {scores.name: _values(scores) for scores in result.datasets},
    }


def number(figure: float | None, form: str = ".3f") -> str:
    """A dash where the figure is not defined."""
    return "–" if figure is None else format(figure, form)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
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


def _values(scores: Scores) -> Mapping[str, object]:
    return {
        "answers": scores.answers,
        "hallucinated": scores.hallucinated,
        "undecided": scores.undecided,
        "claims": scores.claims,
        "answer": _figures(scores.answer),
        "flag_all": _figures(scores.flag_all),
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


def _figures(counts: Counts) -> Mapping[str, float | None]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "balanced_accuracy": counts.balanced_accuracy,
    }


def _rows(result: Result) -> Iterator[Sequence[str]]:
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


def _line(scores: Scores) -> Sequence[str]:
    span = scores.span
    return (
        scores.name,
        str(scores.answers),
        str(scores.hallucinated),
        *_cells(scores.answer),
        *(number(figure) for figure in (span.precision, span.recall, span.f1)),
        str(scores.undecided),
    )


def _cells(counts: Counts) -> Iterator[str]:
    for figure in (counts.precision, counts.recall, counts.f1, counts.balanced_accuracy):
        yield number(figure)


def _confusion(scores: Scores) -> Iterator[Sequence[str]]:
    told = (*_LABELS, AnswerLabel.UNDECIDED, AnswerLabel.NO_CLAIMS)
    yield ("", *told)
    for gold in _LABELS:
        yield (gold, *(str(scores.three_way.get((gold, one), 0)) for one in told))


THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHARE = ERROR = 0.2  # what the two suggestions aim at

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
    " error: labels that people's spans deny"
)


class Level(NamedTuple):
    """A threshold: the share of claims under it, and the share of wrong labels on either side."""

    threshold: float
    escalated: Figure
    kept_error: Figure
    escalated_error: Figure


class Escalation(NamedTuple):
    """What thresholds do, and the two that would escalate, or leave wrong, about a fifth."""

    levels: tuple[Level, ...]
    for_share: float
    for_error: float


def escalation(checked: Iterable[Checked]) -> Escalation:
    """What a cascade would send on from this judge to its second one."""
    judged = [placed for one in checked for placed in one.claims if placed.is_linked]
    known = [one for one in judged if one.is_wrong is not None and one.claim.label.is_decided]
    return Escalation(
        tuple(_level(threshold, judged) for threshold in THRESHOLDS),
        threshold_for_share([_confidence(one) for one in judged], SHARE),
        threshold_for_error([(_confidence(one), not _is_error(one)) for one in known], ERROR),
    )


def _level(threshold: float, judged: Sequence[Placed]) -> Level:
    known = [one for one in judged if one.is_wrong is not None]
    return Level(
        threshold,
        mean(_confidence(one) < threshold for one in judged),
        mean(_is_error(one) for one in known if _confidence(one) >= threshold),
        mean(_is_error(one) for one in known if _confidence(one) < threshold),
    )


def _confidence(one: Placed) -> float:
    """As a cascade sees it: what is undecided goes on whatever the threshold."""
    return one.claim.confidence if one.claim.label.is_decided else 0.0


def _is_error(one: Placed) -> bool:
    return one.is_flagged != one.is_wrong


def render_stages(overall: Stages, datasets: Sequence[Stages]) -> str:
    """The product first, then each stage with its parts, then what the words mean."""
    rows = [*datasets, overall] if len(datasets) > 1 else [overall]
    lines = aligned([("stages", *_STAGES, "product", "answers' bAcc"), *map(_summary, rows)])
    for title, parts in _tables(rows):
        lines += ["", *aligned([(title, *parts[0]), *_named(rows, parts)])]
    lines += ["", *_weakest(overall), *(f"{name}: {said}." for name, said in _MEANING.items())]
    return "\n".join(lines) + "\n"


def stage_values(overall: Stages, datasets: Sequence[Stages]) -> Mapping[str, object]:
    """The same for `--json`; null where a figure is not defined."""
    return {
        "overall": _stage_values(overall),
        "datasets": {one.name: _stage_values(one) for one in datasets},
    }


def render_escalation(found: Escalation) -> str:
    """A line a threshold, then the suggestions."""
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


def _summary(one: Stages) -> Sequence[str]:
    figures = [*one.stages.values(), product(one.stages.values())]
    return (one.name, *(number(figure, ".2f") for figure in figures), _cell(_balanced(one.answers)))


def _tables(rows: Sequence[Stages]) -> Iterator[tuple[str, list[Sequence[str]]]]:
    """For each stage its columns' names, then the cells of each row."""
    for stage in _STAGES:
        parts = [_parts(one)[stage] for one in rows]
        yield stage, [tuple(parts[0]), *(tuple(map(_shown, one.values())) for one in parts)]


def _named(rows: Sequence[Stages], parts: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    for one, cells in zip(rows, parts[1:], strict=True):
        yield one.name, *cells


def _parts(one: Stages) -> Mapping[str, Mapping[str, Figure | int]]:
    """The figures of each stage by name; a plain number is a count."""
    counts = one.claims
    flagged = counts.true_positive + counts.false_positive
    wrong = counts.true_positive + counts.false_negative
    return {
        "extraction": {
            "recall": one.recall,
            "grounded": one.grounded,
            "atomic": one.atomic,
            "kept": one.kept,
        },
        "linking": {"linked": one.linked, "agreement": one.agreement},
        "classification": {
            "balanced accuracy": _balanced(counts),
            "precision": Figure(counts.precision if wrong else None, flagged),
            "recall": Figure(counts.recall, wrong),
            "false alarms": counts.false_positive,
            "misses": counts.false_negative,
        },
        "localisation": {"hit": one.hit, "overlap": one.overlap, "length": one.length},
    }


def _balanced(counts: Counts) -> Figure:
    unflagged = counts.true_negative + counts.false_negative
    total = counts.true_positive + counts.false_positive + unflagged
    return Figure(counts.balanced_accuracy, total)


def _weakest(overall: Stages) -> Iterator[str]:
    figures = {name: figure for name, figure in overall.stages.items() if figure is not None}
    if figures:
        name = min(figures, key=figures.__getitem__)
        yield f"most is lost in {name} ({figures[name]:.2f})"
        yield ""


def _stage_values(one: Stages) -> Mapping[str, object]:
    parts = {
        stage: {
            name.replace(" ", "_"): found._asdict() if isinstance(found, Figure) else found
            for name, found in figures.items()
        }
        for stage, figures in _parts(one).items()
    }
    return {stage: {"figure": one.stages[stage], **figures} for stage, figures in parts.items()} | {
        "product": product(one.stages.values()),
        "answer_balanced_accuracy": _balanced(one.answers)._asdict(),
    }


def _shown(found: Figure | int) -> str:
    return _cell(found) if isinstance(found, Figure) else f"{found:,}"


def _cell(figure: Figure) -> str:
    return "–" if figure.value is None else f"{figure.value:.2f} of {figure.n:,}"
