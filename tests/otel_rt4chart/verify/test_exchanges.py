"""Exchanged arguments, ends, sides, events and owners: what both judges never call supported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify import LocalJudge, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Passage

ENTAILED = AnswerLabel.ENTAILED
FLAGGED = (AnswerLabel.CONTRADICTED, AnswerLabel.BASELESS)
RULES = Verifier(RulesJudge())


@pytest.fixture(scope="module", params=["rules", "local"])
def verifier(request: pytest.FixtureRequest) -> Verifier:
    """Each judge that works without a key."""
    return Verifier(LocalJudge(threads=1)) if request.param == "local" else RULES


def label(verifier: Verifier, passage: str, claim: str) -> AnswerLabel:
    """The verdict on a claim beside one passage."""
    return verifier.verify(Exchange("", [Passage("p", passage)], claim)).label


EXCHANGED = (
    # a verb with two nouns, active and passive
    ("The pharmacy supplies the hospital.", "The hospital supplies the pharmacy."),
    ("The pharmacy supplies the hospital.", "The pharmacy is supplied by the hospital."),
    ("The tutor rates the student.", "The student rates the tutor."),
    ("The sponsor supports the club.", "The club supports the sponsor."),
    ("The pool is run by the hotel.", "The hotel is run by the pool."),
    ("The pool is run by the hotel.", "The pool runs the hotel."),
    ("The landlord must inform the tenant.", "The tenant must inform the landlord."),
    ("Guests tip the driver.", "The driver tips guests."),
    ("The buyer pays the shipping and the seller pays the refund.",
     "The seller pays the shipping."),
    ("Employees report to the lead, and the lead reports to the director.",
     "The lead reports to employees."),
    # from one end to the other
    ("Points move from the gold wallet to the silver wallet.",
     "Points move from the silver wallet to the gold wallet."),
    ("Convert miles from the airline to the hotel at a rate of 2 to 1.",
     "Convert miles from the hotel to the airline at a rate of 2 to 1."),
    ("The price rose from $8 to $9.", "The price rose from $9 to $8."),
    ("The desk is open from Monday to Thursday.", "The desk is open from Thursday to Monday."),
    # comparisons
    ("Level 2 is quieter than level 4.", "Level 4 is quieter than level 2."),
    ("Release 5 is faster than release 6.", "Release 6 is faster than release 5."),
    ("Standard delivery is slower than express delivery.",
     "Express delivery is slower than standard delivery."),
    ("Home insurance is less expensive than car insurance.",
     "Home insurance is more expensive than car insurance."),
    ("Members pay less than visitors.", "Visitors pay less than members."),
    ("The tent costs more than the cabin.", "The tent costs less than the cabin."),
    # events
    ("First remove the screws, then the panel.", "First remove the panel, then the screws."),
    ("First wash the apples, then the pears.", "Wash the pears before the apples."),
    ("Charge the scooter before you unlock it.", "Unlock it before you charge the scooter."),
    ("Once the payment clears, we ship the parcel.",
     "We ship the parcel before the payment clears."),
    # owners of numbers
    ("For the spa, use 555-0134; for the gym, use 555-0177.",
     "For the spa, use 555-0177; for the gym, use 555-0134."),
    ("The depot can be reached at 030 5550123, the shop at 030 5550188.",
     "The depot can be reached at 030 5550188."),
)  # fmt: skip


@pytest.mark.parametrize(("passage", "claim"), EXCHANGED)
def test_the_same_words_in_exchanged_places_are_never_supported(
    verifier: Verifier, passage: str, claim: str
) -> None:
    """Who does what to whom is part of the claim."""
    assert label(verifier, passage, claim) is not ENTAILED
    assert label(verifier, passage, passage) is ENTAILED


SAME = (
    ("The pharmacy supplies the hospital.", "The hospital is supplied by the pharmacy."),
    ("The pool is run by the hotel.", "The hotel runs the pool."),
    ("The landlord must inform the tenant.", "The tenant must be informed by the landlord."),
    ("Managers approve requests from employees.",
     "Requests from employees are approved by managers."),
    ("The buyer pays the shipping and the seller pays the refund.", "The seller pays the refund."),
    ("Employees report to the lead, and the lead reports to the director.",
     "The lead reports to the director."),
    ("The kit contains a lamp, a battery and a cable.",
     "The kit contains a cable, a battery and a lamp."),
    ("Points move from the gold wallet to the silver wallet.",
     "Points move to the silver wallet from the gold wallet."),
    ("The desk is open from Monday to Thursday.", "From Monday to Thursday, the desk is open."),
    ("Level 2 is quieter than level 4.", "Level 4 is louder than level 2."),
    ("Release 5 is faster than release 6.", "Release 6 is slower than release 5."),
    ("Home insurance is less expensive than car insurance.",
     "Car insurance is more expensive than home insurance."),
    ("The tent costs more than the cabin.", "The cabin costs less than the tent."),
    ("The ferry leaves later than the bus.", "The bus leaves earlier than the ferry."),
    ("First remove the screws, then the panel.", "Remove the screws before the panel."),
    ("Charge the scooter before you unlock it.", "Before you unlock it, charge the scooter."),
    ("Charge the scooter before you unlock it.", "Unlock it after you charge the scooter."),
    ("Once the payment clears, we ship the parcel.",
     "The payment clears before we ship the parcel."),
    ("For the spa, use 555-0134; for the gym, use 555-0177.", "For the gym, use 555-0177."),
)  # fmt: skip


@pytest.mark.parametrize(("passage", "claim"), SAME)
def test_the_same_in_another_order_is_never_flagged(
    verifier: Verifier, passage: str, claim: str
) -> None:
    """Passives, opposites and clauses in another order keep who does what."""
    assert label(verifier, passage, claim) not in FLAGGED
    assert label(RULES, passage, claim) is ENTAILED


NOUNS = ("broker", "courier", "school", "retailer", "nurse", "plumber", "library", "agency")
VERBS = (("bills", "billed"), ("calls", "called"), ("refunds", "refunded"), ("hires", "hired"),
         ("notifies", "notified"), ("informs", "informed"), ("invoices", "invoiced"))  # fmt: skip
LEADS = ("", "On weekdays, ", "After every order, ")
TAILS = ("", " by e-mail", " within three days")


@given(
    st.permutations(NOUNS), st.sampled_from(VERBS), st.sampled_from(LEADS), st.sampled_from(TAILS)
)
@settings(max_examples=80, deadline=None)
def test_rules_tell_who_acts_from_whom_it_concerns(
    nouns: list[str], verb: tuple[str, str], lead: str, tail: str
) -> None:
    """Whatever the nouns, the verb and what stands around them."""
    first, second = nouns[:2]
    active, passive = verb
    passage = f"{lead}the {first} {active} the {second}{tail}."

    assert label(RULES, passage, f"The {second} is {passive} by the {first}{tail}.") is ENTAILED
    assert label(RULES, passage, f"The {second} {active} the {first}{tail}.") is not ENTAILED
    assert label(RULES, passage, f"The {first} is {passive} by the {second}{tail}.") is not ENTAILED


def test_a_second_predicate_has_the_subject_of_the_first() -> None:
    """It is not repeated: nobody else covers the second thing."""
    passage = "The plan covers MRI scans only after prior authorization, and covers X-rays."

    assert label(RULES, passage, "The plan covers X-rays.") is ENTAILED


OPPOSITES = (("cheaper", "more expensive"), ("faster", "slower"), ("larger", "smaller"),
             ("lighter", "heavier"))  # fmt: skip


@given(
    st.sampled_from(["Tariff", "Level", "Release", "Lane", "Size"]),
    st.permutations(["2", "3", "14", "B", "D", "M"]),
    st.sampled_from(OPPOSITES),
)
@settings(max_examples=60, deadline=None)
def test_rules_tell_the_sides_of_a_comparison_apart(
    head: str, names: list[str], pair: tuple[str, str]
) -> None:
    """Letters and numbers are names there."""
    one, other = f"{head} {names[0]}", f"{head.lower()} {names[1]}"
    word, opposite = pair
    passage = f"{one} is {word} than {other}."
    turned = f"{head} {names[1]} is {{}} than {head.lower()} {names[0]}."

    assert label(RULES, passage, turned.format(opposite)) is ENTAILED
    assert label(RULES, passage, turned.format(word)) is not ENTAILED
    assert label(RULES, passage, f"{one} is {opposite} than {other}.") is not ENTAILED
