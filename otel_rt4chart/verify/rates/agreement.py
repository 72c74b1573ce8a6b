"""How far people who label the same claims agree, beyond chance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

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
    pairs = defaultdict(list)
    for given in labels.values():
        for rater, label in given.items():
            pairs[rater] += [(label, other) for name, other in given.items() if name != rater]
    return {rater: cohen_kappa(found) for rater, found in sorted(pairs.items())}


Unit = TypeVar("Unit", bound=tuple[str, ...])


def _with_interval(
    units: Sequence[Unit], measure: Callable[[Sequence[Unit]], float | None]
) -> Agreement:
    """The measure with the jackknife's interval (Efron and Tibshirani 1993, chapter 11)."""
    value = measure(units)
    left_out: dict[Unit, float | None] = {}
    for at, unit in enumerate(units):
        if unit not in left_out:
            left_out[unit] = measure([*units[:at], *units[at + 1 :]])
    known = [found for unit in units if (found := left_out[unit]) is not None]
    if value is None or len(known) < max(len(units), 2):
        return Agreement(value, None, None, len(units))
    mean = sum(known) / len(known)
    spread = sum((one - mean) ** 2 for one in known) * (len(known) - 1) / len(known)
    half = Z_95 * math.sqrt(spread)
    return Agreement(value, max(value - half, -1.0), min(value + half, 1.0), len(units))


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    total = len(pairs)
    if not total:
        return None
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    chance = sum(first[label] * second[label] for label in first) / total**2
    if chance == 1:
        return None
    return (sum(one == other for one, other in pairs) / total - chance) / (1 - chance)


def _alpha(claims: Sequence[tuple[str, ...]]) -> float | None:
    """1 - observed / expected disagreement, from the matrix of coincidences."""
    counts = [Counter(labels) for labels in claims]
    totals: Counter[str] = Counter()
    for count in counts:
        totals.update(count)
    values = totals.total()
    expected = values**2 - sum(count * count for count in totals.values())
    if not expected:
        return None
    observed = sum(
        (count.total() ** 2 - sum(one * one for one in count.values())) / (count.total() - 1)
        for count in counts
    )
    return 1 - (values - 1) * observed / expected
