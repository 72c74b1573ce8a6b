"""A run of `rt4chart verify`: rows in, rows out in the same order, and what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from otel_rt4chart.commands.side_by_side import in_order
from otel_rt4chart.commands.tally import PATIENCE, Tally
from otel_rt4chart.errors import InputError
from otel_rt4chart.rows import parse, report_row, row_from
from otel_rt4chart.verify.model import Report
from otel_rt4chart.verify.pipeline import Verifier


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
            value = parse(line)
            row = row_from(value, as_of=self._as_of)
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
