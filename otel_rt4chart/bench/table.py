"""A bench result as plain text for people and as values for machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.bench.metrics import Counts, Scores
from otel_rt4chart.bench.runner import Result
from otel_rt4chart.verify.model import AnswerLabel

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
