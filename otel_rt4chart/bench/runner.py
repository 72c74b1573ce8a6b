"""Verifies labelled answers and computes the metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.metrics import BenchScores, LabelledOutcome, score, score_by
from otel_rt4chart.verify.core.model import Exchange, Report

Verify = Callable[[Exchange], Report]


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The metrics of a run; `seconds` is the time of verification."""

    judge: str
    split: str
    overall: BenchScores
    tasks: tuple[BenchScores, ...]
    datasets: tuple[BenchScores, ...]
    seconds: float

    @property
    def claims_per_second(self) -> float | None:
        """None if no time passed."""
        return self.overall.claims / self.seconds if self.seconds > 0 else None


def run_bench(
    rows: Sequence[LabelledAnswer],
    verify: Verify,
    *,
    judge: str,
    split: str,
    clock: Callable[[], int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BenchResult:
    """Verify every row in order; `clock` returns nanoseconds."""
    started = clock()
    marked = {row.dataset for row in rows if row.spans}
    outcomes = []
    for done, row in enumerate(rows, start=1):
        report = verify(row.exchange)
        outcomes.append(
            compare_with_labels(row, report, has_spans=row.dataset in marked and row.has_spans)
        )
        progress(done, len(rows))
    seconds = (clock() - started) / 1e9
    return BenchResult(
        judge,
        split,
        score("overall", outcomes),
        score_by(lambda outcome: outcome.task or "(none)", outcomes),
        score_by(lambda outcome: outcome.dataset or "(none)", outcomes),
        seconds,
    )


def compare_with_labels(row: LabelledAnswer, report: Report, *, has_spans: bool) -> LabelledOutcome:
    """The labels of a row and of its report; without spans it is not part of the span metrics."""
    return LabelledOutcome(
        task=row.task,
        dataset=row.dataset,
        is_hallucinated=row.is_hallucinated,
        gold_label=row.label,
        predicted=report.label,
        gold_spans=tuple(span.range for span in row.spans) if has_spans else None,
        predicted_spans=tuple(claim.answer_range for claim in report.unfaithful),
        claims=report.decided,
    )
