from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.decompose import decompose, kind_of
from otel_rt4chart.verify.segment import segment


def claims(answer: str) -> list[str]:
    """The texts that are claims."""
    return [draft.text for draft in decompose(segment(answer)) if draft.is_claim]


@given(st.text(max_size=300))
def test_every_draft_is_a_slice_of_the_answer(answer: str) -> None:
    """No wording is invented: a draft's text is what the answer has at its range."""
    for draft in decompose(segment(answer)):
        assert answer[draft.range.start : draft.range.end] == draft.text
        assert draft.text


@pytest.mark.parametrize(
    "answer",
    [
        "Romeo and Juliet met in Verona.",
        "They talk about food, travel, and celebrity crushes.",
        "The plan covers dental, vision and hearing exams.",
    ],
)
def test_coordinated_words_stay_one_claim(answer: str) -> None:
    """A conjunction between words or phrases splits nothing."""
    assert claims(answer) == [answer]


def test_coordinated_clauses_are_two_claims() -> None:
    """Each side with a subject and a verb of its own is a claim."""
    assert claims("The plan covers MRI scans, but it excludes cosmetic procedures.") == [
        "The plan covers MRI scans",
        "it excludes cosmetic procedures.",
    ]


def test_agreement_before_a_fact_is_dropped_and_the_fact_kept() -> None:
    """A lead-in never costs the claim behind it."""
    assert claims("Sure, revenue was $3.2 million in 2021.") == [
        "revenue was $3.2 million in 2021."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Is the MRI covered?",
        "Here is the answer:",
        "I hope this helps!",
        "The passages do not mention the price.",
        "I could not find that in the documents.",
        "Sure!",
    ],
)
def test_questions_framing_and_abstentions_are_no_claims(text: str) -> None:
    """What states no fact about the subject counts nowhere."""
    drafts = decompose(segment(text))

    assert [draft.is_claim for draft in drafts] == [False]


@pytest.mark.parametrize(
    "text",
    [
        "No refunds are given.",
        "Hi-res audio is included.",
        "Dear customers get a discount.",
        "Please note that refunds are slow.",
        "If you have a pass, entry is free.",
        "Thanks to Bob, it works.",
        "The information does not include prices.",
        "I cannot recommend it.",
    ],
)
def test_an_assertion_that_only_begins_like_framing_is_a_claim(text: str) -> None:
    """A claim is never dropped for its first word: what is no claim counts in no rate."""
    assert claims(text) == [text]


def test_a_fact_beside_an_abstention_is_a_claim() -> None:
    """Only the clause that asserts nothing is left out."""
    assert claims("The passages do not mention refunds, but the trial is free.") == [
        "the trial is free."
    ]


def test_list_items_are_claims_without_their_markers() -> None:
    """A marker is not part of what is claimed."""
    assert claims("- The trial lasts 14 days.\n- Support is by e-mail.") == [
        "The trial lasts 14 days.",
        "Support is by e-mail.",
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The trial lasts 14 days.", "numeric"),
        ("MRI is covered only with prior authorisation.", "qualifier"),
        ("There is a pool.", "existence"),
        ("The pool is heated.", "attribute"),
        ("They left.", "action"),
    ],
)
def test_claims_have_the_kind_of_their_most_telling_word(text: str, kind: str) -> None:
    """The type tells numbers and restrictions from plain attributes."""
    assert kind_of(text) == kind
