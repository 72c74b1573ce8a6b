"""Whether answers got worse: the same cases before and now, in pairs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.gate.result import CaseResult, GateResult

EXACT = 14  # pairs that differ of which every arrangement of signs is tried
DRAWS = 20_000
SEED = 7
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """`pairs` cases decided both times; the mean of their shares before and now.

    `p_value` is the probability of a rise at least this large where nothing has changed. `worse`
    and `better` are the ids of the cases whose share rose or fell.
    """

    pairs: int
    before: float
    now: float
    p_value: float
    worse: tuple[str, ...]
    better: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """True where chance explains the rise badly."""
        return self.now > self.before and self.p_value < LEVEL


def compare(before: GateResult, now: GateResult) -> Comparison:
    """Hold a run against an earlier one of the same judge; InputError where they share no case.

    A one-sided permutation test on the cases' differences: under no change, each difference is as
    likely to have the other sign (Fisher, The Design of Experiments, section 21).
    """
    check_judge(before, now.judge)
    earlier = {case.id: case.share for case in before.cases}
    pairs = [
        (case.id, then, share)
        for case in now.cases
        if (then := earlier.get(case.id)) is not None and (share := case.share) is not None
    ]
    if not pairs:
        raise InputError(
            "--baseline: expected a result over the same cases, got none that was decided both "
            "times; make the baseline anew"
        )
    return Comparison(
        pairs=len(pairs),
        before=sum(then for _, then, _ in pairs) / len(pairs),
        now=sum(share for _, _, share in pairs) / len(pairs),
        p_value=rise_by_chance([share - then for _, then, share in pairs]),
        worse=tuple(name for name, then, share in pairs if share > then),
        better=tuple(name for name, then, share in pairs if share < then),
    )


def check_judge(before: GateResult, judge: str) -> None:
    """InputError where the earlier run was another judge's: it measures another rate."""
    if before.judge != judge:
        raise InputError(
            f"--baseline: expected a result of the same judge ({judge}), got one of "
            f"{before.judge}: another judge measures another rate; make the baseline anew"
        )


def rise_by_chance(differences: Sequence[float]) -> float:
    """The share of arrangements of signs with a sum at least as large; 1 where nothing differs.

    All of them for up to `EXACT` differences, else `DRAWS` of them, always the same ones.
    """
    sizes = [abs(one) for one in differences if one]
    reached = sum(differences) - 1e-12
    if not sizes:
        return 1.0
    if len(sizes) <= EXACT:
        signs = list(itertools.product((-1, 1), repeat=len(sizes)))
        return sum(_sum(sizes, one) >= reached for one in signs) / len(signs)
    drawn = random.Random(SEED)  # noqa: S311 - a permutation test, no secret
    hits = sum(
        _sum(sizes, [1 if drawn.random() < 0.5 else -1 for _ in sizes]) >= reached
        for _ in range(DRAWS)
    )
    return (hits + 1) / (DRAWS + 1)


def _sum(sizes: Sequence[float], signs: Sequence[int]) -> float:
    return sum(size * sign for size, sign in zip(sizes, signs, strict=True))


def failed_cases(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Those with an unfaithful claim, the most of them first."""
    return sorted(
        (case for case in cases if case.unfaithful), key=lambda case: (-case.unfaithful, case.id)
    )
