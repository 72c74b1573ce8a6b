"""Every unfaithful claim has one kind of failure, and what is on topic but unsaid overreaches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from otel_rt4chart.verify.findings.classify import failure_kind, failure_kinds, overreaching
from otel_rt4chart.verify.findings.failure_kinds import FailureKind

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
        ("prior_knowledge", "The policy covers outpatient MRI.", "Bananas grow on Mars."),
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

    assert kinds("", known, f"{known} Bananas grow on Mars [1].") == ["bad_citation"]
    assert kinds("", known, f"{known} Bananas grow on Mars.") == ["prior_knowledge"]


@pytest.mark.parametrize(
    ("kind", "claim", "score"),
    [
        (FailureKind.QUALIFIER, contradicted("Outpatient MRI is covered.", MRI), 0.9),
        (
            FailureKind.QUALIFIER,
            contradicted(
                "The policy covers outpatient MRI.",
                "The policy covers outpatient MRI only with prior authorization.",
            ),
            0.9,
        ),
        (FailureKind.QUALIFIER, baseless("Outpatient MRI is covered.", MRI), 0.9),
        (
            FailureKind.HEDGE,
            contradicted(
                "The drug causes drowsiness in patients.",
                "The drug may cause drowsiness in patients.",
            ),
            0.9,
        ),
        (
            FailureKind.HEDGE,
            # SummEdits, Apache-2.0
            baseless(
                "The issue results in a loss of propulsion.",
                "The issue could result in a loss of propulsion while driving.",
            ),
            0.9,
        ),
        (
            FailureKind.SCOPE,
            baseless("Customers usually praise the roll.", "One customer praised the roll."),
            0.9,
        ),
        (
            FailureKind.DATE,
            contradicted("The office will move to Berlin.", "The office moved to Berlin."),
            0.9,
        ),
        (FailureKind.OVERREACH, baseless(POOL, "The hotel has a pool."), 0.5),
        (FailureKind.OTHER, baseless(POOL, "The hotel has a pool."), 0.49),
        (FailureKind.OTHER, baseless(POOL, "The hotel has a pool."), 0.2),
        (FailureKind.PRIOR_KNOWLEDGE, baseless(POOL, "The hotel has a pool."), 0.19),
        (
            FailureKind.PRIOR_KNOWLEDGE,
            baseless(POOL, "The hotel has a pool.", reason="unlinked"),
            0.9,
        ),
        (FailureKind.BAD_CITATION, baseless("The hotel has a heated pool [3].", "A hotel."), 0.1),
        (FailureKind.OVERREACH, baseless("The hotel has a heated pool [1].", "A hotel pool."), 0.6),
        (FailureKind.OTHER, contradicted("The pool is lovely.", "The pool is big."), 0.9),
    ],
)
def test_kinds_of_failure_of_one_claim(kind: FailureKind, claim: Claim, score: float) -> None:
    """By its evidence, or by the sentence most like it, and by its link."""
    assert failure_kind(claim, score, "") == kind


@pytest.mark.parametrize(
    ("kind", "clash", "evidence"),
    [
        (FailureKind.NUMBER, Clash("number", "30 days", "14 days"), "It lasts 14 days."),
        (FailureKind.UNIT, Clash("number", "14 days", "14 weeks"), "It lasts 14 weeks."),
        (FailureKind.DATE, Clash("date", "2021", "2019"), "It ended in 2019."),
        (FailureKind.ENTITY, Clash("name", "Atlantis", "Discovery"), "It was Discovery."),
        (FailureKind.POLARITY, Clash("negation", "is", "is not"), "It is not."),
        (FailureKind.QUALIFIER, Clash("qualifier", "free", "free if new"), "It is free."),
        (FailureKind.SCOPE, Clash("quantifier", "all", "some"), "Some are."),
        (FailureKind.OPPOSITE, Clash("term", "mandatory", "voluntary"), "It is voluntary."),
        (FailureKind.DIRECTION, Clash("term", "fell", "rose"), "Sales rose."),
        (FailureKind.OTHER, Clash("term", "cocktails", "beer"), "Alex drinks beer."),
    ],
)
def test_the_clash_that_a_judge_names_tells_the_kind(
    kind: FailureKind, clash: Clash, evidence: str
) -> None:
    """Each slot has its own."""
    assert failure_kind(contradicted("Alex drinks it.", evidence, clash), 0.9, "") == kind


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        (FailureKind.NUMBER, contradicted("It lasts 30 days.", "It lasts 14 days.")),
        (FailureKind.DATE, contradicted("It opened in 1990.", "It opened in 1991.")),
        (FailureKind.POLARITY, contradicted("The pool is heated.", "The pool is not heated.")),
        (
            FailureKind.NUMBER,
            contradicted("It covers 3 scans.", "It covers 2 scans and excludes CT."),
        ),
    ],
)
def test_where_a_judge_names_no_clash_the_rules_look_for_it(
    kind: FailureKind, claim: Claim
) -> None:
    """A model may say no more; an exclusion beside a number is not the reason."""
    assert failure_kind(claim, 0.9, "") == kind


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        (
            FailureKind.OVERREACH,
            baseless(
                "The drug causes drowsiness in patients.",
                "The drug causes drowsiness; it may rain in Berlin tomorrow evening.",
            ),
        ),
        (
            FailureKind.OVERREACH,
            baseless("The drug may cause drowsiness.", "The drug could cause sleep in patients."),
        ),
        (
            FailureKind.OVERREACH,
            baseless("Dishes are usually praised here.", "Dishes are generally liked here."),
        ),
        (FailureKind.OPPOSITE, contradicted("MRI is not covered.", "MRI is not excluded.")),
        (FailureKind.OTHER, contradicted("The pool was lovely.", "The pool was big.")),
    ],
    ids=["hedge elsewhere", "both hedged", "both general", "not excluded", "same tense"],
)
def test_a_look_alike_is_not_the_reason(kind: FailureKind, claim: Claim) -> None:
    """A hedge of another clause, a hedge or a generality of both, an exclusion that is denied."""
    assert failure_kind(claim, 0.9, "") == kind


def test_the_premise_is_the_first_reason() -> None:
    """It tells most; a claim beside the premise keeps its own."""
    premise = "the policy cover outpatient MRI"

    restated = contradicted("The policy covers outpatient MRI.", MRI)

    assert failure_kind(restated, 0.9, premise) == FailureKind.ECHO
    assert (
        failure_kind(baseless(POOL, reason="unlinked"), 0.9, premise) == FailureKind.PRIOR_KNOWLEDGE
    )


def test_only_unfaithful_claims_have_a_kind() -> None:
    """Each names its claim by number."""
    fine = Claim("A", Label.ENTAILED, Label.ENTAILED, 1.0, "h", "attribute", AnswerRange(0, 1), 0)
    unclear = Claim("B", Label.UNDECIDED, NIC, 1.0, "h", "attribute", AnswerRange(0, 1), 0)

    found = list(failure_kinds([fine, unclear, baseless(POOL)], {2: 0.6}, "What is there?"))

    assert found == [Finding("failure_kind", "Overreach", kind="overreach", claim=2)]


def test_the_finding_has_the_stored_id_and_the_label_of_the_issue() -> None:
    """An answer's page and an issue's title call the same failure the same."""
    changed = contradicted("Sales fell.", "Sales rose.", Clash("term", "fell", "rose"))
    missing = baseless("It lasts 30 days.", "It lasts 14 days.", Clash("number", "30 days", ""))

    found = list(failure_kinds([changed, missing], {1: 0.9}, ""))

    assert found == [
        Finding("failure_kind", "Direction reversed", kind="negation_flip", claim=0),
        Finding("failure_kind", "Number not in the source", kind="numeric_slip", claim=1),
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


CLASHES = st.builds(
    Clash,
    st.sampled_from(["number", "date", "name", "negation", "quantifier", "qualifier", "term"]),
    st.text(max_size=12),
    st.text(max_size=12),
)


@given(
    st.text(max_size=80),
    st.text(max_size=80),
    st.lists(CLASHES, max_size=2),
    st.floats(0, 1),
    st.text(max_size=40),
)
def test_any_unfaithful_claim_has_one_of_the_named_kinds(
    text: str, sentence: str, clashes: list[Clash], score: float, premise: str
) -> None:
    """No text breaks it."""
    assert failure_kind(contradicted(text, sentence, *clashes), score, premise) in FailureKind
    assert failure_kind(baseless(text, sentence, *clashes), score, premise) in FailureKind
