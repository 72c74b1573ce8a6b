from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rt4chart_collector
from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.verify.core.model import DraftClaim, Sentence
from otel_rt4chart.verify.decompose.grounding import grounding_problem, missing_content
from otel_rt4chart.verify.decompose.rules import LEAD_IN, decompose
from otel_rt4chart.verify.text.segment import segment

DEMO = Path(rt4chart_collector.__file__).parent / "demo/data"


def claims(answer: str) -> list[str]:
    """The texts that are claims."""
    return [draft.text for draft in decompose(segment(answer)) if draft.is_claim]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "Smith, who was born in 1960, won the prize.",
            ["Smith was born in 1960", "Smith won the prize."],
        ),
        (
            "The policy, which covers dental, requires a fee and excludes vision.",
            [
                "The policy covers dental",
                "The policy requires a fee",
                "The policy excludes vision.",
            ],
        ),
        (
            "The plan covers MRI, which requires a referral.",
            ["The plan covers MRI", "MRI requires a referral."],
        ),
        (
            "The firm was founded in Berlin, which is the capital of Germany.",
            ["The firm was founded in Berlin", "Berlin is the capital of Germany."],
        ),
        (
            "Ann Lee, the head of Acme, joined the board in 1999.",
            ["Ann Lee, the head of Acme", "Ann Lee joined the board in 1999."],
        ),
    ],
)
def test_relative_clauses_and_appositions_are_claims(answer: str, expected: list[str]) -> None:
    """Each is read behind the name that it stands behind; no verb is made up."""
    assert claims(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "The plan covers the exam, the glasses and the surgery.",
            [
                "The plan covers the exam",
                "The plan covers the glasses",
                "The plan covers the surgery.",
            ],
        ),
        (
            "He won an Oscar in 1990 and a Grammy in 1995.",
            ["He won an Oscar in 1990", "He won a Grammy in 1995."],
        ),
        (
            "It was built by Acme in 1990 for $3 million.",
            ["It was built by Acme", "It was built in 1990", "It was built for $3 million."],
        ),
        (
            "The bridge was opened by the Queen on 4 May 1932 in London.",
            [
                "The bridge was opened by the Queen",
                "The bridge was opened on 4 May 1932 in London.",
            ],
        ),
        (
            "Tesla acquired SolarCity in 2016 for $2.6 billion.",
            ["Tesla acquired SolarCity in 2016", "Tesla acquired SolarCity for $2.6 billion."],
        ),
        (
            "A is faster than B and cheaper than C.",
            ["A is faster than B", "A is cheaper than C."],
        ),
    ],
)
def test_objects_agents_dates_and_comparisons_are_claims(answer: str, expected: list[str]) -> None:
    """The words before the first one are read again before each further one."""
    assert claims(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "He left Paris, which surprised her.",
        "The roof of the house, which leaks, is red and old.",
        "Acme sells phones, games and maps, which can be bought with a discount.",
        "Every plan, which covers dental, is free.",
        "Ann, the chair, and Bob joined the board.",
        "The plan does not cover the exam and the surgery.",
        "The plan covers only the exam and the surgery.",
        "The plan covers the exam in adults and the surgery.",
        "The house has a roof and a pool in the back.",
        "The plan covers either the exam or the surgery.",
        "It lasted a year and a half.",
        "The firm links the bank and the shop together.",
        "It was first opened by the Queen in 1932.",
        "It was not opened by the Queen in 1932.",
        "Tesla acquired SolarCity in 2016.",
        "A is faster than B and C.",
        "Officials said the plan covers the exam and the surgery.",
        "The plan covers the exam and the surgery if you are a member.",
    ],
)
def test_what_may_belong_together_is_kept_whole(answer: str) -> None:
    """An unclear antecedent, a negation, a limit or a condition splits nothing."""
    assert claims(answer) == [answer]


def test_ranges_of_a_sentence_cover_all_but_its_joints() -> None:
    """The name before a relative clause is marked with it; what is read again is marked once."""
    answer = "Smith, who was born in 1960, won the prize."

    marked = [answer[draft.range.start : draft.range.end] for draft in decompose(segment(answer))]

    assert marked == ["Smith, who was born in 1960", "won the prize."]


class Fact(NamedTuple):
    """A predicate with a number that no other has, and what must stay with that number."""

    text: str
    number: str
    kept: frozenset[str]


