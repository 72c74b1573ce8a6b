"""Verification of many exchanges: side by side, results in order, and a tally of the labels."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.judges.failure import asked_of, has_failed
from otel_rt4chart.verify.core.json_rows import parse_row, read_row, report_row
from otel_rt4chart.verify.core.model import Label, Report
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from otel_rt4chart.verify.pipeline import Verifier

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """Each item's result; `jobs` threads work, and twice as many items are held at most.

    Where the reader stops, or is interrupted, what has not begun never does.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="rt4chart-verify")
    held: deque[Future[R]] = deque()
    try:
        for item in items:
            held.append(pool.submit(work, item))
            while held and (held[0].done() or len(held) >= 2 * jobs):
                yield held.popleft().result()
        while held:
            yield held.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


PATIENCE = 5  # answers in a row without a word from the judge, then nobody waits any longer
_LABELS = (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED)
_SHOWN = 3


class Tally:
    """Counts reports as they come, in the answers' order."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.labels: Counter[Label] = Counter()
        self.reasons: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._asked = self._answered = self._failed_in_a_row = 0

    def add(self, report: Report) -> None:
        """Count one report."""
        self.labels.update(one.label for one in report.claims if one.label in _LABELS)
        undecided = [one for one in report.claims if one.label is Label.UNDECIDED]
        self.reasons.update(printable(one.reason or "no reason given") for one in undecided)
        m, x = report.decided, len(report.unfaithful)
        self._sums.update(answers=m > 0, m=m, x=x, xx=x * x, xm=x * m, mm=m * m)
        theirs = asked_of(report)
        if theirs:
            self._asked += 1
            self._answered += any(one.label.is_decided for one in theirs)
            self._failed_in_a_row = self._failed_in_a_row + 1 if has_failed(theirs) else 0

    @property
    def is_hopeless(self) -> bool:
        """True where the judge has failed for `PATIENCE` answers in a row."""
        return self._failed_in_a_row >= PATIENCE

    @property
    def is_silent(self) -> bool:
        """True where an endpoint was needed, and decided nothing at all."""
        return self._asked > 0 and self._answered == 0

    @property
    def main_reason(self) -> str:
        """Why most of the undecided claims are undecided."""
        return next((reason for reason, _ in self.reasons.most_common(1)), "")

    @property
    def claims(self) -> int:
        """All claims, the undecided ones too."""
        return self.labels.total()

    @property
    def undecided(self) -> int:
        """How many claims are undecided."""
        return self.labels[Label.UNDECIDED]

    @property
    def rate(self) -> Rate:
        """The share of unfaithful claims among the decided, and its 95 % interval."""
        told = self._sums
        m, x = told["m"], told["x"]
        return claim_rate(
            AnswerSums(told["answers"], m, m, x, m, told["xx"], told["xm"], told["mm"])
        )

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        if self.claims:
            counts = (f"{self.labels[one]} {one} ({self._share(one):.0%})" for one in _LABELS)
            yield f"{self.claims} claims: {', '.join(counts)}"
            yield self._rate_line()
        yield from self.undecided_lines()
        if 2 * self.undecided > self.claims:
            yield "warning: over half of the claims are undecided, and the rate is of the others"

    def undecided_lines(self) -> Iterator[str]:
        """The most frequent reasons, nothing where every claim was decided."""
        for reason, count in self.reasons.most_common(_SHOWN):
            yield f"undecided: {count} × {reason}"
        others = sum(count for _, count in self.reasons.most_common()[_SHOWN:])
        if others:
            yield f"undecided: {others} × other reasons"

    def _share(self, label: Label) -> float:
        return self.labels[label] / self.claims

    def _rate_line(self) -> str:
        rate = self.rate
        if rate.value is None or rate.low is None or rate.high is None:
            return "hallucination rate: none, for no claim was decided"
        return (
            f"hallucination rate {rate.value:.1%} of {self._sums['m']} decided claims"
            f" (95% interval {rate.low:.1%} to {rate.high:.1%})"
        )


def advice(name: str) -> str:
    """What to do about a judge that gives no verdicts."""
    return f"`rt4chart doctor --judge {name}` tries it with one call and says what came"


class _Done(NamedTuple):
    row: dict[str, Any]
    report: Report | None = None


class Run:
    """Verifies `jobs` rows at once; `stopped` says why the later ones were not verified."""

    def __init__(self, verifier: Verifier, *, as_of: str, jobs: int = 1) -> None:
        """`as_of` is the date of the rows that have none."""
        self._verifier = verifier
        self._as_of = as_of
        self._jobs = jobs
        self._spent = Spent()
        self.tally = Tally()
        self.count = self.errors = 0
        self.stopped = ""

    def rows(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """A row out for each row in; a bad one carries its line number and an `error`."""
        given = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
        for done in in_order(self._verified, given, self._jobs):
            self._add(done)
            yield done.row

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        yield f"{self.count} rows, {self.errors} with an error"
        yield from self.tally.lines()
        if spent := str(self._spent):
            yield spent

    def _verified(self, given: tuple[int, bytes]) -> _Done:
        number, line = given
        value: Mapping[str, Any] = {}
        try:
            value = parse_row(line)
            row = read_row(value, as_of=self._as_of)
            if self.stopped:
                raise InputError(f"not verified: {self.stopped}")
            report = self._verifier.verify(row.exchange)
            return _Done(report_row(row, report), report)
        except InputError as error:
            return _Done({"id": value.get("id"), "line": number, "error": str(error)})

    def _add(self, done: _Done) -> None:
        self.count += 1
        self.errors += done.report is None
        if done.report is None:
            return
        self._spent.add(done.row["usage"])
        self.tally.add(done.report)
        if self.tally.is_hopeless and not self.stopped:
            self.stopped = (
                f"stopped, for {PATIENCE} answers in a row got no verdict: {self.tally.main_reason}"
            )


class Spent:
    """What an endpoint's calls came to, over all rows."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._sums: Counter[str] = Counter()
        self._is_priced = True

    def add(self, usage: Mapping[str, Any]) -> None:
        """Count a row's usage."""
        self._sums.update({name: value for name, value in usage.items() if value})
        self._is_priced &= "cost_usd" in usage

    def __str__(self) -> str:
        """Nothing where nothing was asked of an endpoint, nor found in its cache."""
        sums = self._sums
        if not (sums["calls"] or sums["cache_hits"]):
            return ""
        cost = f"{sums['cost_usd']:.4f} USD" if self._is_priced else "price unknown"
        return (
            f"{sums['calls']} calls, {sums['input_tokens']} prompt +"
            f" {sums['output_tokens']} completion tokens, {cost},"
            f" {sums['cache_hits']} verdicts from the cache"
        )
