from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    AnswerLabel,
    AnswerRange,
    Chunk,
    Clash,
    DraftClaim,
    Exchange,
    Hint,
    Judgement,
    Label,
    Passage,
    RulesJudge,
    Sentence,
    Verifier,
)
from tests.running_example import ANSWER, POLICY

CON, ENT, NIC = Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS

# The running example of the RT4CHART paper (Figure 1, Table 1): three chunks, five claims.
SCRIPTS = {
    "The policy applies to all users": Script(
        CON, (CON, CON, NIC), ("must verify", "applies only to new users", "Verification is")
    ),
    "Verification is not required": Script(
        CON,
        (CON, CON, NIC),
        ("must verify", "is required"),
        clashes=(Clash("negation", "not required", "required"),),
    ),
    "The free trial lasts 14 days": Script(
        ENT, (NIC, ENT, ENT), ("lasts 14 days", "An extension of")
    ),
    "Verified new users can receive a one-time 7-day extension of the free trial": Script(
        ENT, (NIC, NIC, NIC), ("Verified users can ask once", "is 7 days")
    ),
    "The trial includes priority email support": Script(NIC, (NIC, NIC, NIC)),
}


def test_running_example_gets_the_papers_local_and_final_labels() -> None:
    """OR-join per claim, evidence over chunks found globally, AND-join for the answer."""
    judge = ScriptedJudge(SCRIPTS)
    exchange = Exchange("What does the trial offer?", [Passage("p1", POLICY)], ANSWER)

    report = Verifier(judge, window=3, overlap=1).verify(exchange)

    assert [c.local_label for c in report.claims] == [CON, CON, ENT, NIC, NIC]
    assert [c.label for c in report.claims] == [CON, CON, ENT, ENT, NIC]
    assert report.label is AnswerLabel.CONTRADICTED
    assert report.hallucination_rate == pytest.approx(3 / 5)
    assert [e.text for e in report.claims[3].evidence] == [
        "Verified users can ask once.",
        "An extension of the free trial is 7 days.",
    ]
    assert report.claims[4].evidence == ()
    assert ANSWER[slice(*report.claims[1].answer_range)] == "not required"


def test_calls_are_batched_by_chunk_and_by_hint() -> None:
    """One call a chunk for all claims, then one a hint group, whatever the number of claims."""
    judge = ScriptedJudge(SCRIPTS)

    report = Verifier(judge, window=3, overlap=1).verify(
        Exchange("", [Passage("p1", POLICY)], ANSWER)
    )

    assert [call[:2] for call in judge.calls] == [
        ("assess", 0),
        ("assess", 1),
        ("assess", 2),
        ("resolve", -1),
        ("resolve", 0),
        ("resolve", 1),
    ]
    assert [len(claims) for kind, _, claims in judge.calls if kind == "assess"] == [5, 5, 4]
    assert report.usage.calls == 0  # a judge in this process costs none


def test_a_chunk_is_not_asked_about_claims_that_none_of_its_sentences_can_bear_on() -> None:
    """Linking says where to look; the whole context is read all the same."""
    judge = ScriptedJudge(SCRIPTS)

    Verifier(judge, window=3, overlap=1).verify(Exchange("", [Passage("p1", POLICY)], ANSWER))

    last = next(claims for kind, at, claims in judge.calls if (kind, at) == ("assess", 2))
    assert "Verification is not required" not in last


def test_a_context_of_one_chunk_is_judged_once() -> None:
    """Local and global verification would read the same text."""
    judge = ScriptedJudge(SCRIPTS)

    report = Verifier(judge).verify(Exchange("", [Passage("p1", POLICY)], ANSWER))

    assert [call[:2] for call in judge.calls] == [("resolve", -1)]
    assert [claim.label for claim in report.claims] == [CON, CON, ENT, ENT, NIC]


def test_hubble_example_has_a_rate_of_three_quarters() -> None:
    """The prompt card's example: two contradicted, one entailed, one baseless."""
    context = (
        "The Hubble Space Telescope was deployed from Space Shuttle Discovery on April 25, 1990, "
        "during STS-31. It has since been serviced five times."
    )
    answer = (
        "Hubble launched on April 24, 1990 from Space Shuttle Atlantis as part of mission STS-31, "
        "and is the largest space telescope ever built."
    )
    deployed = ("was deployed",)
    scripts = {
        "Hubble launched on April 24, 1990": Script(CON, (CON,), deployed),
        "from Space Shuttle Atlantis": Script(CON, (CON,), deployed),
        "as part of mission STS-31": Script(ENT, (ENT,), deployed),
        "is the largest space telescope ever built": Script(NIC, (NIC,)),
    }

    report = Verifier(ScriptedJudge(scripts)).verify(
        Exchange("When did Hubble launch?", [Passage("p1", context)], answer)
    )

    assert [claim.label for claim in report.claims] == [CON, CON, ENT, NIC]
    assert report.hallucination_rate == 0.75
    assert report.label is AnswerLabel.CONTRADICTED


