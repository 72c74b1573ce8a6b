"""How many answers fail each criterion, where every answer counts once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from otel_rt4chart.verify.criteria.model import CriterionOutcome


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """The answers of a criterion by outcome; `failed` are some of the `decided` ones."""

    decided: int = 0
    failed: int = 0
    not_applicable: int = 0
    undecided: int = 0

    def plus(self, outcome: CriterionOutcome) -> OutcomeCounts:
        """With one more answer."""
        return OutcomeCounts(
            self.decided + outcome.is_decided,
            self.failed + (outcome is CriterionOutcome.FAIL),
            self.not_applicable + (outcome is CriterionOutcome.NOT_APPLICABLE),
            self.undecided + (outcome is CriterionOutcome.UNDECIDED),
        )

    @property
    def rate(self) -> Rate:
        """The share of the decided answers that fail."""
        n, x = self.decided, self.failed
        return claim_rate(AnswerSums(n, n, n, x, n, x, x, n))

    def __str__(self) -> str:
        """Such as "2 of 20 answers fail (10.0%, 95% interval 2.8% to 30.1%), 1 undecided"."""
        rate = self.rate
        told = f"{self.failed} of {self.decided} answers fail"
        if rate.value is not None and rate.low is not None and rate.high is not None:
            told += f" ({rate.value:.1%}, 95% interval {rate.low:.1%} to {rate.high:.1%})"
        others = ((self.not_applicable, "not applicable"), (self.undecided, "undecided"))
        return ", ".join([told, *(f"{number} {what}" for number, what in others if number)])


class CriteriaCounts:
    """The counts of each criterion over many answers."""

    def __init__(self) -> None:
        """Counts of no answer."""
        self.by_name: dict[str, OutcomeCounts] = {}

    def add(self, name: str, outcome: CriterionOutcome) -> None:
        """Count the outcome of a criterion in one answer."""
        self.by_name[name] = self.by_name.get(name, OutcomeCounts()).plus(outcome)

    def lines(self) -> Iterator[str]:
        """A line for each criterion, by name."""
        yield from (f"{name}: {counts}" for name, counts in sorted(self.by_name.items()))
