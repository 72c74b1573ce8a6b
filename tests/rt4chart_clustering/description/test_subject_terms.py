"""What the claims of an issue are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.description.subject_terms import subject_of

SUPPORT = tuple(
    f"The {plan} plan includes phone support {when}."
    for plan, when in zip(
        ("basic", "team", "family", "student", "yearly"),
        ("at night", "on Sundays", "in French", "for free", "by experts"),
        strict=True,
    )
)
OTHERS = (
    "The basic plan costs 5 euros.",
    "The team plan has 20 seats.",
    "The family plan ends after a year.",
    "Invoices of a plan are sent on the first of the month.",
    "The yearly plan is paid in advance.",
    "With a plan, backups are kept for 30 days.",
)


def test_the_words_that_the_claims_share_and_the_others_lack_are_the_subject() -> None:
    """Two neighbouring words if most claims have both."""
    assert subject_of(SUPPORT, OTHERS, "docs") == "phone support"


def test_a_unit_is_no_subject() -> None:
    """A fee of 25 euros after 30 days is not about days."""
    things = ("reader", "case", "cable", "stand", "printer")
    claims = [f"The {thing} is returned within {at} days." for at, thing in enumerate(things, 11)]

    assert subject_of(claims, [*SUPPORT, *OTHERS[:5]], "docs") == ""


def test_words_that_the_others_have_too_are_no_subject() -> None:
    """A plan is what the whole route is about."""
    claims = ["The gold plan.", "A plan ends.", "Any plan.", "A blue plan.", "That plan grew."]

    assert subject_of(claims, OTHERS, "docs") == ""


def test_words_of_the_route_are_no_subject() -> None:
    """They stand beside it."""
    assert subject_of(SUPPORT, OTHERS, "support/phone") == ""


@pytest.mark.parametrize(
    "claims", [SUPPORT[:4], SUPPORT[:1] * 9, ()], ids=["few", "one repeated", "none"]
)
def test_few_different_claims_have_no_subject(claims: tuple[str, ...]) -> None:
    """Chance would name it."""
    assert subject_of(claims, OTHERS, "docs") == ""


def test_without_other_claims_there_is_no_subject() -> None:
    """Nothing says what is usual on the route."""
    assert subject_of(SUPPORT, OTHERS[:2], "docs") == ""


@pytest.mark.parametrize("word", ["reported", "article", "really", "14", "the", "competitive"])
def test_verbs_meta_words_and_numbers_are_no_subject(word: str) -> None:
    """They say nothing about what went wrong where."""
    claims = [f"{word} {name}" for name in ("ants", "bees", "cats", "dogs", "elks", "foxes")]

    assert subject_of(claims, OTHERS, "docs") == ""


def test_a_name_keeps_its_capitals() -> None:
    """As most claims write it."""
    claims = [f"{who} works with SAP." for who in ("Ann", "Bob", "Cleo", "Dave", "Eve")]

    assert subject_of(claims, OTHERS, "docs") == "SAP"


@given(st.lists(st.text(), max_size=8), st.lists(st.text(), max_size=8), st.text())
def test_a_subject_stands_in_most_of_the_claims(
    claims: list[str], others: list[str], route: str
) -> None:
    """Whatever is given."""
    found = subject_of(claims, others, route).lower()

    holding = [claim for claim in set(claims) if found in claim.lower()]
    assert not found or len(holding) >= 0.4 * len(set(claims))
