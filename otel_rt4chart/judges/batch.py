"""Verification of many exchanges: concurrently, results in order, with a summary."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.judges.criteria import CriteriaJudge, with_criteria
from otel_rt4chart.judges.judge_failure import all_failed, remotely_judged_claims
from otel_rt4chart.verify.core.json_rows import parse_row, read_row, report_row
from otel_rt4chart.verify.core.model import Action, Label, Report
from otel_rt4chart.verify.core.rates import AnswerSums, Measure, Rate, claim_rate
from otel_rt4chart.verify.criteria.counts import CriteriaCounts
from otel_rt4chart.verify.criteria.model import CriterionVerdict, criterion_rows
from otel_rt4chart.verify.pipeline import Verifier

T = TypeVar("T")
R = TypeVar("R")


def map_in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """The result of each item, in order, from `jobs` threads; at most `2 * jobs` items wait.

    If the caller stops reading, items that have not started are cancelled.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    # Results behind a slow item wait for it. The bound limits their memory, and reading further
    # items of an input that may be endless.
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="rt4chart-verify")
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            while waiting and (waiting[0].done() or len(waiting) >= 2 * jobs):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


MAX_FAILURES_IN_A_ROW = 5  # answers without any verdict, then a run stops
_LABELS = (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED)
_MAX_REASONS = 3


class BatchSummary:
    """Counts labels, reasons and failures over many reports, in the order of the answers."""

    def __init__(self) -> None:
        """Counts of no report."""
        self.labels: Counter[Label] = Counter()
        self.reasons: Counter[str] = Counter()
        self.actions: Counter[Action] = Counter()
        self._sums: dict[Measure, Counter[str]] = {measure: Counter() for measure in Measure}
        self._calls = self._answered = self._failed_in_a_row = 0

    def add(self, report: Report) -> None:
        """Count one report."""
        self.labels.update(claim.label for claim in report.claims if claim.label in _LABELS)
        undecided = [claim for claim in report.claims if claim.label is Label.UNDECIDED]
        self.reasons.update(printable(claim.reason or "no reason given") for claim in undecided)
        self.actions[report.advice.action] += 1
        for measure, sums in self._sums.items():
            decided, counted = report.decided, len(report.counted(measure))
            # What the ratio estimator in verify/core/rates needs: an answer's claims are a cluster.
            sums.update(
                answers=decided > 0,
                m=decided,
                x=counted,
                xx=counted * counted,
                xm=counted * decided,
                mm=decided * decided,
            )
        remote = remotely_judged_claims(report)
        if remote:
            is_answered = any(claim.label.is_decided for claim in remote)
            self._count_call(is_answered=is_answered, has_failed=all_failed(remote))

    def add_whole(self, reason: str) -> None:
        """Count a verdict on a whole answer; `reason` where there is none."""
        self.reasons.update([printable(reason)] if reason else [])
        self._count_call(is_answered=not reason, has_failed=bool(reason))

    def _count_call(self, *, is_answered: bool, has_failed: bool) -> None:
        self._calls += 1
        self._answered += is_answered
        self._failed_in_a_row = self._failed_in_a_row + 1 if has_failed else 0

    @property
    def is_hopeless(self) -> bool:
        """True if the judge failed on so many answers in a row that further calls are pointless."""
        return self._failed_in_a_row >= MAX_FAILURES_IN_A_ROW

    @property
    def stop_reason(self) -> str:
        """Why a run that `is_hopeless` stops."""
        count = MAX_FAILURES_IN_A_ROW
        return f"stopped: {count} answers in a row got no verdict: {self.main_reason}"

    @property
    def is_silent(self) -> bool:
        """True if an endpoint was needed and decided no claim of any answer."""
        return self._calls > 0 and self._answered == 0

    @property
    def main_reason(self) -> str:
        """The most frequent reason of undecided claims."""
        return next((reason for reason, _ in self.reasons.most_common(1)), "")

    @property
    def claims(self) -> int:
        """The number of claims, including undecided ones."""
        return self.labels.total()

    @property
    def undecided(self) -> int:
        """The number of undecided claims."""
        return self.labels[Label.UNDECIDED]

    def rate(self, measure: Measure) -> Rate:
        """The measure's share of the decided claims, with its 95% interval."""
        sums = self._sums[measure]
        decided, unfaithful = sums["m"], sums["x"]
        return claim_rate(
            AnswerSums(
                sums["answers"],
                decided,
                decided,
                unfaithful,
                decided,
                sums["xx"],
                sums["xm"],
                sums["mm"],
            )
        )

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        if self.claims:
            counts = (
                f"{self.labels[label]} {label} ({self._share(label):.0%})" for label in _LABELS
            )
            yield f"{self.claims} claims: {', '.join(counts)}"
            yield from self._rate_lines()
        if any(self.actions[one] for one in Action if one):
            yield "answers: " + ", ".join(f"{self.actions[one]} {one}" for one in Action if one)
        yield from undecided_lines(self.reasons)
        if 2 * self.undecided > self.claims:
            yield "warning: over half of the claims are undecided; the rate covers the others only"

    def _share(self, label: Label) -> float:
        return self.labels[label] / self.claims

    def _rate_lines(self) -> Iterator[str]:
        """A line for each rate, which are never added up here: they measure two failures."""
        for measure in (Measure.UNFAITHFUL, Measure.MISLEADING):
            rate = self.rate(measure)
            if rate.value is None or rate.low is None or rate.high is None:
                yield f"{measure} rate: none, because no claim was decided"
                continue
            yield (
                f"{measure} rate {rate.value:.1%} of {self._sums[measure]['m']} decided claims"
                f" (95% interval {rate.low:.1%} to {rate.high:.1%})"
            )


