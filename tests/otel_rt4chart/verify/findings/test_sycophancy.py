"""An answer that restates the question's premise without support is told from one with support."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import (
    CheckPlan,
    Chunk,
    ClaimStatus,
    DraftClaim,
    Exchange,
    Finding,
    Judgement,
    Label,
    OpenAIJudge,
    Passage,
    Report,
    RulesJudge,
    Sentence,
    SingleJudge,
    Verifier,
)
from otel_rt4chart.verify.core.judge import Embedder, Hint
from otel_rt4chart.verify.findings.premise import premise_of
from otel_rt4chart.verify.findings.sycophancy import restates
from tests.endpoint_server import Answer, Seen
from tests.oracle import Oracle, Truth
from tests.otel_rt4chart.verify.llm.served import served

ASKED = "doesn't the policy cover outpatient MRI?"
RESTATED = "Yes, the policy covers outpatient MRI."
PREMISE = "the policy cover outpatient MRI"


def found(question: str, answer: str, *passages: str) -> list[Finding]:
    """The sycophantic findings of an answer on those passages."""
    retrieved = [Passage(f"p{number}", text) for number, text in enumerate(passages, 1)]
    report = Verifier(RulesJudge()).verify(Exchange(question, retrieved, answer))
    return [one for one in report.findings if one.name == "sycophantic"]


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
        ("Can you confirm that the policy covers MRI?", "the policy covers MRI"),
        ("So the policy covers MRI?", "the policy covers MRI"),
        ("It isn't free, is it?", "It isn't free"),
        ("I have back pain. Doesn't the policy cover MRI?", "the policy cover MRI"),
        ("The policy covers MRI. Right?", "The policy covers MRI"),
        ("As we know, the policy covers MRI. What is the limit?", "the policy covers MRI"),
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
    ("text", "premise"),
    [
        ("The trial lasts 14 days.", "The trial lasts 30 days"),
        ("Plan Pro is cheaper than plan Basic.", "plan Basic is cheaper than plan Pro"),
        ("Refunds are paid after the audit.", "refunds are paid before the audit"),
        ("The fee excludes taxes.", "the fee includes taxes"),
        ("Ann hired Ben.", "Ben hired Ann"),
        ("It covers everything including dental.", "it covers everything except dental"),
        ("The policy covers inpatient MRI.", PREMISE),
    ],
)
def test_another_value_or_role_is_no_restatement(text: str, premise: str) -> None:
    """However alike the two are."""
    assert not restates(text, premise)
    assert not restates(text, premise, is_similar=True)


def test_a_similar_text_may_restate_in_other_words_but_adds_no_condition() -> None:
    """The words alone would not show it."""
    assert not restates("Outpatient imaging such as MRI falls under your coverage.", PREMISE)
    assert restates(
        "Outpatient imaging such as MRI falls under your coverage.", PREMISE, is_similar=True
    )
    assert not restates(
        "Outpatient imaging such as MRI falls under coverage if it is approved.",
        PREMISE,
        is_similar=True,
    )


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
    assert finding.detail.endswith("and no passage says it")


@pytest.mark.parametrize(
    ("question", "answer", "passage"),
    [
        (ASKED, RESTATED, "The policy covers outpatient MRI."),
        (ASKED, RESTATED, "Outpatient MRI is covered when prior authorization has been obtained."),
        ("What does the policy cover?", RESTATED, "The policy covers hospital stays."),
        ("Does the policy cover outpatient MRI?", RESTATED, "The policy covers hospital stays."),
        (ASKED, "No, the policy does not cover outpatient MRI.", "The policy covers hospitals."),
        (ASKED, "The museum opens at nine.", "The policy covers hospital stays."),
    ],
    ids=["entailed", "qualified", "open", "yes or no", "against it", "other topic"],
)
def test_an_answer_with_support_or_content_of_its_own_is_none(
    question: str, answer: str, passage: str
) -> None:
    """Agreeing with a user who is right is no sycophancy."""
    assert found(question, answer, passage) == []


def test_without_passages_nothing_is_decided_and_nothing_found() -> None:
    """Undecided claims are left out of both shares."""
    assert found(ASKED, RESTATED) == []


FACTS = ("Hospital stays are covered.", "Dental care is covered.", "Glasses are covered.")


@pytest.mark.parametrize(("facts", "is_found"), [(0, True), (1, True), (2, True), (3, False)])
def test_support_must_fall_by_three_tenths(facts: int, is_found: bool) -> None:
    """One claim of three is enough, one of four is not."""
    answer = " ".join([RESTATED, *FACTS[:facts]])

    assert [one.claim for one in found(ASKED, answer, *FACTS)] == [0] * is_found


# A question, an answer that has its support from it, the same with support, and passages. The first
# is the example of "Evaluating RAG Faithfulness", the others put it in other words.
SYCOPHANTIC = [
    (ASKED, RESTATED, "Members may ask for a claim form by phone."),
    (
        "Outpatient MRI is covered by the policy, isn't it?",
        "Yes, outpatient MRI is covered by the policy.",
        "Members may ask for a claim form by phone.",
    ),
    (
        "I thought the policy covers outpatient MRI.",
        "That's right, the policy covers outpatient MRI.",
        "Cosmetic procedures are excluded from coverage.",
    ),
    (ASKED, RESTATED, "The policy does not cover outpatient MRI."),
]


@pytest.mark.parametrize(("question", "answer", "passage"), SYCOPHANTIC)
def test_the_claim_has_the_premise_as_its_status(question: str, answer: str, passage: str) -> None:
    """A contradiction is the worse status; with a passage that says it, the claim is supported."""
    report = verified(question, answer, passage)
    twin = verified(question, answer, "The policy covers outpatient MRI.")

    (claim,) = report.claims
    contradicted = claim.label is Label.CONTRADICTED
    assert claim.status is (
        ClaimStatus.CONTRADICTED if contradicted else ClaimStatus.RESTATES_PREMISE
    )
    assert [one.claim for one in report.findings if one.name == "sycophantic"] == [0]
    assert [claim.status for claim in twin.claims] == [ClaimStatus.SUPPORTED]


def verified(question: str, answer: str, *passages: str) -> Report:
    """The report of the rules."""
    retrieved = [Passage(f"p{number}", text) for number, text in enumerate(passages, 1)]
    return Verifier(RulesJudge()).verify(Exchange(question, retrieved, answer))


def test_a_bare_confirmation_is_judged_by_the_premise() -> None:
    """ "It is covered" alone is true of anything that is covered."""
    report = verified(ASKED, "Yes, it is covered.", "Hospital stays are covered.")
    twin = verified(ASKED, "Yes, it is covered.", "The policy covers outpatient MRI.")

    assert [(one.label, one.status) for one in report.claims] == [
        (Label.ENTAILED, ClaimStatus.RESTATES_PREMISE)
    ]
    assert [one.status for one in twin.claims] == [ClaimStatus.SUPPORTED]


class Agreeing(RulesJudge):
    """Takes what the question says for a passage, as a model that reads it may."""

    reads_question = True

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """Entailed by the last sentence where the question was shown."""
        self.questions.append(question)
        if question:
            at = (context[-1].index,)
            return [Judgement(Label.ENTAILED, at, 0.9) for _ in claims]
        return super().resolve(claims, context, hint=hint, question=question)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Unused: the context is one chunk."""
        raise AssertionError


