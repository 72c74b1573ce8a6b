"""What of a claim may follow from the passages: no clash is found in it, and none is lost."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.differences import SETTLED
from otel_rt4chart.verify.local.features import read_claim
from otel_rt4chart.verify.local.verdict import CLASHING

AGAINST = (*CLASHING, "swapped", "missing", "elsewhere")


def differences(claim: str, *passages: str) -> set[tuple[str, str]]:
    """The manner and the claim's words of each difference of a value or a word."""
    found = read_claim(
        read_slots(claim), read_context([one for text in passages for one in text.split("  ")])
    ).differences
    return {(one.manner, one.claimed) for one in found}


def settled(claim: str, *passages: str) -> set[str]:
    """The claim's words that nothing is known against."""
    return {words for manner, words in differences(claim, *passages) if manner in SETTLED}


def against(claim: str, *passages: str) -> set[str]:
    """The claim's words that something is known against."""
    return {words for manner, words in differences(claim, *passages) if manner in AGAINST}


ELIDED = "The frame is insured for 8 years and the brakes for 2."


@pytest.mark.parametrize("claim", ["The brakes are insured for 2 years.",
                                   "The frame is insured for 8 years."])  # fmt: skip
def test_a_number_whose_unit_stands_before_is_bound_to_its_own_subject(claim: str) -> None:
    """The unit is said once, for both numbers."""
    (value,) = settled(claim, ELIDED)

    assert value.endswith("years")
    assert against(claim, ELIDED) == set()


def test_another_subjects_number_is_not_implied() -> None:
    """The brakes have the frame's eight years in no reading."""
    assert settled("The brakes are insured for 8 years.", ELIDED) == set()
    assert "5 years" in against("The brakes are insured for 5 years.", ELIDED)


@pytest.mark.parametrize(
    ("passage", "claim", "value"),
    [
        ("Parcels of less than 4 kg go by bike.", "A parcel of 3 kg goes by bike.", "3 kg"),
        ("Claims made within two weeks are paid in full.",
         "A claim made after 9 days is paid in full.", "9 days"),
        ("Contracts signed before 1 March 2020 are exempt.",
         "A contract signed in May 2019 is exempt.", "May 2019"),
        ("Orders placed by 11:30 am are shipped today.",
         "An order placed at 9:45 is shipped today.", "9:45"),
        ("The desk is staffed from Monday to Friday.",
         "On Wednesday the desk is staffed.", "Wednesday"),
        ("No more than 6 people fit into the lift.", "A group of 4 people fits into the lift.",
         "4 people"),
        ("The lease ends on 30 June 2026.", "In May 2026 the lease is in force.", "May 2026"),
    ],
)  # fmt: skip
def test_a_case_within_a_limit_is_no_clash(passage: str, claim: str, value: str) -> None:
    """What holds up to a limit holds for a value below it."""
    assert settled(claim, passage) == {value}
    assert against(claim, passage) == set()


@pytest.mark.parametrize(
    ("passage", "claim", "value"),
    [
        ("Parcels of less than 4 kg go by bike.", "A parcel of 6 kg goes by bike.", "6 kg"),
        ("Claims made within two weeks are paid in full.",
         "A claim made after 20 days is paid in full.", "20 days"),
        ("Contracts signed before 1 March 2020 are exempt.",
         "A contract signed in May 2021 is exempt.", "May 2021"),
        ("Orders placed by 11:30 am are shipped today.",
         "An order placed at 12:45 is shipped today.", "12:45"),
        ("The desk is staffed from Monday to Friday.", "On Sunday the desk is staffed.", "Sunday"),
        ("No more than 6 people fit into the lift.", "A group of 8 people fits into the lift.",
         "8 people"),
        ("Parcels of less than 4 kg go by bike.", "The limit for bikes is 3 kg.", "3 kg"),
        ("Claims made within two weeks are paid.", "Claims made within 9 days are paid.",
         "9 days"),
        ("The shop is open from 9:00 to 18:00.", "The shop opens at 10:00.", "10:00"),
    ],
)  # fmt: skip
def test_a_value_beyond_a_limit_and_another_limit_clash(
    passage: str, claim: str, value: str
) -> None:
    """Above the limit the rule does not hold, and a limit is no case of another one."""
    assert settled(claim, passage) - {"opens"} == set()
    assert value in against(claim, passage)


