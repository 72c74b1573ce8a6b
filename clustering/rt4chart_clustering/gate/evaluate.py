"""Decides whether the gate passes, with the reasons if it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.criteria.counts import OutcomeCounts
from rt4chart_clustering.gate.compare import SIGNIFICANCE, Comparison
from rt4chart_clustering.gate.result import GateResult

if TYPE_CHECKING:
    # The options of the command read this module, and need no database.
    from otel_rt4chart.judges.criteria import CriteriaJudge
    from rt4chart_clustering.gate.stored_comparison import StoredComparison

COUNTED = {
    Measure.UNFAITHFUL: "unfaithful",
    Measure.MISLEADING: "misleading",
    Measure.EITHER: "unfaithful or misleading",
}


# The judge `local` is not sure of a fifth of the claims, on some data of a third.
MAX_UNDECIDED = 0.4


@dataclass(frozen=True, slots=True)
class GateLimits:
    """The allowed share of the claims that `count` says, and that of undecided claims.

    `criteria` has the allowed share of the answers that fail each criterion that the gate is about.
    """

    max_rate: float
    max_undecided: float = MAX_UNDECIDED
    count: Measure = Measure.EITHER
    criteria: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a value above 1: a percentage by mistake would let everything pass."""
        for name in ("max_rate", "max_undecided"):
            share = getattr(self, name)
            # A flag would be a number to Python: True would let everything pass.
            if type(share) not in (int, float) or not 0 <= share <= 1:
                raise InputError(f"{name}: expected a share from 0 to 1, got {share!r}")


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """A run, its limits and comparison, and the reasons to fail: empty if the gate passes.

    `stored` is the comparison of its release in the store, None if there is none.
    """

    result: GateResult
    limits: GateLimits
    comparison: Comparison | None
    reasons: tuple[str, ...]
    stored: StoredComparison | None = None

    @property
    def is_open(self) -> bool:
        """True if the gate passes."""
        return not self.reasons


def check_criteria(limits: Mapping[str, float], judge: CriteriaJudge | None) -> None:
    """InputError for a limit on a criterion that nothing judges: it would let everything pass."""
    known = [] if judge is None else [one.name for one in judge.criteria.all]
    for name in limits:
        if name not in known:
            set_ones = ", ".join(known) or "none, as RT4CHART_CRITERIA names no file"
            raise InputError(f"--criterion: expected one of {set_ones}; got {name!r}")


def evaluate_gate(
    result: GateResult, limits: GateLimits, comparison: Comparison | None
) -> GateOutcome:
    """Check the run against the limits and, if there is one, the baseline."""
    return GateOutcome(result, limits, comparison, tuple(_reasons(result, limits, comparison)))


def _reasons(
    result: GateResult, limits: GateLimits, comparison: Comparison | None
) -> Iterator[str]:
    errors = [case for case in result.cases if case.error]
    if errors:
        yield f"{len(errors)} of {len(result.cases)} cases have no verdict: {errors[0].error}"
    rate = result.rate(limits.count).value
    decided = sum(case.decided for case in result.cases)
    undecided = sum(case.undecided for case in result.cases)
    if rate is None:
        yield "no claim was decided, so there is no rate"
    elif rate > limits.max_rate:
        yield (
            f"{rate:.1%} of the claims are {COUNTED[limits.count]}, "
            f"at most {limits.max_rate:.1%} is allowed"
        )
    if undecided and undecided > limits.max_undecided * (decided + undecided):
        yield (
            f"{undecided} of {decided + undecided} claims are undecided, at most "
            f"{limits.max_undecided:.0%} is allowed"
        )
    for name, limit in limits.criteria.items():
        yield from _criterion_reasons(name, limit, result.criterion(name), limits.max_undecided)
    if comparison is not None and comparison.is_worse:
        yield (
            f"worse than the baseline: {comparison.before:.1%} before, {comparison.now:.1%} now "
            f"over {comparison.pairs} cases (p = {comparison.p_value:.3f} < {SIGNIFICANCE})"
        )


def _criterion_reasons(
    name: str, limit: float, found: OutcomeCounts, max_undecided: float
) -> Iterator[str]:
    rate = found.rate.value
    if rate is None:
        yield f"{name}: no answer was decided, so there is no rate"
    elif rate > limit:
        yield f"{name}: {found}; at most {limit:.1%} is allowed"
    if found.undecided > max_undecided * (found.decided + found.undecided):
        yield (
            f"{name}: {found.undecided} of {found.decided + found.undecided} answers are "
            f"undecided, at most {max_undecided:.0%} is allowed"
        )
