"""An answer is accepted, revised by the least edits, or escalated with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    Action,
    Advice,
    AnswerRange,
    Claim,
    ClaimStatus,
    DraftClaim,
    Edit,
    Exchange,
    Judgement,
    Label,
    Passage,
    Report,
    RulesJudge,
    Sentence,
    Verifier,
    revised,
)
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.findings.advice import advise

VERIFIER = Verifier(RulesJudge())


def verified(answer: str, *passages: str) -> Report:
    """The report of the rules, whose edits are verified again."""
    retrieved = [Passage(f"p{number}", text) for number, text in enumerate(passages, 1)]
    return VERIFIER.verify(Exchange("", retrieved, answer))


def edited(answer: str, *passages: str) -> str:
    """The answer that is offered in its place."""
    advice = verified(answer, *passages).advice
    assert advice.action is Action.REVISE, advice
    return revised(answer, advice.edits)


TRIAL = "The trial lasts 14 days."
THREE = "The policy covers outpatient MRI, requires prior auth, and excludes cosmetic procedures."
COVERS, REQUIRES, EXCLUDES = (
    "The policy covers outpatient MRI.",
    "The policy requires prior auth.",
    "The policy excludes cosmetic procedures.",
)


@pytest.mark.parametrize(
    ("answer", "passages"),
    [
        (TRIAL, [TRIAL]),
        ("The policy covers outpatient MRI with prior authorization.",
         ["Outpatient MRI is covered when prior authorization has been obtained."]),
        ("I could not find that.", [TRIAL]),
    ],
)  # fmt: skip
def test_a_supported_answer_is_accepted(answer: str, passages: Sequence[str]) -> None:
    """Nothing is changed, and an answer that claims nothing is supported too."""
    advice = verified(answer, *passages).advice

    assert (advice.action, advice.edits) == (Action.ACCEPT, ())


@pytest.mark.parametrize(
    ("answer", "passage", "left"),
    [
        ("The trial lasts 30 days.", TRIAL, TRIAL),
        ("Ben founded Acme in 1990.", "Ann founded Acme in 1990.", "Ann founded Acme in 1990."),
        ("Verification is not required.", "Verification is required.", "Verification is required."),
        ("The offer ends on 3 May 2024.", "The offer ends on 5 June 2024.",
         "The offer ends on 5 June 2024."),
    ],
)  # fmt: skip
def test_a_clashing_value_becomes_that_of_the_source(answer: str, passage: str, left: str) -> None:
    """Only its own characters change."""
    (edit,) = verified(answer, passage).advice.edits

    assert edited(answer, passage) == left
    assert edit.end - edit.start < len(answer) - len("The .")
    assert edit.claim == 0


@pytest.mark.parametrize(
    ("answer", "passage", "left"),
    [
        ("The policy covers outpatient MRI.",
         "Outpatient MRI is covered when prior authorization has been obtained.",
         "The policy covers outpatient MRI when prior authorization has been obtained."),
        ("Refunds are paid for all items.", "Refunds are paid for all items except gift cards.",
         "Refunds are paid for all items except gift cards."),
        ("The discount is 20 percent.", "The discount is up to 20 percent.",
         "The discount is up to 20 percent."),
        ("Members can visit the pool.", "Members aged 16 and above can visit the pool.",
         "Members aged 16 and above can visit the pool."),
        ("Yes, the policy covers outpatient MRI.",
         "Outpatient MRI is covered and requires prior authorization.",
         "Yes, outpatient MRI is covered and requires prior authorization."),
    ],
    ids=["condition", "exclusion", "bound", "population", "requirement"],
)  # fmt: skip
def test_a_dropped_qualifier_is_put_back_in_the_passages_words(
    answer: str, passage: str, left: str
) -> None:
    """Behind the claim, before its number, or by the passage's own sentence."""
    assert edited(answer, passage) == left


def test_an_exclusion_of_another_passage_is_named() -> None:
    """Behind the sentence, without the heading of the passage."""
    assert edited(
        "The policy covers outpatient imaging.",
        "The policy covers outpatient imaging.",
        "Exclusions: outpatient imaging is not covered unless pre-authorized.",
    ) == (
        "The policy covers outpatient imaging. "
        "However, outpatient imaging is not covered unless pre-authorized."
    )


