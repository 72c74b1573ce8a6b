"""Where a claim departs from the sentences it leans on."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import ClaimReading, read_claim


def read(claim: str, *passages: str) -> ClaimReading:
    """A claim beside some sentences."""
    return read_claim(read_slots(claim), read_context(passages))


def clashes(claim: str, *passages: str) -> list[tuple[str, str, str]]:
    """Slot, claimed and found of every clash."""
    return [
        (one.slot, one.claimed, one.found)
        for one in read(claim, *passages).differences
        if one.manner in ("clash", "opposite")
    ]


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        (
            "The free trial lasts 14 days.",
            "The free trial lasts 30 days for every user.",
            ("number", "14 days", "30 days"),
        ),
        (
            "It was opened in May 1989.",
            "It was opened to visitors in May 1889.",
            ("date", "May 1989", "May 1889"),
        ),
        (
            "It was deployed from Space Shuttle Atlantis.",
            "The Hubble Space Telescope was deployed from Space Shuttle Discovery.",
            ("name", "Atlantis", "Discovery"),
        ),
        (
            "Verification is not required.",
            "Verification is required before the trial starts.",
            ("negation", "not required", "required"),
        ),
        (
            "Existing users may apply.",
            "Existing users may not apply.",
            ("negation", "apply", "not apply"),
        ),
        (
            "Profit decreased in the second quarter.",
            "Profit increased in the second quarter.",
            ("term", "decreased", "increased"),
        ),
        (
            "The plan covers all operations.",
            "The plan covers some operations.",
            ("quantifier", "all", "some"),
        ),
        (
            "The policy applies to all users.",
            "The policy applies only to new users.",
            ("quantifier", "all", "only"),
        ),
        (
            "Plant-based meat alternatives are labelled.",
            "Plant-based milk alternatives are labelled.",
            ("term", "meat", "milk"),
        ),
    ],
)
def test_a_value_in_the_place_of_another_is_a_clash(
    claim: str, passage: str, expected: tuple[str, str, str]
) -> None:
    """Claimed as it stands in the claim, found as it stands in the passage."""
    found = clashes(claim, passage, "Nothing else matters here.")

    assert expected in found
    assert all(claimed in claim and rival in passage for _, claimed, rival in found)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The trial lasts two weeks.", "The trial lasts 14 days."),
        ("The shop is open on Sundays.", "The shop is not closed on Sundays."),
        ("He did not agree.", "He disagreed."),
        ("About 200 people attended.", "195 people attended."),
    ],
)
def test_the_same_said_otherwise_is_no_clash(claim: str, passage: str) -> None:
    """Converted units, double negation, a denied opposite, a hedge."""
    assert clashes(claim, passage) == []


def test_a_negation_elsewhere_in_the_context_denies_nothing() -> None:
    """Only words under the negation, in a sentence the claim leans on, are compared."""
    reading = read(
        "The tower is 330 metres tall.",
        "The shop does not open on Mondays.",
        "The tower is 330 metres tall and was never closed.",
        "It is not known why.",
    )

    assert reading.named["negation_clash"] == 0.0


def test_a_number_of_another_sentence_is_elsewhere_not_missing() -> None:
    """A value bound to something else is told apart from one that is nowhere."""
    reading = read(
        "The refund takes 14 days.", "The refund takes 30 days.", "A trial ends after 14 days."
    )

    assert reading.named["number_missing"] == 0.0


def test_a_claim_is_covered_by_several_sentences_together() -> None:
    """Up to three sentences may hold a claim between them."""
    reading = read(
        "Verified users can extend the trial once by 7 days.",
        "The extension adds 7 days to the trial.",
        "Users who are verified can ask for it once.",
        "Bread and cheese are sold on Fridays.",
    )

    assert set(reading.alignment.sentences) == {0, 1}
    assert reading.alignment.coverage > reading.alignment.best_coverage


def test_no_before_a_noun_denies_the_verb_as_not_does() -> None:
    """`found no evidence` and `have not found any evidence` say the same."""
    claim = "The authorities have found no evidence of poison."

    assert clashes(claim, "The authorities have not found any evidence of poison.") == []
    assert clashes(claim, "The authorities have found evidence of poison.") != []


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("The fair moves to New York.", "The new fair moves to Boston.", "New York"),
        ("Ms Julia Albrecht resigned.", "Ms Karin Albrecht resigned.", "Julia"),
    ],
)
def test_a_name_of_which_only_common_words_are_known_is_missing_whole(
    claim: str, passage: str, expected: str
) -> None:
    """Not "York", but the one strange word beside a name that is known."""
    found = [
        one.claimed
        for one in read(claim, passage).differences
        if (one.slot, one.manner) == ("name", "missing")
    ]

    assert found == [expected]


REFUNDS = "Card refunds take 5 to 7 working days, bank transfers take 10 working days."
STORAGE = "File storage is 2 GB on Solo, 20 GB on Team and 200 GB on Works."
RETRIES = (
    "If a payment fails, we try again after 3 days and after 7 days, and the account is suspended "
    "after 14 days."
)
CHAT = (
    "Chat support is open Monday to Friday from 8:00 to 20:00 and on Saturday from 9:00 to 14:00."
)


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        ("Bank transfers take 3 working days.", REFUNDS, "10 working days"),
        ("Card refunds take 3 working days.", REFUNDS, "5 to 7 working days"),
        ("A refund by bank transfer takes 21 working days.", REFUNDS, "10 working days"),
        ("File storage is 20 GB on Team and 100 GB on Works.", STORAGE, "200 GB"),
        ("File storage is 5 GB on Solo.", STORAGE, "2 GB"),
        ("The account is suspended after 40 days if a payment fails.", RETRIES, "14 days"),
        ("Chat support is open on Saturday from 9:00 to 18:00.", CHAT, "14:00"),
    ],
)
def test_value_of_the_claims_subject_is_set_against_its_own(
    claim: str, passage: str, found: str
) -> None:
    """Not the first one of its kind in the sentence."""
    told = [other for slot, _, other in clashes(claim, passage) if slot in ("number", "date")]

    assert told == [found]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "SMS bundles are not refundable, and neither are printed payment books.",
            "Setup services, printed payment books and SMS bundles are not refundable.",
        ),
        (
            "The check is not available for Switzerland and Norway.",
            "The check is not available for customers in Switzerland and Norway.",
        ),
        (
            "On monthly plans, a month that has already begun is not refunded.",
            "Monthly plans are not refunded for a month that has begun.",
        ),
    ],
)
def test_texts_that_deny_the_same_do_not_clash_in_a_negation(claim: str, passage: str) -> None:
    """However far the negation reaches in each of them."""
    assert clashes(claim, passage) == []


def test_further_negation_clashes_beside_one_that_both_texts_have() -> None:
    """The refunds are denied in both, the exchanges in one."""
    claim = "Refunds are not available and exchanges are not possible."

    found = clashes(claim, "Refunds are not available, but exchanges are possible.")

    assert ("negation", "not possible", "possible") in found


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        (
            "Refunds are paid within 2 to 3 working days.",
            "Refunds are paid within 7 to 10 working days.",
            ("2 to 3 working days", "7 to 10 working days"),
        ),
        (
            "Refunds are paid within 7 to 14 days.",
            "Refunds are paid within 7 to 10 days.",
            ("7 to 14 days", "7 to 10 days"),
        ),
        (
            "Protection starts five to six weeks after the injection.",
            "Protection starts two to three weeks after the injection.",
            ("five to six weeks", "two to three weeks"),
        ),
        (
            "Refunds are paid within 20 to 30 days.",
            "Refunds are paid within 10 days.",
            ("20 to 30 days", "10 days"),
        ),
        ("Refunds are paid within 3 days.", "Refunds are paid within 7 to 10 days.",
         ("3 days", "7 to 10 days")),
    ],
)  # fmt: skip
def test_a_range_clashes_as_one_value(claim: str, passage: str, expected: tuple[str, str]) -> None:
    """Nobody claims its two ends one by one."""
    told = [(own, other) for slot, own, other in clashes(claim, passage) if slot == "number"]

    assert told == [expected]


def test_an_end_of_a_range_that_is_a_value_of_its_own_stays_one() -> None:
    """Of "2 to 3 days" and "3 days", the words do not tell which one is meant."""
    claim = "Cards take 2 to 3 days and transfers take 3 days."

    found = clashes(claim, "Cards take 7 to 10 days and transfers take 12 days.")

    assert ("number", "3 days", "12 days") in found


def swaps(claim: str, *passages: str) -> list[tuple[str, str, str]]:
    """The values that stand with another subject: slot, claimed value and the subject's own."""
    found = read(claim, *passages).differences
    return [(one.slot, one.claimed, one.found) for one in found if one.manner == "swapped"]


