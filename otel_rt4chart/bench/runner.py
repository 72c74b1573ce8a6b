"""Verifies labelled answers and computes the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.metrics import BenchScores, LabelledOutcome, score, score_by
from otel_rt4chart.bench.records import AnswerRecord, RowKey, record_verdict, row_key
from otel_rt4chart.bench.rivals.verdict import HolisticVerdict
from otel_rt4chart.verify.core.model import Exchange, Report, Usage

Found = Report | HolisticVerdict
Verify = Callable[[Exchange], Found]


class JudgedAnswer(NamedTuple):
    """A labelled answer with what the judge said of it."""

    row: LabelledAnswer
    record: AnswerRecord
    outcome: LabelledOutcome


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The metrics of a run; `seconds` is the time of verification."""

    judge: str
    split: str
    overall: BenchScores
    tasks: tuple[BenchScores, ...]
    datasets: tuple[BenchScores, ...]
    seconds: float
    answers: tuple[JudgedAnswer, ...] = ()

    @property
    def is_holistic(self) -> bool:
        """True for a judge of whole answers, which has no claims and no spans."""
        return any(answer.record.is_holistic for answer in self.answers)

    @property
    def claims_per_second(self) -> float | None:
        """None if no time passed."""
        return self.overall.claims / self.seconds if self.seconds > 0 else None

    @property
    def usage(self) -> Usage:
        """What all answers have cost together; no cost where one has no known price."""
        used = [answer.record.usage for answer in self.answers]
        costs = [one.cost_usd for one in used]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            calls=sum(one.calls for one in used),
            input_tokens=sum(one.input_tokens for one in used),
            cached_tokens=sum(one.cached_tokens for one in used),
            output_tokens=sum(one.output_tokens for one in used),
            cache_hits=sum(one.cache_hits for one in used),
            cost_usd=sum(known) if len(known) == len(costs) else None,
        )


def run_bench(
    rows: Sequence[LabelledAnswer],
    verify: Verify,
    *,
    judge: str,
    split: str,
    clock: Callable[[], int],
    progress: Callable[[int, int], None] = lambda done, total: None,
    known: Mapping[RowKey, AnswerRecord] | None = None,
    keep: Callable[[LabelledAnswer, AnswerRecord, Found], None] = lambda row, record, found: None,
) -> BenchResult:
    """Verify every row in order, but those that are `known`; `clock` returns nanoseconds."""
    records = []
    for done, row in enumerate(rows, start=1):
        record = known.get(row_key(row)) if known else None
        if record is None:
            started = clock()
            found = verify(row.exchange)
            record = record_verdict(found, (clock() - started) / 1e9)
            keep(row, record, found)
        records.append(record)
        progress(done, len(rows))
    return bench_result(rows, records, judge=judge, split=split)


def bench_result(
    rows: Sequence[LabelledAnswer], records: Sequence[AnswerRecord], *, judge: str, split: str
) -> BenchResult:
    """The metrics of these records."""
    marked = {row.dataset for row in rows if row.spans}
    outcomes = [
        compare_with_labels(row, record, has_spans=row.dataset in marked and row.has_spans)
        for row, record in zip(rows, records, strict=True)
    ]
    return BenchResult(
        judge,
        split,
        score("overall", outcomes),
        score_by(lambda outcome: outcome.task or "(none)", outcomes),
        score_by(lambda outcome: outcome.dataset or "(none)", outcomes),
        sum(record.seconds for record in records),
        tuple(map(JudgedAnswer, rows, records, outcomes)),
    )


def compare_with_labels(
    row: LabelledAnswer, record: AnswerRecord, *, has_spans: bool
) -> LabelledOutcome:
    """The labels of a row and of its record; without spans it is not part of the span metrics."""
    return LabelledOutcome(
        task=row.task,
        dataset=row.dataset,
        is_hallucinated=row.is_hallucinated,
        gold_label=row.label,
        predicted=record.label,
        gold_spans=(
            tuple(span.range for span in row.spans)
            if has_spans and not record.is_holistic
            else None
        ),
        predicted_spans=tuple(claim.range for claim in record.unfaithful),
        claims=sum(claim.label.is_decided for claim in record.claims),
    )