def test_examples_that_another_passage_leaves_out_are_taken_out() -> None:
    """Beside it, "including private rooms" would say the contrary."""
    assert edited(
        "Hospital stays are covered from the first day, including private rooms.",
        "Hospital stays are covered from the first day.",
        "Private rooms in a hospital are paid by the member.",
    ) == (
        "Hospital stays are covered from the first day. "
        "However, private rooms in a hospital are paid by the member."
    )


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ([COVERS, REQUIRES], "The policy covers outpatient MRI and requires prior auth."),
        ([COVERS, EXCLUDES], "The policy covers outpatient MRI and excludes cosmetic procedures."),
        ([REQUIRES, EXCLUDES], "The policy requires prior auth and excludes cosmetic procedures."),
    ],
    ids=["last", "middle", "first"],
)
def test_a_claim_is_taken_out_of_its_sentence(said: Sequence[str], left: str) -> None:
    """With its comma or conjunction, and the subject stays."""
    assert edited(THREE, " ".join(said)) == left


REST = "Refunds take 5 days."
EXTRA = "Priority email support is included."


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (f"{TRIAL} {EXTRA} {REST}", f"{TRIAL} {REST}"),
        (f"{EXTRA} {TRIAL} {REST}", f"{TRIAL} {REST}"),
        (f"{TRIAL} {REST} {EXTRA}", f"{TRIAL} {REST}"),
        (f"- {TRIAL}\n- {EXTRA}\n- {REST}", f"- {TRIAL}\n- {REST}"),
        (f"{TRIAL}\n\n{EXTRA} {REST}", f"{TRIAL}\n\n{REST}"),
        (f"{TRIAL} {EXTRA}\n\n{REST}", f"{TRIAL}\n\n{REST}"),
    ],
)
def test_a_sentence_whose_only_claim_goes_goes_too(answer: str, left: str) -> None:
    """With the space on one side, and the other paragraphs and list items as they were."""
    assert edited(answer, f"{TRIAL} {REST}") == left


def test_a_wrong_citation_is_removed_from_a_right_claim() -> None:
    """The passages support the claim, the cited one does not."""
    answer = f"The trial lasts 14 days [2]. {REST}"

    assert edited(answer, REST, "Hotels are blue.", TRIAL) == f"{TRIAL} {REST}"
    assert edited(f"The trial lasts 14 days [9]. {REST}", f"{TRIAL} {REST}") == f"{TRIAL} {REST}"


@pytest.mark.parametrize(
    ("answer", "passages", "reason"),
    [
        (EXTRA, [TRIAL], "the edit would remove most of the answer: 1 of 1 claims"),
        (f"{TRIAL} {EXTRA} It is free. {REST} {REST}", [TRIAL, REST, "It is free."],
         "depends on the sentence that would be removed"),
        ("The pool is heated.", ["The pool is heated.", "The pool is not heated."],
         "the passages disagree"),
        (TRIAL, [], "1 claim could not be verified: no_context"),
        ("The trial lasts 30 days. Refunds take 9 days.", [TRIAL, REST],
         "2 claims contradict the passages"),
    ],
    ids=["all of it", "it", "disagree", "no passages", "contradictions"],
)  # fmt: skip
def test_what_has_no_safe_edit_is_escalated(
    answer: str, passages: Sequence[str], reason: str
) -> None:
    """With the reason, and without any edit."""
    advice = verified(answer, *passages).advice

    assert (advice.action, advice.edits) == (Action.ESCALATE, ())
    assert reason in advice.reason


def test_uncertain_verdicts_and_failures_of_the_judge_are_escalated() -> None:
    """An edit on a guess would be a guess."""
    text = "It is warm here"
    for script, reason in (
        (Script(Label.BASELESS, confidence=0.55), "the judge is not certain of 1 verdict"),
        (Script(Label.ENTAILED, evidence=("warm",), confidence=0.4), "the judge is not certain"),
        (Script(Label.UNDECIDED), "1 claim could not be verified"),
    ):
        judge = ScriptedJudge({text: script})
        report = Verifier(judge).verify(Exchange("", [Passage("p", "Warm is it here.")], text))
        assert (report.advice.action, reason in report.advice.reason) == (Action.ESCALATE, True)