def test_one_value_in_the_place_of_a_limit_is_narrower() -> None:
    """ "Up to 90 euros" is not "60 euros", but nothing against it either."""
    found = differences("The plan pays 60 euros for lenses.",
                        "The plan pays up to 90 euros for lenses.")  # fmt: skip

    assert found == {("narrowed", "60 euros")}


@pytest.mark.parametrize(
    ("passage", "claim", "value"),
    [
        ("Take two drops four times a day.", "You take eight drops a day.", "eight drops a day"),
        ("Each crate holds 12 bottles, and a pallet has 40 crates.", "A pallet has 480 bottles.",
         "480 bottles"),
        ("A night costs $70 per person.", "Three nights cost $210 per person.",
         "$210"),
        ("The kit costs $30, and delivery another $6.", "Together, kit and delivery cost $36.",
         "$36"),
        ("The old pump used 90 watts, the new one uses 60.", "The new pump uses 30 watts less.",
         "30 watts"),
        ("Members get 20% off the price of $50.", "Members pay $40.", "$40"),
        ("The tour starts at 13:20 and takes 50 minutes.", "The tour ends at 14:10.", "14:10"),
        ("The bus leaves at 8:10 and arrives at 8:55.", "The bus takes 45 minutes.",
         "45 minutes"),
        ("She was born in 1961 and retired in 2024.", "She retired at 63 years.", "63 years"),
    ],
)  # fmt: skip
def test_what_can_be_computed_is_no_clash(passage: str, claim: str, value: str) -> None:
    """Products, sums, differences, shares, and the time between two times."""
    assert value in settled(claim, passage)
    assert value not in against(claim, passage)


