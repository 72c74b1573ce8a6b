"""Made cases on numbers, units, times, tables and JSON: each family knows its own labels."""

from __future__ import annotations

import random
from collections.abc import Iterator

from written.amount_cases import AMOUNT_FAMILIES
from written.change_cases import CHANGE_FAMILIES
from written.number_words import Family, NumberCase
from written.price_cases import PRICE_FAMILIES
from written.record_cases import RECORD_FAMILIES
from written.rule_cases import RULE_FAMILIES
from written.table_cases import TABLE_FAMILIES
from written.time_cases import TIME_FAMILIES
from written.unit_cases import UNIT_FAMILIES

__all__ = ["FAMILIES", "NumberCase", "number_cases"]

FAMILIES: tuple[Family, ...] = (
    *AMOUNT_FAMILIES,
    *CHANGE_FAMILIES,
    *UNIT_FAMILIES,
    *PRICE_FAMILIES,
    *TIME_FAMILIES,
    *TABLE_FAMILIES,
    *RECORD_FAMILIES,
    *RULE_FAMILIES,
)


def number_cases(chance: random.Random, count: int) -> Iterator[NumberCase]:
    """So many cases, the families in turn; the same for the same seed."""
    left: list[Family] = []
    for _ in range(count):
        if not left:
            left = chance.sample(FAMILIES, len(FAMILIES))
        yield left.pop()(chance)
