"""The sections of the judge's table: answers, claims, spans, kinds of error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from benchmarks.judge.figures import Tally, auroc, intervals, macro_f1
from benchmarks.judge.gold import Judged, known_claims, outcomes, telling
from benchmarks.judge.tables import Cell, Table
from otel_rt4chart.bench.metrics import score
from otel_rt4chart.verify.core.model import AnswerLabel, Label

# A system's verdicts on the same answers, by its name.
Runs = Mapping[str, Sequence[Judged]]

ALL, MEAN = "all", "mean"
_ANSWER_LABELS = (AnswerLabel.ENTAILED, AnswerLabel.CONTRADICTED, AnswerLabel.BASELESS)
_LABELS = (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS)


def parts(judged: Sequence[Judged]) -> dict[str, Sequence[Judged]]:
    """The answers by data set, then all of them."""
    names = sorted({one.row.dataset for one in judged})
    return {name: [one for one in judged if one.row.dataset == name] for name in names} | {
        ALL: judged
    }


def answers(runs: Runs) -> Table:
    """Whole answers: as labelled, and as ranked by the most doubtful claim."""
    head = ("data", "system", "n", "unfaithful", "bAcc", "95% low", "95% high", "AUROC",
            "P", "R", "F1", "flag-all F1", "undecided", "no claims")  # fmt: skip
    note = (
        "Flagged as the system labels, at its own threshold. Interval of bAcc: bootstrap over"
        " documents. mean: of the data sets' figures. Answers that are undecided, or without a"
        " claim, are not flagged, but for ai-evaluation."
    )
    by_system = {name: _answer_rows(judged) for name, judged in runs.items()}
    order = [part for rows in by_system.values() for part in rows]
    rows = [
        (part, name, *found[part])
        for part in dict.fromkeys(order)
        for name, found in by_system.items()
    ]
    return Table("1. Answers", note, head, rows)


def _answer_rows(judged: Sequence[Judged]) -> dict[str, Sequence[Cell]]:
    found = {part: _answer_row(inside) for part, inside in parts(judged).items()}
    own = [row for part, row in found.items() if part != ALL]
    interval = intervals([_tallies(one) for part, one in parts(judged).items() if part != ALL])[1]
    means = [_mean([row[at] for row in own]) for at in range(len(own[0]))]
    total = sum(row[1] for row in own if isinstance(row[1], int))
    found[MEAN] = (
        len(judged),
        total,
        means[2],
        *(interval or (None, None)),
        *means[5:10],
        None,
        None,
    )
    return found


def _answer_row(judged: Sequence[Judged]) -> Sequence[Cell]:
    scores = score("", outcomes(judged))
    named = {name: inside for name, inside in parts(judged).items() if name != ALL}
    interval = intervals([_tallies(inside) for inside in named.values()])[0]
    truths = [one.row.is_hallucinated for one in judged]
    counts = scores.answer
    return (
        scores.answers, scores.hallucinated, counts.balanced_accuracy, *(interval or (None, None)),
        auroc([one.verdict.unfaithful for one in judged], truths),
        counts.precision, counts.recall, counts.f1, scores.flag_all.f1, scores.undecided,
        sum(not one.verdict.claims for one in judged),
    )  # fmt: skip


def _mean(cells: Iterable[Cell]) -> float | None:
    known = [cell for cell in cells if isinstance(cell, (int, float))]
    return fmean(known) if known else None


def _tallies(judged: Sequence[Judged]) -> list[Tally]:
    """Counts by document."""
    groups: dict[str, list[tuple[bool, bool]]] = {}
    for row, verdict in judged:
        pair = row.is_hallucinated, verdict.label.is_unfaithful
        groups.setdefault(row.group, []).append(pair)
    cells = ((True, True), (True, False), (False, True), (False, False))
    return [Tally(*(pairs.count(cell) for cell in cells)) for pairs in groups.values()]


def claims(runs: Runs) -> Table:
    """Single claims, and the three labels."""
    head = ("data", "system", "claims", "wrong", "AUROC", "told claims", "macro-F1",
            "told answers", "answers' macro-F1")  # fmt: skip
    note = (
        "A claim that meets a marked span has its kind; of answers marked as a whole only single"
        " claims count. Told: of data sets where people told contradicted from baseless."
    )
    return Table("2. Claims and the three labels", note, head, _by_part(runs, _claim_row))


def _claim_row(judged: Sequence[Judged]) -> Sequence[Cell]:
    known = known_claims(judged)
    told_sets = telling(one.row for one in judged)
    told = [one for one in known if one.dataset in told_sets and one.kind is not None]
    whole = [
        (one.row.label, one.verdict.label)
        for one in judged
        if one.row.dataset in told_sets and one.row.label is not None
    ]
    truths = [one.is_wrong for one in known]
    return (
        len(known), sum(truths), auroc([one.said.unfaithful for one in known], truths),
        len(told), macro_f1([(one.kind, one.said.label) for one in told], _LABELS),
        len(whole), macro_f1(whole, _ANSWER_LABELS),
    )  # fmt: skip


def spans(runs: Runs) -> Table:
    """The flagged characters."""
    head = ("data", "system", "answers", "P", "R", "F1")
    note = (
        "By characters, each counted once, over the answers whose spans say all that is wrong."
        " ai-evaluation tells no place: a whole piece of the answer is taken for it."
    )
    return Table("3. Spans", note, head, _by_part(runs, _span_row))


def _span_row(judged: Sequence[Judged]) -> Sequence[Cell]:
    found = outcomes(judged)
    span = score("", found).span
    marked = sum(one.gold_spans is not None for one in found)
    return (marked, span.precision, span.recall, span.f1)


def kinds(runs: Runs, named: Mapping[str, frozenset[str]]) -> Table:
    """Which kinds of error are found; `named` are an answer's kinds, by its id."""
    head = ("kind", "system", "n", "recall", "n alone", "recall alone", "faithful", "false alarms")
    note = (
        "Answers flagged, of those with the kind, and of those with no other; false alarms among"
        " the faithful answers of the same data sets. Answers without a kind go by their label."
    )
    every = {kind for judged in runs.values() for one in judged for kind in _kinds(one, named)}
    rows = [
        (kind, name, *_kind_row(kind, judged, named))
        for kind in sorted(every)
        for name, judged in runs.items()
    ]
    return Table("6. Kinds of error", note, head, rows)