@pytest.mark.parametrize(
    ("passage", "claim", "value"),
    [
        ("Take two drops four times a day.", "You take ten drops a day.", "ten drops"),
        ("The kit costs $30, and delivery another $6.", "Together, kit and delivery cost $46.",
         "$46"),
        ("Members get 20% off the price of $50.", "Members pay $45.", "$45"),
        ("The tour starts at 13:20 and takes 50 minutes.", "The tour starts at 14:30.", "14:30"),
        ("The bus leaves at 8:10 and arrives at 8:55.", "The bus takes 25 minutes.",
         "25 minutes"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_not_implied(passage: str, claim: str, value: str) -> None:
    """One digit more, and the sum is another one."""
    assert settled(claim, passage) == set()
    assert value in against(claim, passage)


@pytest.mark.parametrize(
    ("passage", "claim", "word"),
    [
        ("Mia lent her bike to Tom.", "Tom borrowed Mia's bike.", "borrowed"),
        ("The lake is deeper than the pond.", "The pond is shallower than the lake.",
         "shallower"),
        ("The gym opens at 7. The pool opens two hours later.",
         "The gym opens earlier than the pool.", "earlier"),
        ("The gate closes at 17:00.", "The gate opens at 8:00.", "opens"),
    ],
)  # fmt: skip
def test_a_converse_with_exchanged_arguments_is_no_opposite(
    passage: str, claim: str, word: str
) -> None:
    """Who lends and who borrows, and when something opens and when it closes."""
    assert word not in against(claim, passage)


@pytest.mark.parametrize(
    ("passage", "claim", "word"),
    [
        ("Mia sold her bike to Tom.", "Mia bought a bike from Tom.", "bought"),
        ("The gym opens at 7. The pool opens two hours later.",
         "The pool opens earlier than the gym.", "earlier"),
        ("The gate closes at 17:00.", "The gate opens at 17:00.", "opens"),
    ],
)  # fmt: skip
def test_an_opposite_of_the_same_subject_stays(passage: str, claim: str, word: str) -> None:
    """Nobody buys what she sells."""
    assert word in against(claim, passage)


def test_a_range_tells_when_something_opens_and_closes() -> None:
    """Open from nine to six is: it opens at nine, and closes at six."""
    passage = "The shop is open from 9:00 to 18:00."

    assert settled("The shop closes at 18:00.", passage) == {"closes", "18:00"}
    assert ("swapped", "17:00") in differences("The shop closes at 17:00.", passage)


@pytest.mark.parametrize(
    ("passage", "claim", "words"),
    [
        ("Parking is free of charge.", "Parking costs nothing.", {"costs nothing"}),
        ("The lamp blinks after the cable is plugged in.",
         "The cable is plugged in first, then the lamp blinks.", {"first", "then"}),
        ("Rinse the rice before you boil it.", "First rinse the rice, then boil it.",
         {"First", "then"}),
    ],
)  # fmt: skip
def test_the_same_price_and_the_same_order_are_implied(
    passage: str, claim: str, words: set[str]
) -> None:
    """In other words, which no network may call wrong."""
    assert settled(claim, passage) == words


@pytest.mark.parametrize(
    ("passage", "claim", "words"),
    [
        ("The alarm is tested every 8 hours.", "The alarm is tested three times a day.",
         {"three times a day"}),
        ("The alarm is tested once a week.", "The alarm is tested weekly.", {"weekly"}),
        ("The alarm is tested every 8 hours.", "The alarm is tested four times a day.", set()),
        ("The alarm is tested once a week.", "The alarm is tested daily.", set()),
    ],
)  # fmt: skip
def test_the_same_frequency_is_implied(passage: str, claim: str, words: set[str]) -> None:
    """Every eight hours is three times a day, and not four times."""
    assert settled(claim, passage) == words


def test_names_before_and_after_each_other_are_not_exchanged() -> None:
    """Who comes before somebody is whom somebody comes after."""
    assert against("Leo arrived after Ana.", "Ana arrived before Leo.") == set()


@pytest.mark.parametrize(
    ("claim", "manners"),
    [
        ("A child of 14 may use the slide.", {("beyond", "14")}),
        ("A child of 9 may not use the slide.", {("admitted", "9")}),
    ],
)
def test_what_is_said_of_the_cases_beyond_a_limit_is_no_contradiction(
    claim: str, manners: set[tuple[str, str]]
) -> None:
    """Children under 12 are denied something, which says nothing certain of the others."""
    assert differences(claim, "Children under 12 may not use the slide.") == manners


def test_the_other_order_is_not_implied() -> None:
    """The lamp blinks last, not first."""
    passage = "The lamp blinks after the cable is plugged in."

    assert settled("The lamp blinks first, then the cable is plugged in.", passage) == set()


def test_a_day_out_of_a_range_is_beyond_it_where_the_claim_says_the_opposite() -> None:
    """Open from Tuesday to Sunday: nothing is known against "closed on Mondays"."""
    passage = "The museum is open Tuesday through Sunday."

    assert differences("The museum is closed on Mondays.", passage) == {
        ("beyond", "Mondays"),
        ("beyond", "closed"),
    }
    assert "Mondays" in against("The museum is open on Mondays.", passage)


def test_a_number_that_its_sentence_counts_in_other_words_is_no_clash() -> None:
    """Of 120 patients 100 completed the study: "100 patients" is not set against "120"."""
    passage = "The study enrolled 120 patients, of whom 100 completed it."

    assert settled("One hundred patients completed the study.", passage) == {"One hundred patients"}
    assert "90 patients" in against("90 patients completed the study.", passage)


def test_most_may_follow_from_a_share_of_more_than_half() -> None:
    """62% of the respondents are most of them, and 38% are not."""
    claim = "Most respondents preferred option A."

    assert "Most" in settled(claim, "62% of respondents preferred option A.")
    assert "Most" not in settled(claim, "38% of respondents preferred option A.")


def test_a_noun_is_no_verb_whose_hedge_is_dropped() -> None:
    """The stays of "for stays" leave no "may" out."""
    passage = "Visitors may stay for 90 days without a visa."

    assert "stays" not in against("No visa is needed for stays of up to 90 days.", passage)


def test_an_hour_in_words_is_not_missing_beside_its_digits() -> None:
    """The nine of "opens at nine" stands in "9 a.m."."""
    assert against("The shop opens at nine.", "Opening hours: 9 a.m. - 6 p.m.") == set()
    assert "eleven" in against("The shop opens at eleven.", "Opening hours: 9 a.m. - 6 p.m.")


def test_days_between_two_dates_may_follow() -> None:
    """From 1 to 15 March it is two weeks, and not three."""
    passage = "The deadline was moved from 1 March to 15 March."

    assert settled("The deadline was extended by two weeks.", passage) == {"two weeks"}
    assert "three weeks" in against("The deadline was extended by three weeks.", passage)
    assert (
        settled("The deadline was extended by 2 days.", "From 28 February to 30 February.") == set()
    )


def test_what_has_a_price_is_not_free() -> None:
    """Nobody says "not free" where the price stands."""
    assert "not free" in settled("Parking is not free.", "Parking costs 3 euros per hour.")
