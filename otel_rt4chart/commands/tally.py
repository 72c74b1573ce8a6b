"""What the reports on many answers come to: labels, a rate with its interval, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from otel_rt4chart.judge_failure import asked_of, has_failed
from otel_rt4chart.plain import printable
from otel_rt4chart.rates import AnswerSums, Rate, claim_rate
from otel_rt4chart.verify.model import Label, Report

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