def _kind_row(
    kind: str, judged: Sequence[Judged], named: Mapping[str, frozenset[str]]
) -> Sequence[Cell]:
    having = [one for one in judged if kind in _kinds(one, named)]
    alone = [one for one in having if len(_kinds(one, named)) == 1]
    inside = {one.row.dataset for one in having}
    good = [one for one in judged if one.row.dataset in inside and not one.row.is_hallucinated]
    return (
        len(having), _flagged(having), len(alone), _flagged(alone), len(good), _flagged(good),
    )  # fmt: skip


def _kinds(one: Judged, named: Mapping[str, frozenset[str]]) -> frozenset[str]:
    if not one.row.is_hallucinated:
        return frozenset()
    label = one.row.label.value if one.row.label else "not told"
    return named.get(one.row.id) or frozenset([f"{one.row.dataset}: {label}"])


def _flagged(judged: Sequence[Judged]) -> float | None:
    return _mean(one.verdict.label.is_unfaithful for one in judged)


def _by_part(runs: Runs, row: Callable[[Sequence[Judged]], Sequence[Cell]]) -> list[Sequence[Cell]]:
    """A row for each data set and each system."""
    cut = {name: parts(judged) for name, judged in runs.items()}
    names = dict.fromkeys(part for found in cut.values() for part in found)
    return [(part, name, *row(cut[name][part])) for part in names for name in runs]
