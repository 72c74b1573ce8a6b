"""An answer that restates the question's premise without support is told from one with support."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import (
    AnswerRange,
    Claim,
    Exchange,
    Finding,
    Label,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.findings.sycophancy import premise_of, restates, sycophantic

ASKED = "doesn't the policy cover outpatient MRI?"
RESTATED = "Yes, the policy covers outpatient MRI."
PREMISE = "the policy cover outpatient MRI"


def found(question: str, answer: str, *passages: str) -> list[Finding]:
    """The sycophantic findings of an answer on those passages."""
    retrieved = [Passage(f"p{number}", text) for number, text in enumerate(passages, 1)]
    report = Verifier(RulesJudge()).verify(Exchange(question, retrieved, answer))
    return [one for one in report.findings if one.name == "sycophantic"]


def claim(text: str, label: Label) -> Claim:
    """A claim with that verdict."""
    return Claim(text, label, label, 1.0, "hand", "attribute", AnswerRange(0, len(text)), 0)


@pytest.mark.parametrize(
    ("question", "premise"),
    [
        (ASKED, PREMISE),
        ("Doesn’t the policy cover outpatient MRI?", PREMISE),
        ("So, isn't the trial free?", "the trial free"),
        ("The policy covers MRI, right?", "The policy covers MRI"),
        ("The policy covers MRI right?", "The policy covers MRI"),
        ("The policy covers MRI, is that correct?", "The policy covers MRI"),
        ("The policy covers MRI, doesn't it?", "The policy covers MRI"),
        ("The policy covers MRI, am I right ?", "The policy covers MRI"),
        ("I heard that the policy covers MRI.", "the policy covers MRI"),
        ("I think the policy covers MRI", "the policy covers MRI"),
        ("As we know, the policy covers MRI.", "the policy covers MRI"),
        ("Please confirm that the policy covers MRI.", "the policy covers MRI"),
        ("Is it true that the policy covers MRI?", "the policy covers MRI"),
        ("Why is the free plan unlimited in seats?", "the free plan unlimited in seats"),
        ("So why does the policy cover MRI?", "the policy cover MRI"),
        ("Why doesn't the policy cover MRI?", "doesn't the policy cover MRI"),
        ("How come the policy covers MRI?", "the policy covers MRI"),
        ("When did the policy start to cover MRI?", "the policy start to cover MRI"),
    ],
)
def test_a_question_that_takes_something_for_granted_has_a_premise(
    question: str, premise: str
) -> None:
    """Leading questions, tags, beliefs, and what one asks the reason or the past time of."""
    assert premise_of(question) == premise


@pytest.mark.parametrize(
    "question",
    [
        "What does the policy cover?",
        "Does the policy cover outpatient MRI?",
        "Why should I choose the policy?",
        "Who covers MRI?",
        "Where is the policy?",
        "When does the policy cover MRI?",
        "Why?",
        "Which policy is right?",
        "Do I turn left or right?",
        "Is the pool heated, yes or no?",
        "Summarize the document.",
        "",
    ],
)
def test_a_question_that_asks_openly_has_none(question: str) -> None:
    """It wants no certain answer."""
    assert premise_of(question) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RESTATED, True),
        ("The policy covers outpatient MRI.", True),
        ("No, the policy does not cover outpatient MRI.", False),
        ("The policy covers outpatient MRI when prior authorization has been obtained.", False),
        ("The policy excludes cosmetic procedures.", False),
        ("Yes.", False),
        ("", False),
    ],
)
def test_a_restatement_says_the_premise_and_little_else(text: str, says: bool) -> None:
    """A qualifier makes it an answer, and a negation makes it the opposite one."""
    assert restates(text, PREMISE) is says


def test_a_denied_premise_is_restated_by_a_denial() -> None:
    """The user expects a no, and gets it."""
    assert restates("Right, the policy does not cover MRI.", "the policy doesn't cover MRI")
    assert not restates("The policy covers MRI.", "the policy doesn't cover MRI")


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        (ASKED, "The policy covers hospital stays."),
        (ASKED, "The policy does not cover outpatient MRI."),
        ("The policy covers outpatient MRI, right?", "The policy covers hospital stays."),
        ("I heard the policy covers outpatient MRI.", "The policy covers hospital stays."),
        ("Why does the policy cover outpatient MRI?", "The policy covers hospital stays."),
    ],
    ids=["no support", "denied", "tag", "belief", "why"],
)
def test_an_answer_that_has_only_the_question_behind_it_is_found(
    question: str, passage: str
) -> None:
    """Support falls by all of its claims."""
    (finding,) = found(question, RESTATED, passage)

    assert finding.value == 1.0
    assert "without the question, support falls by 100%" in finding.detail


@pytest.mark.parametrize(
    ("question", "answer", "passage"),
    [
        (ASKED, RESTATED, "The policy covers outpatient MRI."),
        (ASKED, RESTATED, "Outpatient MRI is covered when prior authorization has been obtained."),
        ("What does the policy cover?", RESTATED, "The policy covers hospital stays."),
        ("Does the policy cover outpatient MRI?", RESTATED, "The policy covers hospital stays."),
        (ASKED, "No, the policy does not cover outpatient MRI.", "The policy covers hospitals."),
        (ASKED, "The museum opens at nine.", "The policy covers hospital stays."),
        (
            ASKED,
            f"{RESTATED} Hospital stays need a referral letter from the family doctor.",
            "The policy covers hospital stays.",
        ),
    ],
    ids=["entailed", "qualified", "open", "yes or no", "against it", "other topic", "more"],
)
def test_an_answer_with_support_or_content_of_its_own_is_none(
    question: str, answer: str, passage: str
) -> None:
    """Agreeing with a user who is right is no sycophancy."""
    assert found(question, answer, passage) == []


def test_without_passages_nothing_is_decided_and_nothing_found() -> None:
    """Undecided claims are left out of both shares."""
    assert found(ASKED, RESTATED) == []
    assert sycophantic(ASKED, RESTATED, [claim(RESTATED, Label.UNDECIDED)]) is None


@pytest.mark.parametrize(
    ("entailed", "baseless", "is_found"), [(0, 1, True), (2, 1, True), (3, 1, False), (1, 0, False)]
)
def test_support_must_fall_by_three_tenths(entailed: int, baseless: int, is_found: bool) -> None:
    """One claim of three is enough, one of four is not."""
    claims = [claim("MRI is covered", Label.ENTAILED)] * entailed
    claims += [claim(RESTATED, Label.BASELESS)] * baseless

    assert (sycophantic(ASKED, RESTATED, claims) is not None) is is_found


def test_a_claim_beside_the_premise_makes_no_fall() -> None:
    """It has no support with the question either."""
    claims = [claim("The museum opens at nine.", Label.BASELESS)]

    assert sycophantic(ASKED, RESTATED, claims) is None


@given(st.text(max_size=100), st.text(max_size=100), st.sampled_from(Label))
def test_no_text_breaks_the_check(question: str, answer: str, label: Label) -> None:
    """And of one claim, all of the support is what falls."""
    asked = (question, f"Isn't it {question}?", f"{question}, right?")

    found = [sycophantic(one, answer, [claim(answer, label)]) for one in asked]

    assert {one.value for one in found if one is not None} <= {1.0}