def verify(script: Script, answer: str = "The pool is heated") -> tuple[Label, str]:
    """The label and reason of a single claim against one passage about the pool."""
    judge = ScriptedJudge({answer: script})
    report = Verifier(judge).verify(
        Exchange("", [Passage("p", "The pool is heated. Dogs.")], answer)
    )
    return report.claims[0].label, report.claims[0].reason


@pytest.mark.parametrize("label", [ENT, CON])
def test_a_label_without_its_evidence_becomes_baseless(label: Label) -> None:
    """Asked once more, then not believed."""
    assert verify(Script(label, (label,), evidence=())) == (NIC, "no_evidence")


def test_a_claim_that_shares_no_word_is_baseless_without_asking() -> None:
    """The judge's time is not spent on what cannot be linked."""
    judge = ScriptedJudge({"Bananas grow on Mars": Script(ENT), **POOL})

    report = Verifier(judge).verify(
        Exchange("", EXCHANGE.passages, "The pool is heated. Bananas grow on Mars")
    )

    assert (report.claims[1].label, report.claims[1].reason) == (NIC, "unlinked")
    assert report.claims[1].decided_by == "link"
    assert [claims for _, _, claims in judge.calls] == [("The pool is heated",)]


def test_where_no_claim_shares_a_word_the_judge_is_asked() -> None:
    """The answer may be in another language than the passages."""
    judge = ScriptedJudge({"Das Becken ist beheizt": Script(ENT, evidence=("pool",))})

    report = Verifier(judge).verify(Exchange("", EXCHANGE.passages, "Das Becken ist beheizt"))

    assert report.label is AnswerLabel.ENTAILED


def test_a_claim_without_content_words_is_left_to_the_judge() -> None:
    """That it cannot be linked does not make it baseless."""
    exchange = Exchange("", [Passage("p", "The pool is heated.")], "It is what it is.")

    claim = Verifier(RulesJudge()).verify(exchange).claims[0]

    assert (claim.label, claim.reason) == (Label.UNDECIDED, "nothing to check")


def test_without_passages_every_claim_is_undecided() -> None:
    """What could not be checked is neither good nor bad."""
    judge = ScriptedJudge({"The pool is heated": Script(ENT)})

    report = Verifier(judge).verify(Exchange("", [], "The pool is heated"))

    assert (report.label, report.hallucination_rate) == (AnswerLabel.UNDECIDED, None)
    assert report.claims[0].reason == "no_context"


@pytest.mark.parametrize("answer", ["", "  \n "])
def test_an_empty_answer_has_no_claims(answer: str) -> None:
    """Nothing was said, so nothing can be wrong with it."""
    report = Verifier(ScriptedJudge({})).verify(Exchange("", [Passage("p", "Text.")], answer))

    assert (report.label, report.claims) == (AnswerLabel.NO_CLAIMS, ())


@dataclass
class Faulty(ScriptedJudge):
    """A judge whose calls of one kind fail, or come back short, or name unknown sentences."""

    fails: str = ""
    short: bool = False
    junk: bool = False
    sentences: tuple[int, ...] = field(default=())

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """As scripted, unless it fails."""
        if self.fails == "decompose":
            raise JudgeError("the model did not answer")
        return super().decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """As scripted, unless it fails."""
        if self.fails == "assess":
            raise JudgeError("the model did not answer")
        return super().assess(claims, chunk, question=question)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """As scripted, unless it fails or comes back short."""
        if self.fails == "resolve":
            raise JudgeError("the model did not answer")
        if self.short:
            return []
        if self.junk:
            return [None for _ in claims]  # type: ignore[misc]
        if self.sentences:
            return [Judgement(ENT, self.sentences, 1.0) for _ in claims]
        return super().resolve(claims, context, hint=hint, question=question)


EXCHANGE = Exchange("", [Passage("p", "The pool is heated. Dogs.")], "The pool is heated")
POOL = {"The pool is heated": Script(ENT, (ENT,), ("pool",))}


