from __future__ import annotations

import pytest

from otel_rt4chart.verify.decompose.coordination import verbs
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.text.segment import segment


def claims(answer: str) -> list[str]:
    """The texts that are claims."""
    return [draft.text for draft in decompose(segment(answer)) if draft.is_claim]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "The policy covers outpatient MRI, requires prior auth, and excludes cosmetic surgery.",
            [
                "The policy covers outpatient MRI",
                "The policy requires prior auth",
                "The policy excludes cosmetic surgery.",
            ],
        ),
        (
            "Hubble launched on April 24, 1990 as part of STS-31, and is the largest telescope.",
            [
                "Hubble launched on April 24, 1990 as part of STS-31",
                "Hubble is the largest telescope.",
            ],
        ),
        (
            "The company moved to Berlin in 2010, hired 40 people, and opened a second office.",
            [
                "The company moved to Berlin in 2010",
                "The company hired 40 people",
                "The company opened a second office.",
            ],
        ),
        (
            "The bridge was opened in 1932, closed in 1990 and is now a museum.",
            ["The bridge was opened in 1932, closed in 1990", "The bridge is now a museum."],
        ),
        (
            "The plan can't cover MRI and requires referrals.",
            ["The plan can't cover MRI", "The plan requires referrals."],
        ),
        (
            "However, the policy also covers MRI scans and excludes dental care.",
            ["However, the policy also covers MRI scans", "the policy excludes dental care."],
        ),
        (
            "The drug is safe for adults but is not approved for children.",
            ["The drug is safe for adults", "The drug is not approved for children."],
        ),
        (
            "It keeps 50% of it (the fee) and pays $3 back.",
            ["It keeps 50% of it (the fee)", "It pays $3 back."],
        ),
    ],
)
def test_predicates_that_share_a_subject_are_claims(answer: str, expected: list[str]) -> None:
    """Each is read behind the subject's own words."""
    assert claims(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "It is the largest space telescope ever built and it is still in operation.",
            ["It is the largest space telescope ever built", "it is still in operation."],
        ),
        ("The pool is warm and the bar is closed.", ["The pool is warm", "the bar is closed."]),
        (
            "Tom visits Paris and Anna goes to Rome and likes it.",
            ["Tom visits Paris", "Anna goes to Rome", "Anna likes it."],
        ),
        (
            "The plan covers MRI, and the firm moved to Berlin and is rich.",
            ["The plan covers MRI", "the firm moved to Berlin", "the firm is rich."],
        ),
        (
            "Sales grew by 9%, and their revenue for the first quarter of the year is $3 million.",
            ["Sales grew by 9%", "their revenue for the first quarter of the year is $3 million."],
        ),
        (
            "Alex meets Jacob after work on Friday, and the agent suggests a new pub.",
            ["Alex meets Jacob after work on Friday", "the agent suggests a new pub."],
        ),
        (
            "The plan does not cover MRI and it is not sold in Utah.",
            ["The plan does not cover MRI", "it is not sold in Utah."],
        ),
    ],
)
def test_clauses_with_subjects_of_their_own_are_claims(answer: str, expected: list[str]) -> None:
    """Also without a comma, where the second noun can only be a subject."""
    assert claims(answer) == expected


def test_a_predicates_range_is_its_own_words() -> None:
    """The subject is read with it, but marked once only."""
    answer = "The trial is free and has no limits."
    _, second = decompose(segment(answer))

    assert second.text == "The trial has no limits."
    assert answer[second.range.start : second.range.end] == "has no limits."


@pytest.mark.parametrize(
    "answer",
    [
        "Romeo and Juliet met in Verona.",
        "They talk about food, travel, and celebrity crushes.",
        "The plan covers dental, vision and hearing exams.",
        "She bought the books, covers and stamps.",
        "The store sells books, pens, and covers for phones.",
        "The shop sold new and used cars.",
        "Customers have praised the rainbow roll and CA roll.",
        "Doctor visits require a copay and will cost $5.",
        "The company designs and sells phones.",
    ],
)
def test_nouns_and_shared_objects_split_nothing(answer: str) -> None:
    """A plural or a participle is no predicate, and a verb without its object no claim."""
    assert claims(answer) == [answer]


@pytest.mark.parametrize(
    "answer",
    [
        "The report claims the plant is safe and has been inspected.",
        "The plant is safe and was inspected, officials said.",
        "The study found the drug works and is safe.",
        "If the item is damaged, the store refunds it and sends a new one.",
        "The store refunds the item and sends a new one, provided that you verify.",
        "The store refunds the item and sends a new one after you verify.",
        "The bank charges a fee and keeps the account until the customer leaves.",
    ],
)
def test_a_speaker_or_a_condition_keeps_the_sentence_whole(answer: str) -> None:
    """It may be meant of every predicate."""
    assert claims(answer) == [answer]


@pytest.mark.parametrize(
    "answer",
    [
        "The plan does not cover MRI or require referrals.",
        "The item can be returned and exchanged.",
        "You must sign and return the form.",
        "No plan covers dental and includes vision.",
        "The plan only covers MRI and requires a referral.",
        "The firm never made a profit and was sold.",
        "Bob wanted to go home and have dinner.",
    ],
)
def test_what_may_stand_under_a_negation_or_a_modal_is_not_cut_off(answer: str) -> None:
    """A form that shares an auxiliary is no finite verb."""
    assert claims(answer) == [answer]


@pytest.mark.parametrize(
    "answer",
    [
        "Users who verify and pay get access.",
        "The plan which covers the pool and the bar is cheap.",
        "The firm founded by Ann and the bar is rich.",
        "The pool and the bar are closed.",
        "Make sure the item is new and it is clean.",
        "He was arrested after the strike and the riot was over.",
        "Ann, who is a champion, and her team won the race.",
        "The man arrested on Monday was charged and is in jail.",
        "Police arrested a man accused of fraud and charged with theft.",
    ],
)
def test_a_verb_that_may_have_another_subject_is_not_cut_off(answer: str) -> None:
    """Two verbs before the conjunction leave in doubt which of them it joins."""
    assert claims(answer) == [answer]


def test_the_table_tells_plain_verbs_from_possible_nouns() -> None:
    """A form that may be a plural needs an object before it counts."""
    assert verbs()["requires"].is_sure
    assert not verbs()["covers"].is_sure
    assert "exams" not in verbs()
    assert "taken" not in verbs()
