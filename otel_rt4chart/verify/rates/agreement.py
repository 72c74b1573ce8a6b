"""How far people who label the same claims agree, beyond chance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from otel_rt4chart.verify.core.rates import Z_95

# The upper end of an agreement that is still no better than fair (Landis and Koch 1977).
FAIR = 0.4


@dataclass(frozen=True, slots=True)
class Agreement:
    """An agreement with its 95% interval: 1 is perfect, 0 is that of chance.

    `value` is None where everybody gave one label to everything: chance agrees as well. `claims`
    have two labels or more.
    """

    value: float | None
    low: float | None
    high: float | None
    claims: int

    @property
    def is_poor(self) -> bool:
        """True if even the upper end is at most fair, as with labels that are given at random."""
        return self.high is not None and self.high <= FAIR


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """The agreement of two raters (Cohen 1960); each pair is of one claim."""
    return _with_interval(pairs, _kappa)


def krippendorff_alpha(claims: Iterable[Sequence[str]]) -> Agreement:
    """The agreement of any number of raters, of whom some may be absent, on nominal labels.

    Krippendorff, Content Analysis (2004), section 11.3. Each sequence has the labels of one claim;
    claims with fewer than two do not count.
    """
    return _with_interval([tuple(sorted(labels)) for labels in claims if len(labels) > 1], _alpha)


def agreement_by_rater(labels: Mapping[str, Mapping[str, str]]) -> dict[str, Agreement]:
    """The kappa of each rater with all others, by claim and rater; a random rater stands out."""
    pairs: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for given in labels.values():
        for rater, label in given.items():
            pairs[rater] += [(label, other) for name, other in given.items() if name != rater]
    return {rater: cohen_kappa(found) for rater, found in sorted(pairs.items())}


Unit = TypeVar("Unit", bound=tuple[str, ...])


class _Disagreement(NamedTuple):
    """The observed and the expected share of disagreeing pairs; agreement is 1 - their ratio."""

    observed: float
    expected: float

    def logarithm(self, claims: int) -> float:
        """The logarithm of the ratio, with half a disagreement more so that it is finite."""
        return math.log((self.observed + 0.5 / claims) / self.expected)


def _with_interval(
    units: Sequence[Unit], measure: Callable[[Sequence[Unit]], _Disagreement | None]
) -> Agreement:
    """The agreement with an interval by the jackknife (Efron and Tibshirani 1993, chapter 11).

    It is taken of the logarithm of the disagreement, which few disagreements make skewed. Without
    any, its upper end is the share of which as many claims would be free 5% of the time.
    """
    total, found = len(units), measure(units)
    if found is None:
        return Agreement(None, None, None, total)
    value = 1 - found.observed / found.expected
    if not found.observed:
        low = 1 - (1 - 0.05 ** (1 / total)) / found.expected
        return Agreement(value, max(low, -1.0), value, total)
    # Equal claims are left out with equal effect.
    kinds = {unit: measure([*units[:at], *units[at + 1 :]]) for at, unit in enumerate(units)}
    logs = [one.logarithm(total) for unit in units if (one := kinds[unit]) is not None]
    if len(logs) < total:
        return Agreement(value, None, None, total)
    mean = sum(logs) / total
    half = Z_95 * math.sqrt(sum((one - mean) ** 2 for one in logs) * (total - 1) / total)
    centre = found.logarithm(total)
    low, high = 1 - math.exp(centre + half), 1 - math.exp(centre - half)
    return Agreement(value, max(min(low, value), -1.0), max(high, value), total)


def _kappa(pairs: Sequence[tuple[str, str]]) -> _Disagreement | None:
    total = len(pairs)
    if not total:
        return None
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    chance = sum(first[label] * second[label] for label in first) / total**2
    if chance == 1:
        return None
    return _Disagreement(sum(one != other for one, other in pairs) / total, 1 - chance)


def _alpha(claims: Sequence[tuple[str, ...]]) -> _Disagreement | None:
    """From the matrix of coincidences, where a pair of a claim of m labels counts 1 / (m - 1)."""
    counts = [Counter(labels) for labels in claims]
    totals: Counter[str] = Counter()
    for count in counts:
        totals.update(count)
    values = totals.total()
    different = values**2 - sum(count * count for count in totals.values())
    if not different:
        return None
    observed = sum(
        (count.total() ** 2 - sum(one * one for one in count.values())) / (count.total() - 1)
        for count in counts
    )
    return _Disagreement(observed / values, different / (values * (values - 1)))
