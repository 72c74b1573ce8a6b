"""Compares a run with an earlier one over the same cases, in pairs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.gate.result import CaseResult, GateResult

MAX_EXACT_PAIRS = 14  # differing pairs up to which every combination of signs is tried
RANDOM_DRAWS = 20_000
SEED = 7
SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean shares, before and now, of the `pairs` cases that were decided in both runs.

    `p_value` is the probability of a rise at least this large if nothing has changed. `worse` and
    `better` are the ids of the cases whose share rose or fell.
    """

    pairs: int
    before: float
    now: float
    p_value: float
    worse: tuple[str, ...]
    better: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """True if the rise is significant."""
        return self.now > self.before and self.p_value < SIGNIFICANCE


def compare(before: GateResult, now: GateResult, measure: Measure = Measure.EITHER) -> Comparison:
    """Compare a run with an earlier one of the same judge; InputError if they share no case.

    A one-sided permutation test on the cases' differences: under no change, each difference is as
    likely to have the other sign (Fisher, The Design of Experiments, section 21).
    """
    check_comparable(before, now.judge, measure)
    earlier = {case.id: case.share(measure) for case in before.cases}
    pairs = [
        (case.id, then, share)
        for case in now.cases
        if (then := earlier.get(case.id)) is not None and (share := case.share(measure)) is not None
    ]
    if not pairs:
        raise InputError(
            "--baseline: expected a result over the same cases, but no case was decided in both "
            "runs: make a new baseline"
        )
    return Comparison(
        pairs=len(pairs),
        before=sum(then for _, then, _ in pairs) / len(pairs),
        now=sum(share for _, _, share in pairs) / len(pairs),
        p_value=permutation_p_value([share - then for _, then, share in pairs]),
        worse=tuple(name for name, then, share in pairs if share > then),
        better=tuple(name for name, then, share in pairs if share < then),
    )


def check_comparable(before: GateResult, judge: str, measure: Measure) -> None:
    """InputError if the earlier run had another judge, or did not look for misleading claims."""
    if not before.is_checked and measure is not Measure.UNFAITHFUL:
        raise InputError(
            f"--baseline: expected a result that counts {measure} claims, got one of an earlier "
            "version: make a new baseline, or pass --count unfaithful"
        )
    if before.judge != judge:
        raise InputError(
            f"--baseline: expected a result of the same judge ({judge}), got one of "
            f"{one_line(before.judge, 100)}, whose rates are not comparable: make a new baseline"
        )


def permutation_p_value(differences: Sequence[float]) -> float:
    """The share of sign combinations with a sum at least as large; 1 if nothing differs.

    All combinations for up to `MAX_EXACT_PAIRS` differences, else `RANDOM_DRAWS`, with one seed.
    """
    sizes = [abs(one) for one in differences if one]
    reached = sum(differences) - 1e-12
    if not sizes:
        return 1.0
    if len(sizes) <= MAX_EXACT_PAIRS:
        signs = list(itertools.product((-1, 1), repeat=len(sizes)))
        return sum(_sum(sizes, one) >= reached for one in signs) / len(signs)
    drawn = random.Random(SEED)  # noqa: S311 - a permutation test, no secret
    hits = sum(
        _sum(sizes, [1 if drawn.random() < 0.5 else -1 for _ in sizes]) >= reached
        for _ in range(RANDOM_DRAWS)
    )
    return (hits + 1) / (RANDOM_DRAWS + 1)


def _sum(sizes: Sequence[float], signs: Sequence[int]) -> float:
    return sum(size * sign for size, sign in zip(sizes, signs, strict=True))


def failed_cases(cases: Sequence[CaseResult], measure: Measure) -> list[CaseResult]:
    """The cases with a claim that the measure counts, those with the most first."""
    return sorted(
        (case for case in cases if case.count(measure)),
        key=lambda case: (-case.count(measure), case.id),
    )
