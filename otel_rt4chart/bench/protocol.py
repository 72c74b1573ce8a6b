"""The paper's protocol: the full pipeline, ablations, a grid of windows, and repeated runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from otel_rt4chart.bench.conflicts import score_conflicts
from otel_rt4chart.bench.metrics import ConfusionCounts
from otel_rt4chart.bench.paired import ComparedAnswer, PairedComparison, compare_runs, score_answer
from otel_rt4chart.bench.records import RowKey, row_key
from otel_rt4chart.bench.runner import BenchResult, JudgedAnswer
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.stages.options import PipelineStep, checked_steps

FULL = "full pipeline"
MetricRow = dict[str, float | None]


class PipelineVariant(NamedTuple):
    """A pipeline to measure."""

    name: str
    kind: Literal["full", "ablation", "window", "judge"]
    window: int
    overlap: int
    left_out: frozenset[PipelineStep] = frozenset()


@dataclass(frozen=True, slots=True)
class ProtocolRun:
    """One run of a variant over all answers; `repeat` counts from 1."""

    variant: PipelineVariant
    repeat: int
    result: BenchResult


class RunSpread(NamedTuple):
    """A metric over repeated runs; `deviation` is the sample's standard deviation."""

    metric: str
    mean: float | None
    deviation: float | None
    values: tuple[float | None, ...]


def plan_variants(
    base: tuple[int, int],
    ablations: Sequence[str],
    windows: Sequence[int],
    overlaps: Sequence[int],
) -> tuple[PipelineVariant, ...]:
    """The variants, the full pipeline first; `base` is its window and overlap.

    A single window and overlap is that of all variants. Of several, each pair that fits is one, and
    the full pipeline keeps the settings' own.
    """
    asked = [*product(windows or base[:1], overlaps or base[1:])]
    pairs = list(dict.fromkeys((window, overlap) for window, overlap in asked if overlap < window))
    if not pairs:
        raise InputError("--window, --overlap: expected an overlap that is less than its window")
    own = pairs[0] if len(set(asked)) == 1 else base
    full = PipelineVariant(FULL, "full", *own)
    grid = [
        PipelineVariant(f"window {window}, overlap {overlap}", "window", window, overlap)
        for window, overlap in pairs
        if (window, overlap) != own
    ]
    return (full, *(_ablation(written, own) for written in _each_step(ablations)), *grid)


def judge_variants(names: Sequence[str], base: tuple[int, int]) -> tuple[PipelineVariant, ...]:
    """A variant for each judge: its full pipeline with that window and overlap."""
    return tuple(PipelineVariant(name, "judge", *base) for name in dict.fromkeys(names))


def _each_step(ablations: Sequence[str]) -> list[str]:
    every = [step.value for step in PipelineStep]
    named = [one for name in ablations for one in (every if name == "all" else [name])]
    return list(dict.fromkeys(named))


def _ablation(written: str, own: tuple[int, int]) -> PipelineVariant:
    """The variant of `local`, or of several steps as in `local+decomposition`."""
    names = written.split("+")
    try:
        steps = checked_steps([PipelineStep(name) for name in names])
    except ValueError as error:
        known = ", ".join(PipelineStep)
        is_known = all(name in list(PipelineStep) for name in names)
        detail = str(error) if is_known else f"expected some of {known} or all, got {written!r}"
        raise InputError(f"--ablate: {detail}") from None
    return PipelineVariant(f"without {' and '.join(names)}", "ablation", *own, steps)


def first_runs(runs: Sequence[ProtocolRun]) -> list[ProtocolRun]:
    """The first run of each variant."""
    return [run for run in runs if run.repeat == 1]


def run_metrics(result: BenchResult) -> MetricRow:
    """The metrics of a run that are compared between variants and repeats."""
    found = score_conflicts(result.answers)
    answer, span = result.overall.answer, result.overall.span
    grounding = found.grounding.characters if found.grounding else ConfusionCounts()
    return {
        "precision": answer.precision,
        "recall": answer.recall,
        "F1": answer.f1,
        "balanced accuracy": answer.balanced_accuracy,
        "span F1": span.f1,
        "conflict F1": found.conflicts.f1 if found.conflicts else None,
        "baseless F1": found.baseless.f1 if found.baseless else None,
        "evidence F1": grounding.f1,
    }


def spreads(runs: Sequence[ProtocolRun]) -> tuple[RunSpread, ...]:
    """Mean and standard deviation of each metric over the repeats of one variant."""
    rows = [run_metrics(run.result) for run in runs]
    return tuple(_spread(name, [row[name] for row in rows]) for name in rows[0])


def _spread(name: str, values: Sequence[float | None]) -> RunSpread:
    known = [value for value in values if value is not None]
    return RunSpread(
        name,
        fmean(known) if known else None,
        stdev(known) if len(known) > 1 else None,
        tuple(values),
    )


@dataclass(frozen=True, slots=True)
class ProtocolResult:
    """All runs, and by name the first run of each other variant beside that of the first one.

    The variants are pipelines of one judge, of which the full one is the first, or judges.
    """

    runs: Sequence[ProtocolRun]
    against_first: Mapping[str, PairedComparison]

    @property
    def firsts(self) -> list[ProtocolRun]:
        """The first run of each variant."""
        return first_runs(self.runs)

    @property
    def compares_judges(self) -> bool:
        """True where the variants are judges."""
        return self.runs[0].variant.kind == "judge"

    @property
    def repeats(self) -> dict[str, tuple[RunSpread, ...]]:
        """Mean and spread of each variant by name; empty where nothing was repeated."""
        if not any(run.repeat > 1 for run in self.runs):
            return {}
        by_variant: dict[str, list[ProtocolRun]] = {}
        for run in self.runs:
            by_variant.setdefault(run.variant.name, []).append(run)
        return {name: spreads(some) for name, some in by_variant.items()}


def protocol_result(runs: Sequence[ProtocolRun]) -> ProtocolResult:
    """The runs with their comparisons, of which each takes a thousand samples."""
    first, *others = first_runs(runs)
    ours = scored_answers(first.result)
    against = {run.variant.name: compare_runs(ours, scored_answers(run.result)) for run in others}
    return ProtocolResult(runs, against)


def scored_answers(result: BenchResult) -> dict[RowKey, ComparedAnswer]:
    """The answers of a run by what identifies them."""
    return {row_key(answer.row): _scored(answer) for answer in result.answers}


def _scored(answer: JudgedAnswer) -> ComparedAnswer:
    row = answer.row
    spans = answer.outcome.gold_spans
    return score_answer(f"{row.dataset}/{row.group}", row.is_hallucinated, spans, answer.record)
