"""Exclusions, conditions and the like are told from words that only sound like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.findings.dropped_qualifiers import restrictions
from otel_rt4chart.verify.findings.modifiers import Restriction, is_narrative


def found(sentence: str) -> list[tuple[str, str]]:
    """The kind and the words of each restriction."""
    return [(one.kind, one.text) for one in restrictions(sentence)]


@pytest.mark.parametrize(
    ("sentence", "kind", "text"),
    [
        ("The policy excludes cosmetic procedures.", "exclusion", "excludes cosmetic procedures"),
        ("Cosmetic procedures are excluded from coverage.", "exclusion", "excluded from coverage"),
        ("Cosmetic procedures are not covered.", "exclusion", "are not covered"),
        ("It covers all scans except outpatient MRI.", "exclusion", "except outpatient MRI"),
        ("Other than MRI, scans are free.", "exclusion", "Other than MRI"),
        # SummEdits, Apache-2.0
        (
            "Excluding special items, we would have reported a net profit of $29.9 million.",
            "exclusion",
            "Excluding special items",
        ),
        ("MRI is covered with prior authorization.", "condition", "with prior authorization"),
        ("MRI is covered with prior authorisation.", "condition", "with prior authorisation"),
        (
            "Outpatient MRI is covered when prior authorization has been obtained.",
            "condition",
            "when prior authorization has been obtained",
        ),
        ("MRI is covered only with a referral.", "condition", "only with a referral"),
        ("Outpatient MRI requires prior auth.", "condition", "requires prior auth"),
        ("MRI is covered unless it is cosmetic.", "condition", "unless it is cosmetic"),
        ("MRI is covered subject to approval.", "condition", "subject to approval"),
        ("It is free as long as you pay for two.", "condition", "as long as you pay for two"),
        # SummEdits, Apache-2.0
        (
            "Yes, we offer a discount of 5% if you choose to pay annually.",
            "condition",
            "if you choose to pay annually",
        ),
        ("Members aged 16 and above join.", "eligibility", "aged 16 and above join"),
        ("The trial is only for members.", "eligibility", "only for members"),
        ("It is for existing customers only.", "eligibility", "existing customers only"),
        ("Refunds are paid within 30 days.", "time_limit", "within 30 days"),
        ("The offer is valid for 30 days.", "time_limit", "valid for 30 days"),
        ("Coverage expires on Friday.", "time_limit", "expires on Friday"),
        # SummEdits, Apache-2.0
        (
            "Employees have until March 15 to remove the video-sharing app.",
            "time_limit",
            "until March 15 to remove the video-sharing app",
        ),
        ("It covers up to 3 scans", "bound", "up to 3 scans"),
        ("It covers at most two scans", "bound", "at most two scans"),
        ("It pays a maximum of $500", "bound", "a maximum of $500"),
        ("Some plans cover MRI.", "quantifier", "Some plans cover MRI"),
        ("Only verified users can join.", "quantifier", "Only verified users can"),
        ("It covers all but cosmetic scans.", "quantifier", "all but cosmetic scans"),
    ],
)
def test_each_kind_of_restriction_is_named_with_its_words(
    sentence: str, kind: str, text: str
) -> None:
    """The kinds of the findings table, in the words of policies and offers."""
    assert found(sentence) == [(kind, text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The exceptional plan includes exclusive lounges.",
        "The policy does not exclude cosmetic procedures.",
        "Outpatient MRI is not excluded from coverage.",
        "Coverage is not subject to approval.",
        "The plan does not require prior authorization.",
        "The plan doesn't require prior authorization.",
        "No prior authorization is required.",
        "It is not limited to 5 users.",
        "As if it were free, MRI is covered.",
        "Even if you are young, MRI is covered.",
        "If so, call us.",
        "If you want to join, call us.",
        "When it rains, the plan covers MRI.",
        "After lunch, MRI is covered.",
        "With great care the clinic scans.",
        "The plan covers scans as long as five years.",
        "The clinic is within walking distance.",
        "The plan is up to date, and the scan is up to you.",
        "The only scan is MRI.",
        "The trial lasts only 14 days.",
        "It covers not only MRI but also CT.",
        "The required form is online.",
        "The minimum age is 16.",
        "",
    ],
    ids=range(24),
)
def test_words_that_only_sound_like_a_restriction_are_none(sentence: str) -> None:
    """What is not required, or not excluded, is no restriction either."""
    assert restrictions(sentence) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "The patient was covered for MRI after authorization was obtained.",
        "The policy was valid until 2019.",
        "He said MRI is covered if approved.",
        "I get the scan if I pay.",
        "The clinic opened after approval.",
        # SummEdits, Apache-2.0
        "Bird flu was not deemed to be a threat to humans until 1997.",
    ],
)
def test_a_story_or_a_dialogue_restricts_nothing(sentence: str) -> None:
    """A restriction holds in general."""
    assert restrictions(sentence) == ()
    assert is_narrative(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "MRI is covered if the scan is approved.",
        "Approved scans are covered.",
        "Members aged 16 and above.",
        "The fees exceed $500.",
    ],
)
def test_a_rule_with_a_participle_is_no_story(sentence: str) -> None:
    """A verb in the present says that it still holds."""
    assert not is_narrative(sentence)


def test_a_clause_ends_where_another_begins() -> None:
    """A condition of the first clause is none of the second."""
    (one,) = restrictions("MRI is covered if it is approved, and dental care has its own clinic.")

    assert one == Restriction("condition", "if it is approved", "MRI is covered if it is approved")


def test_a_condition_that_comes_first_limits_the_clause_behind_it() -> None:
    """Its clause holds both."""
    (one,) = restrictions("If it is approved, the policy covers MRI; dental care is free.")

    assert one.text == "If it is approved"
    assert one.clause == "If it is approved, the policy covers MRI"


def test_a_sentence_may_hold_several() -> None:
    """Each is named, in order."""
    sentence = "Members aged 16 and above, if they verify it, get up to 3 scans."

    assert [kind for kind, _ in found(sentence)] == ["eligibility", "condition", "bound"]


VOCABULARY = """the policy covers outpatient MRI only if when with prior authorization is required
    not excluded except unless aged 16 and above within 30 days up to some plans , ; ( ) . was no"""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=40).map(" ".join)


@given(WORDS | st.text(max_size=120))
def test_a_restriction_is_in_its_sentence(sentence: str) -> None:
    """Its words are, whatever the text, and so is its clause."""
    for one in restrictions(sentence):
        assert one.text in sentence
        assert one.clause in sentence
        assert one.text in one.clause