class Stubborn(RulesJudge):
    """Calls every claim about the trial unsupported, so that no edit of it helps."""

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The rules' verdicts, but for those."""
        judged = super().resolve(claims, context, hint=hint, question=question)
        return [
            replace(one, label=Label.CONTRADICTED, sentences=(0,)) if "trial" in claim.text else one
            for claim, one in zip(claims, judged, strict=True)
        ]


@pytest.mark.parametrize(("checks", "action"), [(True, Action.ESCALATE), (False, Action.REVISE)])
def test_an_edit_that_does_not_verify_is_not_offered(checks: bool, action: Action) -> None:
    """Unless it was asked not to check."""
    exchange = Exchange("", [Passage("p", f"{TRIAL} {REST}")], f"The trial lasts 30 days. {REST}")

    advice = Verifier(Stubborn(), check_edits=checks).verify(exchange).advice

    assert advice.action is action
    if checks:
        assert advice == Advice(
            Action.ESCALATE, "no edit is offered: in the edited answer, 1 claim would fail"
        )


SENTENCES = [TRIAL, REST, EXTRA, "The pool is heated.", "Ann founded Acme in 1990.", "Sure!"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5, unique=True),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.sampled_from([" ", "\n", "\n\n", "  "]),
)
def test_dropping_sentences_leaves_the_others_as_they_were(
    parts: list[str], drops: list[bool], between: str
) -> None:
    """Edits do not overlap, their offsets hold, and no space is doubled or left dangling."""
    answer = between.join(parts)
    claims, at = [], 0
    for number, (part, drop) in enumerate(zip(parts, drops, strict=False)):
        start = answer.index(part, at)
        at = start + len(part)
        label = Label.BASELESS if drop else Label.ENTAILED
        status = ClaimStatus.UNSUPPORTED if drop else ClaimStatus.SUPPORTED
        claims.append(
            Claim(part, label, label, 0.9, "hand", "attribute", AnswerRange(start, at), number,
                  status=status)
        )  # fmt: skip
    kept = [part for part, drop in zip(parts, drops, strict=False) if not drop]

    advice = advise(answer, claims, [])

    assert revised(answer, ()) == answer
    if advice.action is Action.REVISE:
        left = revised(answer, advice.edits)
        assert left.split() == " ".join(kept).split()
        assert left == left.strip()
        assert all(0 <= one.start <= one.end <= len(answer) for one in advice.edits)
    elif advice.action is Action.ACCEPT:
        assert not any(drops[: len(parts)])
    else:
        assert 2 * len(kept) < len(parts)


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        (
            "The plan covers MRI scans and X-rays.",
            "The plan covers MRI scans only after prior authorization, and covers X-rays.",
        ),
        (
            "Refunds are issued and exchanges are always possible.",
            "Refunds are issued within 30 days and exchanges are always possible.",
        ),
        (
            "The plan covers dental care and vision care.",
            "The plan covers dental care, except orthodontics, and vision care.",
        ),
    ],
)
def test_a_restriction_of_one_part_is_not_put_behind_all(answer: str, passage: str) -> None:
    """It would restrict what the passage does not restrict; the passage's sentence is right."""
    assert edited(answer, passage) in (passage, "")


def test_edits_that_overlap_are_refused() -> None:
    """One of them would be lost."""
    edits = [Edit(0, 5, "a", 0, ""), Edit(3, 6, "b", 1, "")]

    with pytest.raises(ValueError, match="expected edits that do not overlap, got 3:6"):
        revised("The trial", edits)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.text(max_size=60))
def test_no_text_breaks_the_advice(answer: str, passage: str) -> None:
    """Whatever the texts, the edits can be made."""
    report = verified(answer, passage, answer[:40])

    assert isinstance(revised(answer, report.advice.edits), str)
