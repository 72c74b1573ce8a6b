"""Exceptions, conditions and what is included: a claim that says both sides is never accused."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, LocalJudge, Passage, Verifier
from otel_rt4chart.verify.core.model import Label

# Passages, a claim that follows from them, and one that does not.
TWINS = (
    (
        ("Hearing aids are covered.", "Hearing aids are not covered in the first year."),
        "Hearing aids are covered, but not in the first year.",
        "Hearing aids are covered in the first year.",
    ),
    (
        ("Glasses are reimbursed.", "Members of the Starter plan are not reimbursed for glasses."),
        "Glasses are reimbursed, but not for members of the Starter plan.",
        "Members of the Starter plan are reimbursed for glasses.",
    ),
    (
        ("Refunds are not paid if the seal is broken.", "Refunds are paid within five days."),
        "Refunds are paid unless the seal is broken.",
        "Refunds are not paid unless the seal is broken.",
    ),
    (
        ("Dogs are allowed in all rooms.", "Dogs are not allowed in the restaurant."),
        "Dogs are allowed in all rooms except the restaurant.",
        "Dogs are allowed in the restaurant.",
    ),
    (
        ("The offer is not valid for existing customers.",),
        "The offer is valid for new customers, not for existing ones.",
        "The offer is valid for existing customers.",
    ),
    (
        ("Employees may work remotely. Interns may not work remotely.",),
        "Employees other than interns may work remotely.",
        "Interns may work remotely, but not on Fridays.",
    ),
    (
        ("The charger is sold separately.",),
        "The charger is not included.",
        "The charger is included.",
    ),
    (
        ("Breakfast is not included in the price.",),
        "Breakfast costs extra.",
        "Breakfast is included in the price.",
    ),
)


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    """With the embedded judge."""
    return Verifier(LocalJudge(threads=1))


def label(verifier: Verifier, passages: tuple[str, ...], answer: str) -> Label:
    """Of an answer that is one claim."""
    exchange = Exchange(
        question="",
        passages=[Passage(f"p{number}", text) for number, text in enumerate(passages, 1)],
        answer=answer,
    )
    (claim,) = verifier.verify(exchange).claims
    return claim.label


@pytest.mark.parametrize(("passages", "right", "wrong"), TWINS)
def test_a_claim_with_its_exception_is_not_called_unfaithful(
    passages: tuple[str, ...], right: str, wrong: str, verifier: Verifier
) -> None:
    """What it takes out is what the passage denies."""
    assert label(verifier, passages, right) in (Label.ENTAILED, Label.UNDECIDED)


@pytest.mark.parametrize(("passages", "right", "wrong"), TWINS)
def test_a_claim_that_turns_the_exception_round_is_not_called_entailed(
    passages: tuple[str, ...], right: str, wrong: str, verifier: Verifier
) -> None:
    """All of its words stand there."""
    assert label(verifier, passages, wrong) in (Label.CONTRADICTED, Label.UNDECIDED)


@pytest.mark.parametrize(
    ("passage", "claim", "reason"),
    [
        ("All countries except Norway are served.", "Norway is served.",
         "“Norway” in the answer, “except Norway” in passage p1"),
        ("Alice founded it in 1999. Bob became CEO in 2010.", "Bob founded the company in 1999.",
         "“Bob founded” in the answer, “Alice founded” in passage p1"),
        ("Shipping costs 5 dollars.", "Shipping is free.",
         "“is free” in the answer, “5 dollars” in passage p1"),
        ("Novak voted against the closure.", "Novak voted for the closure.",
         "“for the closure” in the answer, “against the closure” in passage p1"),
        ("Pets are not allowed in the rooms on the ground floor.",
         "Pets are allowed in the rooms on the ground floor.",
         "“allowed” in the answer, “not allowed” in passage p1"),
    ],
)  # fmt: skip
def test_a_reason_names_the_words_that_are_wrong(
    passage: str, claim: str, reason: str, verifier: Verifier
) -> None:
    """Not those that the passage has, too."""
    report = verifier.verify(Exchange("", [Passage("p1", passage)], claim))

    assert [(one.label, one.reason) for one in report.claims] == [(Label.CONTRADICTED, reason)]


def test_what_only_shares_the_excepted_name_is_not_contradicted(verifier: Verifier) -> None:
    """The exception is from another statement."""
    passage = "All countries except Norway are served."
    label_found = label(verifier, (passage,), "Norway has five million inhabitants.")

    assert label_found in (Label.BASELESS, Label.UNDECIDED)


def test_a_price_for_each_way_to_pay_is_not_exchanged(verifier: Verifier) -> None:
    """Both prices and both ways stand in the passage."""
    passage = "Pro costs $20 per user per month, billed annually, or $24 billed monthly."
    claim = "Pro costs $24 when paid yearly and $20 when paid month to month."

    assert label(verifier, (passage,), claim) in (Label.CONTRADICTED, Label.UNDECIDED)
