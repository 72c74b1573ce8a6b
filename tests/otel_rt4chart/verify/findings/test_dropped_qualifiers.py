"""A claim that leaves out what its passage restricts is found; one that says it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import Exchange, Finding, Passage, RulesJudge, Verifier, revised
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_restrictions
from otel_rt4chart.verify.language.tokens import content

MRI = "Outpatient MRI is covered when prior authorization has been obtained."
COVERED = "The policy covers outpatient MRI."


def dropped(answer: str, *passages: str, question: str = "What is it?") -> list[Finding]:
    """The findings of dropped qualifiers in an answer on those passages."""
    given = [Passage(f"p{number}", text) for number, text in enumerate(passages, 1)]
    report = Verifier(RulesJudge()).verify(Exchange(question, given, answer))
    return [one for one in report.findings if one.name == "dropped_qualifier"]


def test_coverage_without_its_authorization_is_a_dropped_qualifier() -> None:
    """The claim is entailed, and says more than its passage."""
    (finding,) = dropped("Yes, the policy covers outpatient MRI.", MRI)

    assert finding.kind == "condition"
    assert finding.claim == 0
    assert finding.passage_ids == ("p1",)
    assert [one.text for one in finding.evidence] == [MRI]
    assert "when prior authorization has been obtained" in finding.detail


def test_the_case_that_the_question_tells_of_need_not_be_said_again() -> None:
    """The passage opens with it; a condition behind the rule is another matter."""
    told = "My parcel came with a broken lid. What happens now?"
    opening = "If a parcel arrives damaged, a new one is sent within 3 days."
    behind = "A new one is sent within 3 days if you return the lid."
    answer = "A new one is sent within 3 days."

    assert dropped(answer, opening, question=told) == []
    assert len(dropped(answer, opening)) == 1
    assert len(dropped(answer, behind, question=told)) == 1


def test_what_limits_another_predicate_of_the_sentence_is_not_left_out() -> None:
    """Of the predicate itself, it is."""
    passage = "Forms can be signed offline and are sent when the tablet is online again."

    assert dropped("Forms can be signed offline.", passage) == []
    assert len(dropped("Forms are sent.", passage)) == 1


def test_what_the_claim_ends_with_is_no_part_of_what_it_leaves_out() -> None:
    """A condition behind a time limit that is said is named alone, and put back alone."""
    passage = "Refunds are paid within 5 working days if the request was approved."
    answer = "Refunds are paid within 5 working days."

    (finding,) = dropped(answer, passage)
    exchange = Exchange("", [Passage("p1", passage)], answer)
    advice = Verifier(RulesJudge()).verify(exchange).advice

    assert finding.kind == "condition"
    assert finding.detail == ("the passage says “if the request was approved”, the answer does not")
    assert revised(answer, advice.edits) == passage


@pytest.mark.parametrize(
    ("passage", "answer", "words"),
    [
        (
            "The reader can be returned within 14 days of delivery if it is undamaged.",
            "The reader can be returned within 14 days of delivery.",
            "if it is undamaged",
        ),
        (
            "Staff may work from home up to three days a week with the approval of their manager.",
            "Staff may work from home up to three days a week.",
            "with the approval of their manager",
        ),
    ],
)
def test_a_condition_behind_a_limit_that_is_said_is_left_out(
    passage: str, answer: str, words: str
) -> None:
    """However long the limit is that the answer repeats."""
    (finding,) = dropped(answer, passage)

    assert finding.kind == "condition"
    assert finding.detail == f"the passage says “{words}”, the answer does not"


@pytest.mark.parametrize(
    ("kind", "passage", "answer"),
    [
        ("exclusion", "The policy covers outpatient MRI except for cosmetic scans.", COVERED),
        ("condition", "The policy covers outpatient MRI only with prior authorization.", COVERED),
        ("condition", "If it is approved, the policy covers outpatient MRI.", COVERED),
        ("eligibility", "The policy covers outpatient MRI only for members.", COVERED),
        ("eligibility", "Members aged 16 and above are eligible.", "Members are eligible."),
        ("condition", "Outpatient MRI is covered if it was ordered by a doctor.", COVERED),
        (
            "exclusion",
            "All scans are covered, with the exception of MRI.",
            "All scans are covered.",
        ),
        ("exclusion", "Every step was similar except for the dye.", "Every step was similar."),
        ("exclusion", "She paid nobody, except for her aunt.", "She paid nobody."),
        ("population", "Theft from a locked garage is covered.", "Theft is covered."),
        ("place", "Roaming is free in the EU.", "Roaming is free."),
        ("time_limit", "The policy covers outpatient MRI within 30 days of a referral.", COVERED),
        ("bound", "The policy covers up to 3 MRI scans.", "The policy covers 3 MRI scans."),
        ("quantifier", "Most plans cover outpatient MRI.", "Plans cover outpatient MRI."),
        ("quantifier", "Only verified users get a refund.", "Users get a refund."),
        # SummEdits, Apache-2.0
        (
            "condition",
            "Sales agent: Yes, we offer a discount of 5% if you choose to pay annually.",
            "We offer a discount of 5%.",
        ),
        (
            "quantifier",
            "Some parents have refused to let their children attend school.",
            "Parents have refused to let their children attend school.",
        ),
    ],
)
def test_each_kind_of_restriction_may_be_dropped(kind: str, passage: str, answer: str) -> None:
    """The finding says which kind it was."""
    assert [one.kind for one in dropped(answer, passage)] == [kind]


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Yes, the policy covers outpatient MRI with prior authorization.", MRI),
        ("Outpatient MRI is covered with prior auth.", MRI),
        (
            "The policy covers MRI with prior authorization.",
            "The policy covers MRI with prior auth.",
        ),
        ("Outpatient MRI is covered. You need prior authorization for it.", MRI),
        ("The policy covers at most 3 MRI scans.", "The policy covers up to 3 MRI scans."),
        ("Most plans cover outpatient MRI.", "Most plans cover outpatient MRI."),
        ("Verified users get a refund.", "Only verified users get a refund."),
        # SummEdits, Apache-2.0
        (
            "They offer a discount of 5% to those who pay annually.",
            "Sales agent: Yes, we offer a discount of 5% if you choose to pay annually.",
        ),
    ],
    ids=["said", "abbreviated", "spelt out", "elsewhere", "bound", "quantifier", "sole", "pay"],
)
def test_a_restriction_that_the_answer_says_is_not_dropped(answer: str, passage: str) -> None:
    """In other words, shortened, or in another sentence."""
    assert dropped(answer, passage) == []


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        (COVERED, "The policy covers outpatient MRI."),
        (COVERED, "The policy covers outpatient MRI and does not require prior authorization."),
        (COVERED, "The policy covers outpatient MRI and no prior authorization is required."),
        (COVERED, "The policy covers not only outpatient MRI but also CT."),
        (
            "Dental care has its own clinic.",
            "MRI is free if approved, and dental care has its own clinic.",
        ),
        ("The patient had an MRI.", "The patient had an MRI after authorization was obtained."),
        ("The steps were similar.", "The steps were similar except for the dye."),
        # SummEdits, Apache-2.0
        ("The regular price is $80/month.", "Regular Price: $80/month (up to 20 users)."),
        (
            "The kit has small loose parts.",
            "The kit has small loose parts, making it a toy only for adults.",
        ),
        ("Sky would mind.", "Sky would mind if she knew that."),
        ("The bed can be pulled out.", "The bed can be pulled out when needed."),
        ("Feel free to call the desk.", "Feel free to call the desk if you have any questions."),
        ("The output could be affected.", "The output could be affected if it is lost."),
        (
            "Two bags may weigh 40 kg together.",
            "Each passenger may take two bags of up to 20 kg each.",
        ),
        ("There are teams that work on Sundays.", "Some teams work on Sundays."),
    ],
    ids=["plain", "not required", "none required", "not only", "other clause", "story",
         "not of all", "aside", "result", "speech", "when needed", "courtesy", "could",
         "other number", "there are"],
)  # fmt: skip
def test_what_does_not_restrict_the_claim_is_not_dropped(answer: str, passage: str) -> None:
    """Look-alikes, other clauses and stories."""
    assert dropped(answer, passage) == []


@pytest.mark.parametrize(
    ("question", "is_dropped"),
    [
        ("Is parking free on weekdays?", False),
        ("Is parking free?", True),
        ("Is parking free on weekdays only?", True),
    ],
)
def test_a_question_about_the_restricted_case_says_it(question: str, is_dropped: bool) -> None:
    """The answer need not repeat it; a question whether it is restricted says nothing."""
    found = dropped("Parking is free.", "Parking is free on weekdays.", question=question)

    assert bool(found) is is_dropped


def test_a_passage_that_says_it_without_a_limit_is_enough() -> None:
    """The claim does not stand on the restricted one."""
    assert dropped(COVERED, COVERED, "The policy covers outpatient MRI except for children.") == []


def test_a_claim_that_is_not_entailed_drops_nothing() -> None:
    """It has its own failure."""
    assert dropped("The policy covers inpatient surgery in Berlin.", MRI) == []


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("", ["with prior authorization"]),
        ("prior authorization", []),
        ("prior auth", []),
        ("prior", ["with prior authorization"]),
    ],
)
def test_what_is_unsaid_depends_on_the_whole_answer(said: str, left: list[str]) -> None:
    """Most of the restriction's content must stand in it."""
    sentence = "The policy covers outpatient MRI with prior authorization."

    found = dropped_restrictions(sentence, COVERED, content(COVERED + " " + said))

    assert [one.text for one in found] == left


VOCABULARY = """the policy covers MRI only if when with prior authorization is required not all but
    some most plans except unless aged 16 and above within 30 days at most limited to , ."""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=30).map(" ".join)


@given(WORDS | st.text(max_size=120), WORDS | st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_the_check(sentence: str, claim: str, answer: str) -> None:
    """What is dropped is in the sentence; a sentence that is repeated drops nothing."""
    assert all(
        one.text in sentence for one in dropped_restrictions(sentence, claim, content(answer))
    )
    assert dropped_restrictions(sentence, sentence, content(sentence)) == ()
