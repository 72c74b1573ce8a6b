"""When two quantities agree, and an index of quantities by value."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from otel_rt4chart.verify.language.units import UNITS, are_other_currencies
from otel_rt4chart.verify.language.values import WRITTEN_OUT, Bound, Quantity

_ROUNDING = 0.02  # without a hedge, a rounded value may differ by this share
_ROUNDED_DIGITS = 6  # a number with more significant digits is not a rounded one


def values_agree(claimed: Quantity, found: Quantity) -> bool:
    """True where the found value supports the claimed one, with regard to rounding and hedges."""
    if are_other_currencies(claimed.unit, found.unit):
        return False
    left, right = claimed.base[1], found.base[1]
    if claimed.base[0] != found.base[0]:
        left, right = claimed.value, found.value
    if claimed.period != found.period and claimed.period and found.period:
        if claimed.rate[0] != found.rate[0]:
            return False
        left, right = claimed.rate[1], found.rate[1]
    if math.isclose(left, right, rel_tol=1e-9) and not _have_other_digits(claimed, found):
        return True
    if claimed.bound == "at_least":
        return found.bound != "at_most" and left < right <= left * 1.5
    if claimed.bound == "at_most":
        return found.bound != "at_least" and left * 0.5 <= right < left
    if claimed.bound == "about":
        return abs(left - right) <= 0.06 * max(abs(left), abs(right))
    is_near = abs(left - right) <= _ROUNDING * abs(right)
    is_rounded = claimed.digits <= _ROUNDED_DIGITS and claimed.digits < found.digits < WRITTEN_OUT
    return is_near and is_rounded and _rounded(right, claimed.digits) == left


def _have_other_digits(one: Quantity, other: Quantity) -> bool:
    """True for two values without a conversion between them that are not the same to a digit.

    Floating point numbers cannot tell 90071992547409930 from 90071992547409931.
    """
    factors = {UNITS.get(unit, ("", 1.0))[1] for unit in (one.unit, other.unit)}
    if len(factors) > 1 or (one.period != other.period and one.period and other.period):
        return False
    if one.written == other.written and one.scale == other.scale:
        return False
    exact, other_exact = one.exact, other.exact
    return exact is not None and other_exact is not None and exact != other_exact


def is_same_value(one: Quantity, other: Quantity) -> bool:
    """True for equal values with the same bound, in whatever unit or over whatever period."""
    if one.kind != other.kind or one.bound != other.bound:
        return False
    if are_other_currencies(one.unit, other.unit):
        return False
    if one.period and other.period:
        left, right = one.rate, other.rate
    else:
        left, right = one.base, other.base
    is_close = left[0] == right[0] and math.isclose(left[1], right[1])
    return is_close and not _have_other_digits(one, other)


# For each bound the values, as shares of the claimed one, that `values_agree` may accept.
_REACH: dict[Bound, tuple[float, float]] = {
    "exact": (0.97, 1.03),
    "about": (0.93, 1.07),
    "at_least": (0.99, 1.51),
    "at_most": (0.49, 1.01),
}


@dataclass(frozen=True, slots=True)
class QuantityIndex:
    """The distinct quantities of a context, in the order of the values that `keys` has."""

    keys: tuple[float, ...]
    ordered: tuple[Quantity, ...]

    def like(self, claimed: Quantity) -> Iterable[Quantity]:
        """A superset of the quantities that agree with the claimed one."""
        low, high = _REACH[claimed.bound]
        for value in _index_values(claimed):
            left = bisect_left(self.keys, value * low)
            yield from self.ordered[left : bisect_right(self.keys, value * high, lo=left)]


EMPTY_INDEX = QuantityIndex((), ())


def _index_values(one: Quantity) -> frozenset[float]:
    """The values under which a quantity is found: its own, in base units, and as a rate."""
    return frozenset((one.value, one.base[1], *((one.rate[1],) if one.period else ())))


def index_quantities(found: Iterable[Quantity]) -> QuantityIndex:
    """The index, with a quantity under each of its values."""
    distinct = {one.key: one for one in found}
    keyed = {(value, key): one for key, one in distinct.items() for value in _index_values(one)}
    ordered = sorted(keyed)
    return QuantityIndex(tuple(key[0] for key in ordered), tuple(keyed[key] for key in ordered))


def _rounded(value: float, digits: int) -> float:
    if value == 0:
        return 0.0
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def same_kind(claimed: Quantity, found: Quantity) -> bool:
    """True where both count the same thing, so that different values of them conflict.

    Of two numbers without a unit, the word before them decides: `rose to 4 million`.
    """
    return claimed.kind == found.kind != ""
