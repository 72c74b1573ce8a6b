"""Made cases on numbers."""

from __future__ import annotations

import random

import pytest
from written.number_cases import FAMILIES, number_cases
from written.number_words import ordinal, spelled


def test_cases_are_the_same_for_the_same_seed() -> None:
    """A training run can be done again."""
    first, again = (list(number_cases(random.Random(5), 150)) for _ in range(2))
    assert first == again
    assert len(first) == 150


@pytest.mark.parametrize("family", FAMILIES)
def test_no_claim_has_two_labels(family: object) -> None:
    """Every label has claims, and none of them is also another's."""
    assert callable(family)
    for seed in range(60):
        case = family(random.Random(seed))
        told = [*case.entailed, *case.contradicted, *case.baseless]
        assert case.entailed
        assert case.contradicted
        assert case.baseless
        assert len(told) == len(set(told)), case
        assert abs(len(case.entailed) - len(case.contradicted)) <= 2
        assert not any("{" in one for one in told)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (21, "twenty-one"),
        (105, "one hundred and five"),
        (1200, "one thousand two hundred"),
        (2_000_040, "two million and forty"),
    ],
)
def test_a_number_in_words(number: int, words: str) -> None:
    """As one says it."""
    assert spelled(number) == words


@pytest.mark.parametrize(
    ("number", "written"), [(1, "1st"), (12, "12th"), (22, "22nd"), (113, "113th")]
)
def test_an_ordinal(number: int, written: str) -> None:
    """With its ending."""
    assert ordinal(number) == written