QUALIFIERS = frozenset(("not", "may", "only", "never", "about"))
SUBJECTS = ("Acme", "The Gold plan", "Ann Lee", "The firm", "It", "They")
NAMES = ("the Basic plan", "Bruno", "the bar", "it", "his sister", "Berlin Bank")
PREDICATES = (
    "covers {} tests",
    "does not cover {} tests",
    "may cost ${}",
    "requires only {} forms",
    "never sold {} phones",
    "is not sold in {} shops",
    "was built by Carl in 20{}",
    "has about {} members",
    "won the cup in 20{} for $9 million",
    "includes the bag and the box for ${}",
)
WHOLE = ("", "", "", "According to Dora, ", "If you pay, ")


@st.composite
def built_sentences(draw: st.DrawFn) -> tuple[str, str, tuple[Fact, ...]]:
    """A sentence, the words that belong to all of it, and its facts."""
    texts = draw(st.lists(st.sampled_from(PREDICATES), min_size=2, max_size=3))
    numbers = draw(st.permutations(["17", "23", "31"]))
    facts: list[Fact] = []
    subjects = [draw(st.sampled_from(SUBJECTS))]
    joined = ""
    shape = draw(st.sampled_from(("shared", "own", "relative", "apposition")))
    for text, number in zip(texts, numbers, strict=False):
        said = text.format(number)
        if joined and shape == "own":
            subjects.append(draw(st.sampled_from(NAMES)))
        if not joined:
            joined = {
                "relative": f"{subjects[0]}, which {said},",
                "apposition": f"{subjects[0]}, a firm from Utah, {said}",
            }.get(shape, f"{subjects[0]} {said}")
        else:
            own = f" {subjects[-1]}" if shape == "own" else ""
            joint = draw(st.sampled_from((" and", ", and", " but", ", but")))
            is_first = shape == "relative" and len(facts) == 1
            joined += f" {said}" if is_first else f"{joint}{own} {said}"
        kept = QUALIFIERS & set(said.split()) | {subjects[-1]}
        facts.append(Fact(said, number, frozenset(kept)))
    scope = draw(st.sampled_from(WHOLE))
    return f"{scope}{joined}.", scope, tuple(facts)


@given(built_sentences())
def test_a_number_keeps_its_subject_negation_and_qualifiers(
    built: tuple[str, str, tuple[Fact, ...]],
) -> None:
    """Whatever is split, a claim with a fact's number says all of that fact, and of no other."""
    sentence, scope, facts = built

    for claim in claims(sentence):
        held = [fact for fact in facts if re.search(rf"(?<!\d)(?:20)?{fact.number}\b", claim)]
        wanted = frozenset[str]().union(*(fact.kept for fact in held))
        assert scope.strip() in claim
        assert all(word in claim for word in wanted)
        if held:
            assert QUALIFIERS & set(claim.split()) == QUALIFIERS & wanted


@given(built_sentences())
def test_no_word_of_a_built_sentence_is_lost(built: tuple[str, str, tuple[Fact, ...]]) -> None:
    """Numbers, names, negations and qualifiers are in a claim."""
    (sentence,) = segment(built[0])

    assert lost(sentence) == []


def lost(sentence: Sentence) -> list[str]:
    """The problems that the guards see in the sentence's claims, and the words in none of them."""
    drafts = decompose([sentence])
    said = [draft.text for draft in drafts if draft.is_claim]
    if not said:
        return []
    others = [draft.text for draft in drafts if not draft.is_claim]
    problems = [grounding_problem(claim, sentence.text) for claim in said]
    problems += missing_content(sentence.text, said, others)
    return [*filter(None, problems), *_unsaid(sentence, drafts)]


def _unsaid(sentence: Sentence, drafts: tuple[DraftClaim, ...]) -> list[str]:
    start = 0
    while (lead := LEAD_IN.match(sentence.text, start)) and lead.end() < len(sentence.text):
        start = lead.end()
    words = re.findall(r"\w+", sentence.text[start:].lower())
    said = {word for draft in drafts for word in re.findall(r"\w+", draft.text.lower())}
    joints = {"and", "but", "while", "whereas", "however", "who", "which"}
    return [word for word in words if word not in said | joints]


def test_no_word_of_the_demos_answers_is_lost() -> None:
    """Real sentences, with people's edits in them."""
    rows = read_rows(DEMO)
    sentences = [sentence for row in rows for sentence in segment(row.exchange.answer)]

    assert len(sentences) > 500
    assert [text for sentence in sentences for text in lost(sentence)] == []