def test_a_failed_global_call_leaves_its_claims_undecided_with_the_reason() -> None:
    """A verdict that could not be reached is never counted as entailed."""
    report = Verifier(Faulty(POOL, fails="resolve")).verify(EXCHANGE)

    assert (report.label, report.hallucination_rate) == (AnswerLabel.UNDECIDED, None)
    assert report.claims[0].reason == "the model did not answer"


def test_a_failed_local_call_does_not_stop_the_global_one() -> None:
    """The whole context still decides."""
    judge = Faulty(POOL, fails="assess")

    claim = Verifier(judge, window=1, overlap=0).verify(EXCHANGE).claims[0]

    assert (claim.local_label, claim.label) == (Label.UNDECIDED, ENT)


def test_a_failed_decomposition_leaves_each_sentence_undecided() -> None:
    """The answer is still in the report, with the reason."""
    report = Verifier(Faulty(POOL, fails="decompose")).verify(EXCHANGE)

    assert report.label is AnswerLabel.UNDECIDED
    assert [(c.text, c.label, c.answer_range) for c in report.claims] == [
        ("The pool is heated", Label.UNDECIDED, AnswerRange(0, 18))
    ]


@pytest.mark.parametrize("answer", ["Hello! Is this ok? The pool is heated", "Hello!"])
def test_a_failed_decomposition_makes_no_claim_of_a_greeting(answer: str) -> None:
    """What claims nothing is not undecided, whoever could not decompose it."""
    report = Verifier(Faulty(POOL, fails="decompose")).verify(
        Exchange("", EXCHANGE.passages, answer)
    )

    undecided = [claim.text for claim in report.claims if claim.label is Label.UNDECIDED]
    assert undecided == (["The pool is heated"] if "pool" in answer else [])
    assert {claim.label for claim in report.claims} <= {Label.UNDECIDED, Label.NOT_A_CLAIM}


MARKED = st.text("ab e\u0301.👩\u200d👧ा\u0e33", min_size=1, max_size=30)


@given(MARKED, st.sampled_from([ENT, CON, NIC, Label.UNDECIDED]), st.booleans(), st.data())
def test_every_range_of_a_report_is_of_whole_graphemes(
    answer: str, label: Label, is_away: bool, data: st.DataObject
) -> None:
    """Whatever the label, no range begins or ends inside what a reader sees as one character."""
    start = data.draw(st.integers(0, len(answer) - 1))
    piece = answer[start : data.draw(st.integers(start + 1, len(answer)))]
    judge = Faulty({piece: Script(label, (), ("pool",))}, fails="decompose" if is_away else "")

    report = Verifier(judge).verify(Exchange("", EXCHANGE.passages, answer))

    edges = {0, *(match.end() for match in regex.finditer(r"\X", answer))}
    assert {at for claim in report.claims for at in claim.answer_range} <= edges


def test_a_reply_about_fewer_claims_is_believed_for_none() -> None:
    """Which claim a missing judgement belongs to cannot be told."""
    claim = Verifier(Faulty(POOL, short=True)).verify(EXCHANGE).claims[0]

    assert (claim.label, claim.reason) == (Label.UNDECIDED, "scripted/1 judged 0 of 1 claims")


def test_a_reply_that_is_no_judgement_leaves_the_claim_undecided() -> None:
    """A judge of one's own may return anything."""
    claim = Verifier(Faulty(POOL, junk=True)).verify(EXCHANGE).claims[0]

    assert claim.label is Label.UNDECIDED
    assert claim.reason == "scripted/1 gave no judgement of this claim"


def test_sentences_that_do_not_exist_are_no_evidence() -> None:
    """Made-up evidence is discarded; what is left of it counts."""
    known = Verifier(Faulty(POOL, sentences=(99, 0, 0))).verify(EXCHANGE).claims[0]
    unknown = Verifier(Faulty(POOL, sentences=(99,))).verify(EXCHANGE).claims[0]

    assert [e.text for e in known.evidence] == ["The pool is heated."]
    assert (unknown.label, unknown.reason) == (NIC, "no_evidence")
    assert unknown.confidence is None  # a rule decided, and 0 would count as a stated confidence


def test_findings_name_the_passages_that_were_used() -> None:
    """Chunk attribution and utilisation: one of two passages supports the claim."""
    exchange = Exchange(
        "", [Passage("a", "The pool is heated."), Passage("b", "Dogs.")], "The pool is heated"
    )

    found = {one.name: one for one in Verifier(ScriptedJudge(POOL)).verify(exchange).findings}

    assert found["chunk_attribution"].passage_ids == ("a",)
    assert found["chunk_utilisation"].value == 0.5
