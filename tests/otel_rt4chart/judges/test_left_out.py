"""Misleading claims: the step that read what limits a claim, and left it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.judges.answer_verdicts import verify_candidate
from otel_rt4chart.judges.left_out import limited_claims
from otel_rt4chart.judges.trails import trail_maker
from otel_rt4chart.spans.graph.chain import ChainStep, TraceChain
from otel_rt4chart.spans.model.blame import ClaimBlame, RetrievalBlame
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.model.verdict import Candidate, Verdict
from otel_rt4chart.verify import (
    Budget,
    ClaimStatus,
    Evidence,
    Exchange,
    Node,
    Passage,
    RulesJudge,
    Verifier,
)

COVERED = "The policy covers dental treatment."
LIMIT = "The policy does not cover dental treatment in the first year."
ONLY = "The policy covers dental treatment after a waiting period of six months."
PAID = "Claims are paid within 5 working days."
VERIFIER = Verifier(RulesJudge())


def chain(sources: Sequence[str], **texts: tuple[str, Sequence[str]]) -> TraceChain:
    """A chain of passages kb-1, kb-2, … and these texts with their inputs, the answer last."""
    found = [Node(f"kb-{at}", text) for at, text in enumerate(sources, start=1)]
    made = [Node(name, text, tuple(inputs), name) for name, (text, inputs) in texts.items()]
    steps = {
        node.id: ChainStep(
            node.id,
            f"span of {node.id}",
            node.id,
            OperationKind.LLM if node.inputs else OperationKind.RETRIEVER,
            node.id.rstrip("12"),
        )
        for node in (*found, *made)
    }
    return TraceChain((*found, *made), made[-1].id, steps)


def limited(answer: str, sources: Sequence[str], limit: str, name: str) -> Verdict:
    """A verdict in which the first claim is entailed, and this sentence of a passage limits it."""
    passages = tuple(Passage(f"kb-{at}", text) for at, text in enumerate(sources, start=1))
    candidate = Candidate(
        Exchange("", passages, answer), "a" * 32, "b" * 16, 1, "shop", "insurance"
    )
    made = verify_candidate(candidate, VERIFIER, rate=1.0, clock=lambda: 0)
    assert made.report is not None
    start = {one.id: one.text for one in passages}[name].index(limit)
    against = Evidence(name, start, start + len(limit), limit, "limits")
    first, *others = made.report.claims
    claim = replace(first, status=ClaimStatus.CHERRY_PICKED, evidence=(*first.evidence, against))
    return replace(made, report=replace(made.report, claims=(claim, *others)))


def trail(verdict: Verdict, steps: TraceChain, *, calls: int = 60) -> tuple[ClaimBlame, ...]:
    """The trails of its claims."""
    return trail_maker(VERIFIER, calls=calls).make(verdict, steps).trail


SOURCES = (f"{COVERED} {PAID}", LIMIT)


def test_the_step_that_read_the_limit_and_left_it_out_is_named() -> None:
    """The answer could not know it; the sentence is quoted."""
    steps = chain(
        SOURCES, summary=(f"{COVERED} {PAID}", ["kb-1", "kb-2"]), answer=(COVERED, ["summary"])
    )

    (blame,) = trail(limited(COVERED, SOURCES, LIMIT, "kb-2"), steps)

    assert (blame.claim, blame.stage, blame.problem) == (0, "summary", "")
    assert blame.retrieval is RetrievalBlame.LIMIT_LEFT_OUT
    assert [one.text for one in blame.lost] == [LIMIT]
    assert blame.calls > 0


def test_the_answer_is_named_if_its_input_states_the_limit() -> None:
    """Word for word, or in other words that the judge knows."""
    verdict = limited(COVERED, SOURCES, LIMIT, "kb-2")
    steps = chain(
        SOURCES, summary=(f"{COVERED} {LIMIT}", ["kb-1", "kb-2"]), answer=(COVERED, ["summary"])
    )

    (blame,) = trail(verdict, steps)

    assert blame.stage == "answer"


def test_of_two_summaries_the_one_that_had_read_the_limit_is_named() -> None:
    """The other one never saw it."""
    verdict = limited(COVERED, SOURCES, LIMIT, "kb-2")
    steps = chain(
        SOURCES,
        summary1=(COVERED, ["kb-1"]),
        summary2=(f"{COVERED} {PAID}", ["kb-1", "kb-2"]),
        answer=(COVERED, ["summary1", "summary2"]),
    )

    (blame,) = trail(verdict, steps)

    assert blame.place is not None
    assert blame.place.node == "summary2"


@pytest.mark.parametrize(
    ("summary", "read", "why"),
    [
        ("Dental treatment in the first year: see page 4.", ["kb-2"], "half of its words"),
        (PAID, ["kb-2"], "the step does not say the claim"),
        (COVERED, ["kb-1"], "no step has read the limit"),
    ],
)
def test_no_step_is_named_in_doubt(summary: str, read: Sequence[str], why: str) -> None:
    """And the claim has no trail at all."""
    steps = chain(
        SOURCES,
        summary1=(COVERED, ["kb-1"]),
        summary2=(summary, read),
        answer=(COVERED, ["summary1", "summary2"]),
    )

    assert trail(limited(COVERED, SOURCES, LIMIT, "kb-2"), steps) == (), why


def test_several_steps_that_left_it_out_are_not_told_apart() -> None:
    """Either may be what the answer was made from."""
    both = (f"{COVERED} {PAID}", ["kb-1", "kb-2"])
    steps = chain(SOURCES, summary1=both, summary2=both, answer=(COVERED, ["summary1", "summary2"]))

    assert trail(limited(COVERED, SOURCES, LIMIT, "kb-2"), steps) == ()


def test_an_exhausted_budget_names_nobody() -> None:
    """What may not be asked is in doubt."""
    steps = chain(SOURCES, summary=(COVERED, ["kb-1", "kb-2"]), answer=(COVERED, ["summary"]))
    maker = trail_maker(Verifier(RulesJudge(), budget=Budget(seconds=0.0)), calls=60)

    assert maker.make(limited(COVERED, SOURCES, LIMIT, "kb-2"), steps).trail == ()


def test_an_answer_of_one_step_has_no_trail() -> None:
    """That step has read everything."""
    steps = chain(SOURCES, answer=(COVERED, ["kb-1", "kb-2"]))

    assert trail(limited(COVERED, SOURCES, LIMIT, "kb-2"), steps) == ()


def test_a_dropped_qualifier_is_found_by_the_sentence_that_supports_the_claim() -> None:
    """It says the claim and its limit; so found by the rules, from end to end."""
    sources = (f"{ONLY} {PAID}",)
    passages = tuple(Passage(f"kb-{at}", text) for at, text in enumerate(sources, start=1))
    candidate = Candidate(Exchange("", passages, COVERED), "a" * 32, "b" * 16, 1, "shop", "x")
    verdict = verify_candidate(candidate, VERIFIER, rate=1.0, clock=lambda: 0)
    steps = chain(sources, summary=(f"{COVERED} {PAID}", ["kb-1"]), answer=(COVERED, ["summary"]))

    ((_, claim, limit),) = limited_claims(verdict)
    (blame,) = trail(verdict, steps)

    assert claim.status is ClaimStatus.QUALIFIER_DROPPED
    assert limit.text == ONLY
    assert (blame.stage, blame.retrieval) == ("summary", RetrievalBlame.LIMIT_LEFT_OUT)


def test_what_supports_a_claim_and_is_no_limit_has_no_trail() -> None:
    """Only misleading claims of these kinds are looked at."""
    verdict = limited(COVERED, SOURCES, LIMIT, "kb-2")
    assert verdict.report is not None
    (claim,) = verdict.report.claims
    for status in (ClaimStatus.SUPPORTED, ClaimStatus.STALE, ClaimStatus.RESTATES_PREMISE):
        report = replace(verdict.report, claims=(replace(claim, status=status),))
        assert limited_claims(replace(verdict, report=report)) == []