STATUSES = ("Status Code 400: error is BadRequest.", "Status Code 422: error is Unprocessable.")
STORES = ("- Windows via [CryptoAPI](https://example.org)", "- Linux via OpenSSL")


@pytest.mark.parametrize(
    ("claim", "passages", "expected"),
    [
        ("A 422 raises BadRequest.", STATUSES, ("name", "BadRequest", "Unprocessable")),
        ("On Linux it uses the CryptoAPI.", STORES, ("name", "CryptoAPI", "OpenSSL")),
        ("The Unprocessable error has 400.", STATUSES, ("number", "400", "422")),
    ],
)
def test_a_partner_from_another_line_of_a_list_is_swapped(
    claim: str, passages: tuple[str, ...], expected: tuple[str, str, str]
) -> None:
    """A list pairs each of its things with one other, a claim two of different lines."""
    assert swaps(claim, *passages) == [expected]


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        ("A 422 raises Unprocessable.", STATUSES),
        ("A 422 raises BadRequest.", (*STATUSES, "Before 2.0, 422 was a BadRequest.")),
        ("A 422 does not raise BadRequest.", STATUSES),
        ("On Linux it uses the CryptoAPI.", ("Windows has CryptoAPI.", "- Linux via OpenSSL")),
    ],
)
def test_a_pair_that_some_sentence_has_or_no_list_divides_is_not_swapped(
    claim: str, passages: tuple[str, ...]
) -> None:
    """Lines that differ in more than their pairs say nothing of each other."""
    assert swaps(claim, *passages) == []
