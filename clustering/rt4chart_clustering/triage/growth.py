"""The sizes at which an issue is looked at anew: titles, states, tickets."""

from __future__ import annotations

GROWTH = (10, 25, 50)


def growth_point(claims: int) -> int:
    """The highest of 10, 25, 50, 100, 250, 500, 1000, … that is reached, 0 below."""
    reached, scale = 0, 1
    while GROWTH[0] * scale <= claims:
        reached = max(point * scale for point in GROWTH if point * scale <= claims)
        scale *= 10
    return reached
