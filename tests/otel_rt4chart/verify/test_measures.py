"""Units, currencies, ranges and bounds: what both judges never call supported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify import LocalJudge, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Label, Passage

ENTAILED, CONTRADICTED = AnswerLabel.ENTAILED, AnswerLabel.CONTRADICTED
UNDECIDED = AnswerLabel.UNDECIDED


@pytest.fixture(scope="module", params=["rules", "local"])
def verifier(request: pytest.FixtureRequest) -> Verifier:
    """Each judge that works without a key."""
    return Verifier(LocalJudge(threads=1) if request.param == "local" else RulesJudge())


def label(verifier: Verifier, passage: str, claim: str, question: str = "") -> AnswerLabel:
    """The verdict on a claim beside one passage."""
    return verifier.verify(Exchange(question, [Passage("p", passage)], claim)).label


@pytest.mark.parametrize(
    "bound", ["less than 4 weeks", "under 4 weeks", "more than 7 weeks", "over 7 weeks"]
)
@pytest.mark.parametrize("span", ["4 to 7 weeks", "between 4 and 7 weeks", "4-7 weeks"])
def test_a_bound_that_no_value_of_the_range_keeps_is_contradicted(
    verifier: Verifier, span: str, bound: str
) -> None:
    """The passage leaves no room for it."""
    passage = f"A passport takes {span}."

    assert label(verifier, passage, f"A passport takes {bound}.") is CONTRADICTED


@pytest.mark.parametrize(
    "bound", ["at most 4 weeks", "at least 7 weeks", "no more than 5 weeks", "over 5 weeks"]
)
def test_a_bound_that_a_part_of_the_range_keeps_is_undecided(
    verifier: Verifier, bound: str
) -> None:
    """It may hold, and it may not."""
    passage = "A passport takes 4 to 7 weeks."

    assert label(verifier, passage, f"A passport takes {bound}.") is UNDECIDED


@pytest.mark.parametrize("bound", ["at most 7 weeks", "at least 4 weeks", "up to 7 weeks"])
def test_a_bound_that_the_whole_range_keeps_is_supported(verifier: Verifier, bound: str) -> None:
    """It says less than the passage."""
    passage = "A passport takes 4 to 7 weeks."

    assert label(verifier, passage, f"A passport takes {bound}.") is ENTAILED


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Bake the bread at 220 °C.", "Bake the bread at 220 °F."),
        ("The cold room is kept at -5 °C.", "The cold room is kept at 5 °C."),
        ("Photos may have up to 12 MB.", "Photos may have up to 12 GB."),
        ("Children take 8 mg of the syrup.", "Children take 8 ml of the syrup."),
        ("The lane is limited to 30 mph.", "The lane is limited to 30 km/h."),
        ("The trail is 9 miles long.", "The trail is 9 km long."),
        ("The shelf is 6 feet wide.", "The shelf is 6 inches wide."),
        ("The dog weighs 40 lbs.", "The dog weighs 40 kg."),
        ("The talk takes 45 minutes.", "The talk takes 45 hours."),
        ("The course takes 6 weeks.", "The course takes 6 days."),
        ("The surcharge is 3 percent.", "The surcharge is 3 dollars."),
        ("The pass costs A$60.", "The pass costs US$60."),
        ("The pass costs C$60.", "The pass costs $60."),
        ("The pass costs R$60.", "The pass costs €60."),
        ("The pass costs Rs. 600.", "The pass costs $600."),
        ("The pass costs RM 60.", "The pass costs $60."),
        ("The pass costs ฿600.", "The pass costs $600."),
    ],
)
def test_the_same_number_with_another_unit_is_never_supported(
    verifier: Verifier, passage: str, claim: str
) -> None:
    """Units and currencies are part of the value."""
    assert label(verifier, passage, claim) is not ENTAILED
    assert label(verifier, passage, passage) is ENTAILED


@given(
    number=st.integers(2, 900),
    units=st.permutations(["kg", "miles", "litres", "GB", "minutes", "percent", "euros", "acres"]),
)
@settings(max_examples=60, deadline=None)
def test_rules_never_support_a_number_with_another_unit(number: int, units: list[str]) -> None:
    """Whatever the number is."""
    verifier = Verifier(RulesJudge())
    passage = f"The value in the record is {number} {units[0]}."

    assert label(verifier, passage, f"The value is {number} {units[1]}.") is not ENTAILED


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("The film has 2,500 MB.", "The film has 2.5 GB."),
        ("The talk takes 120 minutes.", "The talk takes 2 hours."),
        ("Bake the bread at 220 degrees Celsius.", "Bake the bread at 220 °C."),
        ("The pass costs US$60.", "The pass costs $60."),
        ("The pass costs AUD 60.", "The pass costs A$60."),
    ],
)
def test_the_same_value_in_another_unit_is_supported(
    verifier: Verifier, passage: str, claim: str
) -> None:
    """What converts agrees."""
    assert label(verifier, passage, claim) is ENTAILED


@given(
    name=st.sampled_from(["Plan", "Tier", "Room", "iPhone", "Windows"]), number=st.integers(1, 30)
)
@settings(max_examples=40, deadline=None)
def test_a_number_in_the_name_of_the_subject_agrees_with_no_other(name: str, number: int) -> None:
    """`Plan 1 lasts 14 days` says nothing of 31 days."""
    verifier = Verifier(RulesJudge())
    passage = f"{name} {number} lasts 47 days."

    assert label(verifier, passage, f"{name} {number} lasts 31 days.") is not ENTAILED
    assert label(verifier, passage, f"Its {name} {number} lasts 47 days.") is ENTAILED


TWO = "The basic tour takes 2 hours. The lunch break takes 45 minutes. Tickets cost 18 euros."


@pytest.mark.parametrize("answer", ["45 minutes.", "It takes 45 minutes.", "Yes, 45 minutes."])
def test_the_value_of_another_subject_does_not_answer_the_question(
    verifier: Verifier, answer: str
) -> None:
    """The question says what the answer is about."""
    assert label(verifier, TWO, answer, "How long is the basic tour?") is not ENTAILED


@pytest.mark.parametrize("answer", ["2 hours.", "It takes 2 hours."])
def test_the_value_of_the_subject_answers_the_question(verifier: Verifier, answer: str) -> None:
    """An answer need not repeat the question."""
    assert label(verifier, TWO, answer, "How long is the basic tour?") is ENTAILED


def test_an_answer_that_cannot_be_told_apart_is_undecided() -> None:
    """Two sentences answer the question as well."""
    passage = "In Lyon, the store opens at 9 am. In Nice, the store opens at 10 am."

    found = label(Verifier(RulesJudge()), passage, "At 10 am.", "When does the store open?")

    assert found is UNDECIDED


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Use the coupon TRIP35 in the app.", "Use the coupon 35TRIP in the app."),
        ("Your booking reference is KWM4RT.", "Your booking reference is KWM4TR."),
        ("Your booking code is LMNOPQ.", "Your booking code is LMNOQP."),
        ("The part number is KD-5561-R.", "The part number is KD-5561."),
        ("Your seat is 22F.", "Your seat is 22 D."),
        ("Your seat is 22F.", "Your seat is 22."),
        ("The PIN is 9315.", "The PIN is 09315."),
        ("Dial *62# to turn it off.", "Dial *62 to turn it off."),
        ("Dial *62# to turn it off.", "Dial #62* to turn it off."),
        ("Send us form T-4.", "Send us form 4T."),
        ("Please install release 7.11.2.", "Please install release 7.11.29."),
    ],
)
def test_another_code_is_never_supported(verifier: Verifier, passage: str, claim: str) -> None:
    """Letters and digits in another order, or fewer of them, are another code."""
    assert label(verifier, passage, claim) is not ENTAILED


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Your seat is 22F.", "Your seat is 22 F."),
        ("Send us form T-4.", "Send us the form T-4."),
        ("Dial *62# to turn it off.", "To turn it off, dial *62#."),
        ("Please install release 7.11.2.", "Please install the release 7.11.2."),
    ],
)
def test_the_same_code_with_other_spaces_is_supported(
    verifier: Verifier, passage: str, claim: str
) -> None:
    """Only letters and digits count."""
    assert label(verifier, passage, claim) is ENTAILED


SINGLE = "The trial lasts 21 days."


@pytest.mark.parametrize(
    "value",
    ["21+ days", ">21 days", "> 21 days", "<21 days", "≥21 days", "more than 21 days",
     "over 21 days", "21 days or more", "21-30 days", "7 to 21 days", "-21 days"],
)  # fmt: skip
def test_a_wider_value_than_a_single_one_is_never_supported(verifier: Verifier, value: str) -> None:
    """The passage gives one value, and leaves no others open."""
    assert label(verifier, SINGLE, f"The trial lasts {value}.") is not ENTAILED
    assert label(verifier, SINGLE, SINGLE) is ENTAILED


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("The trial lasts at least 21 days.", "The trial lasts 21+ days."),
        ("The trial lasts at least 21 days.", "The trial lasts ≥21 days."),
        ("The trial lasts more than 21 days.", "The trial lasts >21 days."),
        ("You must give 21 days notice.", "You must give at least 21 days notice."),
        ("The tour has 21 to 30 guests.", "The tour has 21-30 guests."),
    ],
)
def test_the_same_bound_by_a_sign_is_supported(
    verifier: Verifier, passage: str, claim: str
) -> None:
    """Signs are read as the words for them."""
    assert label(verifier, passage, claim) is ENTAILED


@pytest.mark.parametrize(
    ("passage", "claim", "same"),
    [
        ("Bake the bread at 95 C.", "Bake the bread at 95 F.", "Bake the bread at 95 °C."),
        ("Keep it cool at 8 °C.", "Keep it cool at 8F.", "Keep it cool at 8C."),
        ("Add 250 ml of water.", "Add 250 l of water.", "Add 250 mL of water."),
        ("Add 2 L of water.", "Add 2 ml of water.", "Add 2 litres of water."),
    ],
)
def test_bare_letters_are_units(verifier: Verifier, passage: str, claim: str, same: str) -> None:
    """C and F of temperatures, and litres."""
    assert label(verifier, passage, claim) is not ENTAILED
    assert label(verifier, passage, same) is ENTAILED


def test_a_seat_is_no_temperature() -> None:
    """A letter behind a number is a unit only where the text speaks of heat or cold."""
    rules = Verifier(RulesJudge())

    assert label(rules, "Meet at desk 8 C.", "Meet at desk 8 C in the hall.") is not CONTRADICTED
    assert label(rules, "Your seat is 22 F.", "Your seat is 22F.") is ENTAILED


@pytest.mark.parametrize("head", ["The code is", "Your token for the new printer is"])
@pytest.mark.parametrize("length", [1_100, 2_500, 6_000, 8_001])
def test_no_rump_of_a_cut_claim_is_supported(verifier: Verifier, head: str, length: int) -> None:
    """A claim with an endless word is read with a part of the word."""
    passage = Passage("p", f"{head} A1 for new users.")
    answer = f"{head} {'Z9' * (length // 2)} for new users."

    claims = verifier.verify(Exchange("", [passage], answer)).claims

    assert claims
    assert all(one.label is not Label.ENTAILED for one in claims)


def test_what_is_taken_off_is_not_below_zero(verifier: Verifier) -> None:
    """An amount behind "minus" is a fee, a temperature there is another one."""
    passage = "Unused weeks are paid back, minus a handling fee of 15 euros."

    found = label(verifier, passage, "Unused weeks are paid back, minus 15 euros.")

    assert found is not CONTRADICTED
    cold = label(verifier, "The store is kept at 18 °C.", "The store is kept at minus 18 °C.")
    assert cold in (CONTRADICTED, AnswerLabel.BASELESS)
