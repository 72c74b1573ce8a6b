"""Verify labelled answers and keep what the figures need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.bench.dataset import Row
from otel_rt4chart.bench.metrics import Outcome, Scores, score, score_by
from otel_rt4chart.verify.core.model import Exchange, Report

Verify = Callable[[Exchange], Report]


@dataclass(frozen=True, slots=True)
class Result:
    """A finished run; `seconds` is the time spent verifying."""

    judge: str
    split: str
    overall: Scores
    tasks: tuple[Scores, ...]
    datasets: tuple[Scores, ...]
    seconds: float

    @property
    def claims_per_second(self) -> float | None:
        """None where no time passed."""
        return self.overall.claims / self.seconds if self.seconds > 0 else None


def run_bench(
    rows: Sequence[Row],
    verify: Verify,
    *,
    judge: str,
    split: str,
    clock: Callable[[], int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Result:
    """Verify every row in order; `clock` tells nanoseconds."""
    started = clock()
    marked = {row.dataset for row in rows if row.spans}
    outcomes = []
    for done, row in enumerate(rows, start=1):
        report = verify(row.exchange)
        outcomes.append(outcome_of(row, report, has_spans=row.dataset in marked and row.has_spans))
        progress(done, len(rows))
    seconds = (clock() - started) / 1e9
    return Result(
        judge,
        split,
        score("overall", outcomes),
        score_by(lambda outcome: outcome.task or "(none)", outcomes),
        score_by(lambda outcome: outcome.dataset or "(none)", outcomes),
        seconds,
    )


def outcome_of(row: Row, report: Report, *, has_spans: bool) -> Outcome:
    """A row's labels beside its report; without spans it takes no part in the span figures."""
    return Outcome(
        task=row.task,
        dataset=row.dataset,
        is_hallucinated=row.is_hallucinated,
        gold_label=row.label,
        predicted=report.label,
        gold_spans=tuple(span.range for span in row.spans) if has_spans else None,
        predicted_spans=tuple(claim.answer_range for claim in report.unfaithful),
        claims=report.decided,
    )
