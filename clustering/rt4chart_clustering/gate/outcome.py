"""Whether the gate opens, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.gate.compare import LEVEL, Comparison
from rt4chart_clustering.gate.result import GateResult


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is allowed: a share of unfaithful claims, and a share of claims left undecided."""

    max_rate: float
    max_undecided: float = 0.2

    def __post_init__(self) -> None:
        """Refuse what is no share: a percentage would open the gate to everything."""
        for name in ("max_rate", "max_undecided"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(
                    f"{name}: expected a share from 0 to 1, got {getattr(self, name)!r}"
                )


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, what it was held against, and why the gate stays shut: empty where it opens."""

    result: GateResult
    bounds: Bounds
    comparison: Comparison | None
    reasons: tuple[str, ...]

    @property
    def is_open(self) -> bool:
        """True where nothing stands against it."""
        return not self.reasons


def outcome(result: GateResult, bounds: Bounds, comparison: Comparison | None) -> Outcome:
    """Hold the run against the bounds and, where there is one, the baseline."""
    return Outcome(result, bounds, comparison, tuple(_reasons(result, bounds, comparison)))


def _reasons(result: GateResult, bounds: Bounds, comparison: Comparison | None) -> Iterator[str]:
    errors = [case for case in result.cases if case.error]
    if errors:
        yield f"{len(errors)} of {len(result.cases)} cases have no verdict: {errors[0].error}"
    rate = result.rate.value
    decided = sum(case.decided for case in result.cases)
    undecided = sum(case.undecided for case in result.cases)
    if rate is None:
        yield "no claim was decided, so there is no rate"
    elif rate > bounds.max_rate:
        yield f"the rate is {rate:.1%}, at most {bounds.max_rate:.1%} is allowed"
    if undecided and undecided > bounds.max_undecided * (decided + undecided):
        yield (
            f"{undecided} of {decided + undecided} claims are undecided, at most "
            f"{bounds.max_undecided:.0%} is allowed"
        )
    if comparison is not None and comparison.is_worse:
        yield (
            f"worse than the baseline: {comparison.before:.1%} before, {comparison.now:.1%} now "
            f"over {comparison.pairs} cases (p = {comparison.p_value:.3f} < {LEVEL})"
        )
