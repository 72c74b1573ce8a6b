"""All findings of an answer: their order, their bound, and what a failing scanner leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify import (
    AnswerRange,
    Chunk,
    Claim,
    DraftClaim,
    Evidence,
    Exchange,
    Judgement,
    Label,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import CheckPlan, ClaimStatus, Finding
from otel_rt4chart.verify.core.steps import answer_batch, run_steps
from otel_rt4chart.verify.findings.cherry_picking import CherryPickSearch
from otel_rt4chart.verify.findings.find import MOST_PER_NAME, find, limit_findings
from otel_rt4chart.verify.findings.statuses import with_statuses
from otel_rt4chart.verify.stages.verification import VerificationNotes
from otel_rt4chart.verify.text.segment import segment_passages

COVERED = "The policy covers outpatient MRI."
DENIED = "The policy does not cover outpatient MRI."
NOTES = VerificationNotes({}, "", None)


class Counting(RulesJudge):
    """A scanner that counts what it is asked."""

    def __init__(self) -> None:
        """Nothing yet."""
        super().__init__()
        self.asked = 0

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """The local judge's word."""
        self.asked += 1
        return super().assess(claims, chunk, question=question)


class Failing(RulesJudge):
    """A scanner whose every call fails."""

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Never answers."""
        raise JudgeError("the model did not answer")


def entailed(sentence: int = 0) -> Claim:
    """The claim that outpatient MRI is covered, with passage "yes" behind it."""
    return Claim(
        text=COVERED,
        label=Label.ENTAILED,
        local_label=Label.ENTAILED,
        confidence=1.0,
        decided_by="hand",
        kind="attribute",
        answer_range=AnswerRange(0, len(COVERED)),
        sentence=sentence,
        evidence=(Evidence("yes", 0, len(COVERED), COVERED, "supports"),),
    )


def denying(count: int) -> list[Passage]:
    """A passage that covers outpatient MRI, and so many that do not."""
    return [Passage("yes", COVERED), *(Passage(f"no{n}", DENIED) for n in range(count))]


def found_in(
    exchange: Exchange,
    claims: Sequence[Claim],
    scanner: Judge,
    notes: VerificationNotes = NOTES,
) -> tuple[Finding, ...]:
    """All findings, as statuses see them."""
    notes = notes._replace(context=segment_passages(exchange.passages))
    steps = find(exchange, claims, notes, CherryPickSearch(scanner))
    return run_steps(steps, lambda batch: answer_batch(batch, Meter()))


def test_the_seeds_policy_is_found_out() -> None:
    """An answer without the authorization, with the wrong age and the excluded procedures."""
    exchange = Exchange(
        "What does the policy cover?",
        [
            Passage("mri", "Outpatient MRI is covered when prior authorization has been obtained."),
            Passage("cosmetic", "Cosmetic procedures are excluded from coverage."),
            Passage("age", "Eligibility extends to members aged 16 and above."),
        ],
        "Outpatient MRI is covered. Eligibility extends to members aged 18 and above. "
        "Cosmetic procedures are covered.",
    )

    findings = Verifier(RulesJudge()).verify(exchange).findings

    assert [(one.name, one.kind, one.claim) for one in findings] == [
        ("chunk_attribution", "", None),
        ("chunk_utilisation", "", None),
        ("dropped_qualifier", "condition", 0),
        ("failure_kind", "dropped_qualifier", 0),
        ("failure_kind", "numeric_slip", 1),
        ("failure_kind", "cherry_picked_exclusion", 2),
    ]


def test_a_faithful_answer_has_only_its_attribution() -> None:
    """Every other finding is something to look at."""
    exchange = Exchange(
        "Does the policy cover outpatient MRI?",
        [
            Passage("mri", "Outpatient MRI is covered when prior authorization has been obtained."),
            Passage("cosmetic", "Cosmetic procedures are excluded from coverage."),
            Passage("age", "Eligibility extends to members aged 16 and above."),
        ],
        "Yes, the policy covers outpatient MRI with prior authorization [1].",
    )

    findings = Verifier(RulesJudge()).verify(exchange).findings

    assert [one.name for one in findings] == ["chunk_attribution", "chunk_utilisation"]


@pytest.mark.parametrize(
    ("count", "limited"), [(MOST_PER_NAME - 1, 0), (MOST_PER_NAME, 0), (MOST_PER_NAME + 30, 1)]
)
def test_a_report_lists_at_most_twenty_findings_of_a_name(count: int, limited: int) -> None:
    """And one that says that there are more."""
    exchange = Exchange("", denying(1), COVERED)

    names = Counter(
        one.name for one in limit_findings(found_in(exchange, [entailed()] * count, RulesJudge()))
    )

    assert names["cherry_picked"] == min(count, MOST_PER_NAME)
    assert names["findings_limited"] == limited


def test_a_claim_beyond_the_list_has_its_status_and_both_sides() -> None:
    """What a report lists does not decide what is wrong with a claim."""
    claims = [entailed()] * (MOST_PER_NAME + 5)
    exchange = Exchange("", denying(1), COVERED)

    last = with_statuses(claims, found_in(exchange, claims, RulesJudge()), CheckPlan())[-1]

    assert last.status is ClaimStatus.CHERRY_PICKED
    assert [(one.passage_id, one.relation) for one in last.evidence] == [
        ("yes", "supports"),
        ("no0", "contradicts"),
    ]


def test_a_claim_that_three_passages_deny_is_searched_no_further() -> None:
    """The scanner may cost, and a fourth says no more."""
    scanner = Counting()

    found = found_in(Exchange("", denying(200), COVERED), [entailed()] * 2, scanner)

    assert scanner.asked == 6
    assert [one.passage_ids for one in found if one.name == "cherry_picked"] == [
        ("no0",), ("no0",), ("no1",), ("no1",), ("no2",), ("no2",),
    ]  # fmt: skip


def test_citation_findings_are_bounded_on_their_own() -> None:
    """A flood of one name does not keep the others back."""
    answer = " ".join(f"It is so [{number}]." for number in range(100, 160))

    every = found_in(Exchange("", denying(2), answer), [entailed()], RulesJudge())
    found = limit_findings(every)

    assert Counter(one.name for one in every)["citation"] == 60
    assert Counter(one.name for one in found) == {
        "chunk_attribution": 1,
        "chunk_utilisation": 1,
        "citation": MOST_PER_NAME,
        "findings_limited": 1,
        "cherry_picked": 2,
    }
    assert [one.kind for one in found if one.name == "findings_limited"] == ["citation"]


def test_a_scanner_that_fails_does_not_break_the_findings() -> None:
    """What needs no judge is still found."""
    passages = [*denying(1), Passage("if", "Outpatient MRI requires prior authorization.")]
    exchange = Exchange("", passages, f"{COVERED} [2][9]")

    report = Verifier(RulesJudge(), scanner=Failing()).verify(exchange)

    found = [(one.name, one.kind) for one in report.findings]
    assert ("citation", "unknown_id") in found
    assert ("cherry_picked", "condition") in found
    assert ("cherry_picked", "contradiction") not in found


def test_without_passages_there_is_nothing_to_find() -> None:
    """But that no passage was used."""
    report = Verifier(RulesJudge()).verify(Exchange("What is covered?", [], COVERED))

    assert [(one.name, one.value) for one in report.findings] == [
        ("chunk_attribution", None),
        ("chunk_utilisation", None),
    ]


def test_how_the_verdict_was_reached_is_told_last() -> None:
    """A compressed context and links by words alone."""
    notes = VerificationNotes({}, "the embedder did not answer", (25, 100))

    found = found_in(Exchange("", denying(0), COVERED), [entailed()], RulesJudge(), notes)

    assert [(one.name, one.value) for one in found[-2:]] == [
        ("context_compressed", 0.25),
        ("linked_by_words_only", None),
    ]
    assert found[-1].detail == "the embedder did not answer"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3), st.text(max_size=120))
def test_no_text_breaks_the_findings(question: str, texts: list[str], answer: str) -> None:
    """A finding names claims and passages that exist, and its evidence is a slice."""
    passages = [Passage(f"p{number}", text) for number, text in enumerate(texts)]
    exchange = Exchange(question, passages, answer)
    report = Verifier(RulesJudge()).verify(exchange)

    held = {passage.id: passage.text for passage in passages}
    for one in report.findings:
        assert one.claim in {None, *range(len(report.claims))}
        unknown = one.passage_ids if one.kind == "unknown_id" else ()
        assert set(one.passage_ids) - held.keys() == set(unknown)
        assert all(held[e.passage_id][e.start : e.end] == e.text for e in one.evidence)
