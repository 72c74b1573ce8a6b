"""Every unfaithful claim has one kind of failure; an unstated claim on topic overreaches."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import (
    AnswerRange,
    Claim,
    Clash,
    Evidence,
    Exchange,
    Finding,
    Label,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.findings.classify import failure_kinds
from otel_rt4chart.verify.findings.find import overreaching

CON, NIC = Label.CONTRADICTED, Label.BASELESS
MRI = "Outpatient MRI is covered when prior authorization has been obtained."
ASKED = "doesn't the policy cover outpatient MRI?"
POOL = "The hotel has a heated pool."


def contradicted(text: str, against: str, *clashes: Clash) -> Claim:
    """A claim that a sentence contradicts."""
    evidence = (Evidence("p", 0, len(against), against, "contradicts"),)
    where = AnswerRange(0, len(text))
    return Claim(text, CON, CON, 1.0, "hand", "attribute", where, 0, evidence, clashes=clashes)


def baseless(text: str, nearest: str = "", *clashes: Clash, reason: str = "") -> Claim:
    """A claim that nothing supports, with the sentence most like it."""
    where = AnswerRange(0, len(text))
    return Claim(text, NIC, NIC, 1.0, "hand", "attribute", where, 0, (), reason, clashes, nearest)


def kinds(question: str, passage: str, answer: str) -> list[str]:
    """The kinds of failure in a whole verification, in the order of the claims."""
    exchange = Exchange(question, [Passage("p", passage)], answer)
    findings = Verifier(RulesJudge()).verify(exchange).findings
    return [one.kind for one in findings if one.name == "failure_kind"]


@pytest.mark.parametrize(
    ("kind", "passage", "answer"),
    [
        (
            "numeric_slip",
            "Eligibility extends to members aged 16 and above.",
            "Eligibility extends to members aged 18 and above.",
        ),
        ("numeric_slip", "The minimum age is 16.", "The minimum age is 18."),
        (
            "cherry_picked_exclusion",
            "Cosmetic procedures are excluded from coverage.",
            "Cosmetic procedures are covered.",
        ),
        (
            "cherry_picked_exclusion",
            "The policy excludes cosmetic procedures.",
            "The policy covers cosmetic procedures.",
        ),
        (
            "negation_flip",
            "The policy covers outpatient MRI.",
            "The policy does not cover outpatient MRI.",
        ),
        ("negation_flip", "Participation is voluntary.", "Participation is mandatory."),
        (
            "unsupported_generalisation",
            "The policy applies only to new users.",
            "The policy applies to all users.",
        ),
        ("temporal_shift", "Coverage ended in 2019.", "Coverage ended in 2021."),
        ("entity_swap", "It launched from Discovery.", "It launched from Atlantis."),
        ("prior_knowledge", "The policy covers outpatient MRI.", "Some bananas grow in gardens."),
    ],
)
def test_kinds_of_failure_in_a_whole_verification(kind: str, passage: str, answer: str) -> None:
    """With the judge that needs no model."""
    assert kinds("What is covered?", passage, answer) == [kind]


# SummEdits, Apache-2.0
@pytest.mark.parametrize(
    ("kind", "passage", "answer"),
    [
        (
            "numeric_slip",
            "Lordstown will voluntarily recall 19 Endurance pickups.",
            "Lordstown will voluntarily recall 29 Endurance pickups.",
        ),
        (
            "entity_swap",
            "Bird flu was no threat to humans until 1997, after an outbreak in Hong Kong.",
            "Bird flu was no threat to humans until 1997, after an outbreak in Thailand.",
        ),
        (
            "negation_flip",
            "Sam expresses his dislike for Italian pop music.",
            "Sam expresses his love for Italian pop music.",
        ),
        (
            "negation_flip",
            "Sally and Ben have discounts as retired citizens.",
            "Sally and Ben don't have discounts as retired citizens.",
        ),
        (
            "temporal_shift",
            "Employees have until March 15 to remove the video-sharing app.",
            "Employees have until March 25 to remove the video-sharing app.",
        ),
        (
            "other",
            "Alex and Jacob plan to grab some beer on Friday night.",
            "Alex and Jacob plan to grab some cocktails on Friday night.",
        ),
    ],
)
def test_kinds_of_edits_that_people_labelled(kind: str, passage: str, answer: str) -> None:
    """One edit each, of a sentence that was right."""
    assert kinds("Summarize the document.", passage, passage) == []
    assert kinds("Summarize the document.", passage, answer) == [kind]


def test_a_restated_premise_is_told_from_the_same_claim_to_an_open_question() -> None:
    """Only where the answer as a whole is sycophantic."""
    passage, answer = "The policy covers hospital stays.", "Yes, the policy covers outpatient MRI."

    assert kinds(ASKED, passage, answer) == ["sycophantic_restatement"]
    assert kinds("What does the policy cover?", passage, answer) != ["sycophantic_restatement"]


def test_a_cited_claim_about_nothing_that_was_retrieved_is_a_bad_citation() -> None:
    """Without the citation it came from elsewhere."""
    known = "The policy covers outpatient MRI."

    assert kinds("", known, f"{known} Some bananas grow in gardens [1].") == ["bad_citation"]
    assert kinds("", known, f"{known} Some bananas grow in gardens.") == ["prior_knowledge"]


def test_only_failures_have_a_kind() -> None:
    """Each names its claim by number."""
    fine = Claim("A", Label.ENTAILED, Label.ENTAILED, 1.0, "h", "attribute", AnswerRange(0, 1), 0)
    unclear = Claim("B", Label.UNDECIDED, NIC, 1.0, "h", "attribute", AnswerRange(0, 1), 0)

    found = list(
        failure_kinds([fine, unclear, baseless(POOL, "A hotel pool.")], [], "What is there?")
    )

    assert found == [Finding("failure_kind", "Added to the source", kind="overreach", claim=2)]


def test_the_finding_has_the_stored_id_and_the_label_of_the_issue() -> None:
    """An answer's page and an issue's title call the same failure the same."""
    changed = contradicted("Sales fell.", "Sales rose.", Clash("term", "fell", "rose"))
    missing = baseless("It lasts 30 days.", "It lasts 14 days.", Clash("number", "30 days", ""))

    found = list(failure_kinds([changed, missing], [], ""))

    assert found == [
        Finding("failure_kind", "Direction not as in the source", kind="negation_flip", claim=0),
        Finding("failure_kind", "Number not as in the source", kind="numeric_slip", claim=1),
    ]


@pytest.mark.parametrize(
    ("label", "score", "is_found"),
    [
        (NIC, 0.5, True),
        (NIC, 0.9, True),
        (NIC, 0.49, False),
        (CON, 0.9, False),
        (Label.ENTAILED, 0.9, False),
        (Label.UNDECIDED, 0.9, False),
    ],
)
def test_overreach_is_a_baseless_claim_on_topic(label: Label, score: float, is_found: bool) -> None:
    """From half of its content on."""
    claim = Claim(POOL, label, label, 1.0, "hand", "attribute", AnswerRange(0, 5), 0)

    found = list(overreaching([claim], {0: score}))

    assert [(one.claim, one.value) for one in found] == ([(0, score)] if is_found else [])
    assert list(overreaching([claim], {})) == []


def test_overreach_in_a_whole_verification() -> None:
    """The age is what the passage does not say; the topic is its own."""
    passage = Passage("p", "The minimum age is 16.")
    exchange = Exchange("", [passage], "The minimum age is seventeen.")

    names = [one.name for one in Verifier(RulesJudge()).verify(exchange).findings]

    assert "overreach" in names
    exchange = Exchange("", [Passage("p", "The minimum age is 16.")], "Bananas grow on Mars.")
    assert "overreach" not in [one.name for one in Verifier(RulesJudge()).verify(exchange).findings]