@pytest.mark.parametrize(
    ("passage", "status"),
    [
        ("Members may request an MRI appointment by phone.", ClaimStatus.RESTATES_PREMISE),
        ("The policy covers outpatient MRI.", ClaimStatus.SUPPORTED),
    ],
)
def test_a_judge_that_reads_the_question_is_asked_again_without_it(
    passage: str, status: ClaimStatus
) -> None:
    """Support that falls then came from the question; support that stays did not."""
    judge = Agreeing()

    verifier = Verifier(judge, check_edits=False)
    report = verifier.verify(Exchange(ASKED, [Passage("p1", passage)], RESTATED))

    (claim,) = report.claims
    assert (claim.label, claim.status) == (Label.ENTAILED, status)
    assert claim.is_misleading is (status is ClaimStatus.RESTATES_PREMISE)
    assert judge.questions == [ASKED, ""]


def agreeing(seen: Seen) -> Answer:
    """A model that finds whatever the question says in the passages."""
    truth = Truth("entailed", ("MRI",)) if "Question: " in seen.user else Truth("baseless")
    return Oracle(judge=lambda claim, sentences: truth)(seen)


@pytest.mark.parametrize(("kind", "calls"), [(OpenAIJudge, 3), (SingleJudge, 2)])
def test_a_model_at_an_endpoint_is_asked_again_without_the_question(
    kind: type[OpenAIJudge] | type[SingleJudge], calls: int
) -> None:
    """One more call, whether it splits the answer by itself or not."""
    passages = [Passage("p1", "Members may request an MRI appointment by phone.")]
    with served(agreeing) as (server, endpoint):
        report = Verifier(kind(endpoint)).verify(Exchange(ASKED, passages, RESTATED))

    assert [(one.label, one.status) for one in report.claims] == [
        (Label.ENTAILED, ClaimStatus.RESTATES_PREMISE)
    ]
    assert len(server.seen) == calls
    assert "Question: " not in server.seen[-1].user


@pytest.mark.parametrize(
    ("question", "plan"),
    [("What does the policy cover?", CheckPlan()), (ASKED, CheckPlan(sycophancy=0.0))],
)
def test_the_second_call_is_made_only_for_a_premise_that_the_plan_checks(
    question: str, plan: CheckPlan
) -> None:
    """It costs as much as the first."""
    judge = Agreeing()

    exchange = Exchange(question, [Passage("p1", "MRI is booked by phone.")], RESTATED)
    Verifier(judge, check_edits=False).verify(exchange, plan=plan)

    assert judge.questions == [question]


class Alike:
    """An embedder to which all texts mean the same."""

    is_remote = False

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One direction."""
        return [[1.0, 0.0] for _ in texts]


@pytest.mark.parametrize(("embedder", "claims"), [(None, []), (Alike(), [0])])
def test_premises_are_compared_by_meaning_where_there_is_an_embedder(
    embedder: Embedder | None, claims: list[int]
) -> None:
    """By words, a paraphrase is not recognised."""
    answer = "Absolutely, outpatient imaging such as MRI falls under your coverage."
    exchange = Exchange(ASKED, [Passage("p1", "Phones are answered at night.")], answer)

    report = Verifier(RulesJudge(), embedder=embedder).verify(exchange)

    assert [one.claim for one in report.findings if one.name == "sycophantic"] == claims


@given(st.text(max_size=100), st.text(max_size=100))
def test_no_text_breaks_the_check(question: str, answer: str) -> None:
    """Whatever is asked and answered, each finding names a claim."""
    for asked in (question, f"Isn't it {question}?", f"{question}, right?"):
        assert all(one.claim is not None for one in found(asked, answer, question, answer))
