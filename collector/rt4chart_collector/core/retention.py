"""How many days the rows of each kind of table are kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retention:
    """Days by kind of table; `others` is for the tables of no named kind.

    Issues of 0 days are kept for ever.
    """

    others: int = 30
    spans: int = 30
    verdicts: int = 30
    issues: int = 0
    rollup: int = 400
