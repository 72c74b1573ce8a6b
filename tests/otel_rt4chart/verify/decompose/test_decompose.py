from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.decompose.rules import decompose, kind_of
from otel_rt4chart.verify.text.segment import segment


def claims(answer: str) -> list[str]:
    """The texts that are claims."""
    return [draft.text for draft in decompose(segment(answer)) if draft.is_claim]


WORD = re.compile(r"\w+")
VOCABULARY = """the policy it Hubble Ann covers requires is was has moved took will not outpatient
    MRI 2010 and but , . ; ( ) " “ if said that after who or Sure, 1. U.S. However, — ’s é"""
PIECES = st.sampled_from([*VOCABULARY.split(), "\n"])
ANSWERS = st.text(max_size=300) | st.lists(PIECES, max_size=40).map(" ".join)


@given(ANSWERS)
def test_a_claim_has_the_words_of_its_sentence_in_their_order(answer: str) -> None:
    """No wording is invented or moved: a claim is its sentence without some of its words."""
    sentences = segment(answer)
    for draft in decompose(sentences):
        assert draft.range.end > draft.range.start
        assert draft.text.endswith(answer[draft.range.end - 1])
        words = iter(answer[sentences[draft.sentence].start : draft.range.end].split())
        assert all(any(part in word for word in words) for part in draft.text.split())


@given(ANSWERS)
def test_ranges_are_in_order_and_leave_out_nothing_but_joints(answer: str) -> None:
    """Between a sentence's drafts stand conjunctions only; before the first, lead-ins only."""
    sentences = segment(answer)
    ends: dict[int, int] = {}
    for draft in decompose(sentences):
        left = ends.get(draft.sentence)
        if left is not None:
            assert left <= draft.range.start
            skipped = WORD.findall(answer[left : draft.range.start].lower())
            assert set(skipped) <= {"and", "but", "while", "whereas", "however", "who", "which"}
        ends[draft.sentence] = draft.range.end
    assert ends == {sentence.index: sentence.end for sentence in sentences}


def test_a_long_text_without_punctuation_takes_linear_time() -> None:
    """50,000 words, each of which may begin a predicate."""
    started = process_time()

    decompose(segment("the policy covers it and is good " * 7_200))

    assert process_time() - started < 10


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


@pytest.mark.parametrize(
    "answer",
    [
        "He said it is private, and it was sold.",
        "According to the firm the item is safe, and it was sold.",
        "If the item is broken, it is refunded, but it is not replaced.",
    ],
)
def test_a_clause_that_a_speaker_or_a_condition_may_reach_is_not_cut_off(answer: str) -> None:
    """What was only said, or holds only if, never becomes a claim of its own."""
    assert claims(answer) == [answer]


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
        "I cannot answer because the provided passages do not contain information about refunds.",
        "I cannot say because it is not mentioned in the passages.",
        "I'm sorry, but I cannot provide the price since no information is given.",
        "I can't answer that, as I do not have access to the documents.",
        "I cannot provide the fee because the context only discusses refunds.",
        "The passages do not say whether it was closed because the owner was ill.",
        "The passages do not mention who won or which city was chosen.",
        "I do not know the price, as it is outside the scope of the text.",
        "Please contact us as soon as you are ready.",
        "Let me know if you have questions, and we will help.",
        "I could not find the price, so please ask the office.",
        "Please check the list below, as requested.",
        "I'm not sure this is as big an issue as you are making it out to be.",
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
        "I cannot provide a refund because the policy excludes cosmetic surgery.",
        "Please contact a doctor because ibuprofen is banned for children.",
        "Thank you for your order, which ships tomorrow from Berlin.",
        "I cannot confirm the booking, as the hotel is closed in winter.",
        "The document does not specify a fee because the plan is free of charge.",
        "Unfortunately, I could not find a fee since the plan is free of charge.",
        "Please visit the Berlin office, which is open on Sundays.",
        "Please ask for Ann Lee, who runs the office.",
        "Here is a summary of the policy, which covers surgery.",
        "I cannot give a refund: the policy is not refundable.",
        "I could not find a fee, so the plan must be free.",
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


def test_a_fact_that_is_joined_to_an_abstention_is_a_claim() -> None:
    """Two clauses are told apart also where the first one asserts nothing."""
    assert claims("I could not find the price, and the pool is heated.") == ["the pool is heated."]


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