def judge_advice(name: str) -> str:
    """How to diagnose a judge that gives no verdicts."""
    return f"`rt4chart doctor --judge {name}` tests it with one call and prints the result"


class _RowResult(NamedTuple):
    row: dict[str, Any]
    report: Report | None = None
    criteria: tuple[CriterionVerdict, ...] = ()


class BatchRun:
    """Verifies `jobs` rows at a time; `stopped` says why later rows were not verified."""

    def __init__(
        self,
        verifier: Verifier,
        *,
        as_of: str,
        jobs: int = 1,
        criteria: CriteriaJudge | None = None,
    ) -> None:
        """`as_of` is the date of rows without one; each is also judged by the `criteria`."""
        self._verifier = verifier
        self._criteria = criteria
        self.outcomes = CriteriaCounts()
        self._as_of = as_of
        self._jobs = jobs
        self._spent = UsageTotals()
        self.summary = BatchSummary()
        self.count = self.errors = 0
        self.stopped = ""

    def rows(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """One output row for each input row; a bad row gets its line number and an `error`."""
        numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
        for done in map_in_order(self._verify, numbered, self._jobs):
            self._add(done)
            yield done.row

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        yield f"{self.count} rows, {self.errors} with an error"
        yield from self.summary.lines()
        yield from self.outcomes.lines()
        if spent := str(self._spent):
            yield spent

    def _verify(self, numbered: tuple[int, bytes]) -> _RowResult:
        number, line = numbered
        value: Mapping[str, Any] = {}
        try:
            value = parse_row(line)
            row = read_row(value, as_of=self._as_of)
            # Checked after parsing, so that malformed rows get their own error all the same.
            if self.stopped:
                raise InputError(f"not verified: {self.stopped}")
            report = self._verifier.verify(row.exchange)
            report, judged = with_criteria(self._criteria, row, report)
            told = {"criteria": criterion_rows(judged)} if judged else {}
            return _RowResult(report_row(row, report) | told, report, judged)
        except InputError as error:
            return _RowResult({"id": value.get("id"), "line": number, "error": str(error)})

    def _add(self, done: _RowResult) -> None:
        self.count += 1
        self.errors += done.report is None
        if done.report is None:
            return
        self._spent.add(done.row["usage"])
        self.summary.add(done.report)
        for one in done.criteria:
            self.outcomes.add(one.name, one.outcome)
        if self.summary.is_hopeless and not self.stopped:
            self.stopped = self.summary.stop_reason


class UsageTotals:
    """Calls, tokens and costs of an endpoint over all rows."""

    def __init__(self) -> None:
        """Counts of no report."""
        self._sums: Counter[str] = Counter()
        self._is_priced = True

    def add(self, usage: Mapping[str, Any]) -> None:
        """Add the usage of a row."""
        self._sums.update({name: value for name, value in usage.items() if value})
        self._is_priced &= "cost_usd" in usage

    def __str__(self) -> str:
        """The totals; empty if there were neither calls nor cache hits."""
        sums = self._sums
        if not (sums["calls"] or sums["cache_hits"]):
            return ""
        cost = f"{sums['cost_usd']:.4f} USD" if self._is_priced else "price unknown"
        return (
            f"{sums['calls']} calls, {sums['input_tokens']} prompt +"
            f" {sums['output_tokens']} completion tokens, {cost},"
            f" {sums['cache_hits']} verdicts from the cache"
        )


def undecided_lines(reasons: Counter[str]) -> Iterator[str]:
    """The most frequent reasons of undecided claims; no line if every claim was decided."""
    for reason, count in reasons.most_common(_MAX_REASONS):
        yield f"undecided: {count} × {reason}"
    others = sum(count for _, count in reasons.most_common()[_MAX_REASONS:])
    if others:
        yield f"undecided: {others} × other reasons"
