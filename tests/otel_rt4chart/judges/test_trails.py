"""Trails of failed claims: which step is blamed, and when nobody is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.judges.answer_verdicts import verify_candidate
from otel_rt4chart.judges.trails import MIN_CONFIDENCE, trail_maker
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.graph.chain import ChainStep, TraceChain
from otel_rt4chart.spans.model.blame import ClaimBlame, RetrievalBlame
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.model.verdict import Candidate, Stage, StagedPassage, Verdict
from otel_rt4chart.verify import (
    Budget,
    Endpoint,
    Exchange,
    Label,
    Node,
    Passage,
    RulesJudge,
    SingleJudge,
    Verifier,
)
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import AnswerRange, Chunk, DraftClaim, Judgement, Sentence
from tests.otel_rt4chart.spans.graph.steps import Steps

RETURNS = Passage("kb-1", "Orders can be returned within 30 days of delivery.")
REFUNDS = Passage("kb-2", "Refunds are paid within 5 working days.")
STORES = Passage("kb-3", "Our stores in Lyon are closed on public holidays.")
WRONG = "Orders can be returned within 60 days of delivery."
PAID = "Refunds are paid within 5 working days."
R, RR, P = Stage.RETRIEVED, Stage.RERANKED, Stage.PROMPT
SEEN = (StagedPassage(RETURNS, (R, RR)), StagedPassage(REFUNDS, (R, RR)))


def chain(**texts: tuple[str, Sequence[str]]) -> TraceChain:
    """A chain of two passages and these texts with their inputs; the last one is the answer."""
    sources = [Node(one.id, one.text, (), "search") for one in (RETURNS, REFUNDS)]
    made = [Node(name, text, tuple(inputs), name) for name, (text, inputs) in texts.items()]
    steps = {
        node.id: ChainStep(
            node.id,
            f"span of {node.id}",
            node.stage,
            OperationKind.LLM if node.inputs else OperationKind.RETRIEVER,
            node.stage.rstrip("12"),
        )
        for node in (*sources, *made)
    }
    return TraceChain((*sources, *made), made[-1].id, steps)


def verdict_on(answer: str, verifier: Verifier, staged: Sequence[StagedPassage] = SEEN) -> Verdict:
    """The verdict on an answer from the first two passages."""
    candidate = Candidate(
        Exchange("How do returns work?", (RETURNS, REFUNDS), answer),
        "a" * 32,
        "b" * 16,
        10**18,
        "shop",
        "research",
        staged=tuple(staged),
    )
    return verify_candidate(candidate, verifier, rate=1.0, clock=lambda: 10**18)


def trails(
    answer: str,
    steps: TraceChain,
    *,
    verifier: Verifier | None = None,
    staged: Sequence[StagedPassage] = SEEN,
) -> tuple[ClaimBlame, ...]:
    """The trails of an answer's failed claims."""
    verifier = verifier or Verifier(RulesJudge())
    verdict = verdict_on(answer, verifier, staged)
    return trail_maker(verifier, calls=60).make(verdict, steps).trail


def test_step_that_changed_a_value_is_blamed() -> None:
    """The summary says 60 days, its source says 30: the answer only repeated it."""
    steps = chain(summary=(WRONG, ["kb-1", "kb-2"]), answer=(WRONG, ["summary"]))

    (blame,) = trails(WRONG, steps)

    assert blame.place is not None
    assert (blame.claim, blame.place.span_id, blame.place.name, blame.stage, blame.problem) == (
        *(0, "span of summary", "summary", "summary"),
        "",
    )
    assert [step.label for step in blame.way] == [Label.ENTAILED, Label.CONTRADICTED]
    assert [place.node for place in blame.way[0].read] == ["summary"]
    assert blame.way[1].evidence[0].text == RETURNS.text
    assert (blame.retrieval, blame.reaches_sources) == (RetrievalBlame.IGNORED_BY_GENERATOR, True)
    assert blame.calls > 0


def test_a_weak_verdict_blames_no_step_that_read_a_source() -> None:
    """The step may have found there what the judge did not; the way is shown all the same."""
    steps = chain(summary=(WRONG, ["kb-1", "kb-2"]), answer=(WRONG, ["summary"]))
    verifier = Verifier(RulesJudge())
    verdict = verdict_on(WRONG, verifier)
    assert verdict.report is not None
    (claim,) = verdict.report.claims

    blames: list[ClaimBlame] = []
    for confidence in (MIN_CONFIDENCE - 0.01, MIN_CONFIDENCE):
        report = replace(verdict.report, claims=(replace(claim, confidence=confidence),))
        maker = trail_maker(verifier, calls=60)
        blames += maker.make(replace(verdict, report=report), steps).trail

    weak, strong = blames
    assert (weak.blamed, weak.stage) == ((), "")
    assert weak.problem == "the judge is not certain that no source of “summary” says it"
    assert weak.way == strong.way
    assert strong.stage == "summary"


def test_a_weak_verdict_blames_a_step_between_generated_texts() -> None:
    """A text that an earlier step wrote was mostly repeated, so nothing is overlooked there."""
    steps = chain(summary=(RETURNS.text, ["kb-1"]), answer=(WRONG, ["summary"]))
    verifier = Verifier(RulesJudge())
    verdict = verdict_on(WRONG, verifier)
    assert verdict.report is not None
    claims = tuple(replace(one, confidence=0.5) for one in verdict.report.claims)
    weak = replace(verdict, report=replace(verdict.report, claims=claims))

    (blame,) = trail_maker(verifier, calls=60).make(weak, steps).trail

    assert (blame.stage, blame.problem) == ("answer", "")


def test_answer_is_blamed_for_what_its_summary_does_not_say() -> None:
    """The reason names the step, not the id by which the judge knows its text."""
    steps = chain(summary=(RETURNS.text, ["kb-1"]), answer=(WRONG, ["summary"]))

    (blame,) = trails(WRONG, steps)

    assert (blame.stage, blame.retrieval) == ("answer", RetrievalBlame.IGNORED_BY_GENERATOR)
    assert blame.way[0].reason == "“60 days” in the answer, “30 days” in “summary”"


def test_an_answer_of_one_step_has_no_trail() -> None:
    """Whatever is wrong in it, that step wrote it; a reranker wrote nothing."""
    one = chain(answer=(WRONG, ["kb-1", "kb-2"]))
    ranked = chain(ranked=(RETURNS.text, ["kb-1"]), answer=(WRONG, ["ranked"]))
    kind = {"ranked": replace(ranked.steps["ranked"], kind=OperationKind.RERANKER)}

    assert trails(WRONG, one) == ()
    assert trails(WRONG, replace(ranked, steps={**ranked.steps, **kind})) == ()


def test_entailed_claims_have_no_trail() -> None:
    """Only what failed is traced."""
    steps = chain(summary=(PAID, ["kb-2"]), answer=(PAID, ["summary"]))

    assert trails(PAID, steps) == ()


def test_a_chain_with_a_problem_says_it_of_each_failed_claim() -> None:
    """No step is blamed then."""
    (blame,) = trails(WRONG, TraceChain(problem="The prompt of “answer” was not recorded."))

    assert (blame.blamed, blame.way, blame.stage) == ((), (), "")
    assert blame.problem == "The prompt of “answer” was not recorded."


@pytest.mark.parametrize(
    ("stages", "others", "expected"),
    [
        ((R,), SEEN, RetrievalBlame.DROPPED_BY_RERANKER),
        ((R, RR), SEEN, RetrievalBlame.CUT_FROM_PROMPT),
        ((R,), [StagedPassage(RETURNS, (R,))], RetrievalBlame.CUT_FROM_PROMPT),
        ((Stage.TEMPLATE,), SEEN, RetrievalBlame.NONE),
    ],
)
def test_lost_passage_that_says_it_tells_where_it_was_lost(
    stages: tuple[Stage, ...], others: Sequence[StagedPassage], expected: RetrievalBlame
) -> None:
    """Its sentence is kept, also where the answer was made in one step."""
    claim = "Our stores in Lyon are closed on public holidays."
    staged = (*others, StagedPassage(STORES, stages))

    (blame,) = trails(claim, chain(answer=(claim, ["kb-1"])), staged=staged)

    assert (blame.retrieval, blame.stage) == (expected, "answer")
    assert [(one.passage_id, one.text) for one in blame.lost] == [("kb-3", STORES.text)]


def test_contradicting_passage_of_the_answer_that_its_prompt_lacks_was_cut() -> None:
    """It decides the claim, and the step that wrote the answer has not read it."""
    staged = [StagedPassage(RETURNS, (R,)), StagedPassage(REFUNDS, (R, P))]

    (blame,) = trails(WRONG, chain(answer=(WRONG, ["kb-2"])), staged=staged)

    assert (blame.retrieval, blame.stage) == (RetrievalBlame.CUT_FROM_PROMPT, "answer")
    assert [(one.passage_id, one.text) for one in blame.lost] == [("kb-1", RETURNS.text)]


@pytest.mark.parametrize(
    ("returns", "refunds", "read"),
    [
        pytest.param((R,), (R,), ["kb-2"], id="no passage is known to be in the prompt"),
        pytest.param((R,), (R, P), ["kb-1", "kb-2"], id="the step has read it in another form"),
        pytest.param((Stage.TOOL,), (R, P), ["kb-2"], id="it was not retrieved"),
    ],
)
def test_passage_that_may_have_been_read_is_not_lost(
    returns: tuple[Stage, ...], refunds: tuple[Stage, ...], read: list[str]
) -> None:
    """The answer then was made in one step that read everything, and has no trail."""
    staged = [StagedPassage(RETURNS, returns), StagedPassage(REFUNDS, refunds)]

    assert trails(WRONG, chain(answer=(WRONG, read)), staged=staged) == ()


def test_passage_that_an_earlier_step_has_read_is_not_lost() -> None:
    """The prompt of the answer has only the summary and one passage."""
    staged = [StagedPassage(RETURNS, (R,)), StagedPassage(REFUNDS, (R, P))]
    steps = chain(summary=("Nothing.", ["kb-1"]), answer=(WRONG, ["summary", "kb-2"]))

    (blame,) = trails(WRONG, steps, staged=staged)

    assert (blame.retrieval, blame.lost) == (RetrievalBlame.NONE, ())


@pytest.mark.parametrize(
    ("prompt", "dropped", "expected"),
    [
        pytest.param(f"Context: {REFUNDS.text}", 0, [RetrievalBlame.CUT_FROM_PROMPT], id="cut"),
        pytest.param(f"Context: {REFUNDS.text}\n{RETURNS.text}", 0, [], id="in the prompt"),
        pytest.param((), 0, [], id="no prompt"),
        pytest.param("How do returns work?", 0, [], id="the question only"),
        pytest.param((f"Context: {REFUNDS.text}", "__REDACTED__"), 0, [""], id="redacted"),
        pytest.param(f"Context: {REFUNDS.text}", 3, [""], id="a limit dropped attributes"),
    ],
)
def test_only_a_whole_prompt_shows_what_was_cut_from_it(
    prompt: str | tuple[str, ...], dropped: int, expected: list[str]
) -> None:
    """From the spans of a retrieval and a generation that contradicts a passage."""
    steps = Steps()
    root = steps.chain(question="How do returns work?")
    steps.search(root, RETURNS.text, REFUNDS.text)
    answer = steps.generate("answer", root, WRONG, prompt)
    steps.spans[-1] = replace(steps.spans[-1], dropped_attributes=dropped)
    (candidate,) = find_candidates(steps.spans)
    verifier = Verifier(RulesJudge())
    verdict = verify_candidate(candidate, verifier, rate=1.0, clock=lambda: 10**18)

    trail = trail_maker(verifier, calls=60).make(verdict, steps.read(answer)).trail

    assert [one.retrieval for one in trail] == expected


def test_what_no_retrieved_passage_is_about_was_never_retrieved() -> None:
    """Unless a lost passage has its words: then the judge may have missed it."""
    claim = "A courier collects every parcel."
    steps = chain(summary=(PAID, ["kb-2"]), answer=(claim, ["summary"]))
    near = StagedPassage(Passage("kb-9", "Every courier wears a blue jacket."), (R,))

    (never,) = trails(claim, steps)
    (unsure,) = trails(claim, steps, staged=(*SEEN, near))
    (unknown,) = trails(claim, steps, staged=[])

    assert never.retrieval is RetrievalBlame.NEVER_RETRIEVED
    assert (unsure.retrieval, unknown.retrieval) == (RetrievalBlame.NONE, RetrievalBlame.NONE)


def test_of_more_lost_text_than_is_read_nothing_is_said() -> None:
    """What was not read may have said it."""
    claim = "A courier collects every parcel."
    steps = chain(summary=(PAID, ["kb-2"]), answer=(claim, ["summary"]))
    long = StagedPassage(Passage("kb-9", "Dogs are welcome. " * 40), (R,))

    def found(characters: int) -> RetrievalBlame:
        verifier = Verifier(RulesJudge(), budget=Budget(passage_characters=characters))
        (blame,) = trails(claim, steps, verifier=verifier, staged=(*SEEN, long))
        return blame.retrieval

    assert found(10_000) is RetrievalBlame.NEVER_RETRIEVED
    assert found(400) is RetrievalBlame.NONE


@dataclass(frozen=True, slots=True)
class MarkJudge:
    """Judges by signs: a text with ✓ says the claim, one with ? leaves it open, others lack it."""

    id: str = "marks/1"
    is_remote: bool = False
    reads_question: bool = False

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """One claim for each sentence."""
        return [DraftClaim(s.text, s.index, AnswerRange(s.start, s.end)) for s in sentences]

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """The same as over a whole context."""
        return self.resolve(claims, chunk.sentences, hint=None, question=question)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The label of the first sign that any sentence has."""
        for sign, label in (("✓", Label.ENTAILED), ("?", Label.UNDECIDED)):
            if found := tuple(one.index for one in context if sign in one.text):
                return [Judgement(label, found, 1.0, "a sign")] * len(claims)
        return [Judgement(Label.BASELESS, (), 1.0)] * len(claims)


MARKED = Verifier(MarkJudge())
CLAIM = "The claim."


def test_nobody_is_blamed_where_a_step_could_not_be_judged() -> None:
    """The summary may say it or not: it could be the summary as well as the answer."""
    steps = chain(
        summary=("Is it said here?", ["kb-1"]),
        report=("Nothing.", ["summary"]),
        answer=(CLAIM, ["summary"]),
    )

    (blame,) = trails(CLAIM, steps, verifier=MARKED)

    assert (blame.blamed, blame.stage, blame.retrieval) == ((), "", RetrievalBlame.NONE)
    assert blame.problem == "the judge cannot decide whether “summary” says it (a sign)"


def test_nobody_is_blamed_where_the_texts_of_the_chain_support_the_claim() -> None:
    """The steps have read more than the passages of the answer: a tool's result, for example."""
    steps = chain(summary=("Said ✓.", ["tool"]), answer=(CLAIM, ["summary"]))
    tool = ChainStep("tool", "span of tool", "lookup", OperationKind.TOOL, "lookup")
    steps = replace(
        steps,
        nodes=(Node("tool", "Said ✓."), *steps.nodes),
        steps={**steps.steps, "tool": tool},
    )

    (blame,) = trails(CLAIM, steps, verifier=MARKED)

    assert blame.blamed == ()
    assert blame.problem.startswith("the texts that the steps read support it")


def test_of_several_steps_with_evidence_the_one_that_says_it_alone_is_blamed() -> None:
    """Where two say it, either may have brought it in: their common stage is known, no step."""
    sure = {"map1": ("Said ✓.", ["kb-1"]), "map2": ("Nothing.", ["kb-2"])}
    both = {"map1": ("Said ✓.", ["kb-1"]), "map2": ("Said ✓, too.", ["kb-2"])}
    joined = {"answer": (CLAIM, ["map1", "map2"])}

    (one,) = trails(CLAIM, chain(**sure, **joined), verifier=MARKED)
    (two,) = trails(CLAIM, chain(**both, **joined), verifier=MARKED)

    assert (one.place and one.place.node, one.stage) == ("map1", "map")
    assert (two.place, two.stage) == (None, "map")
    assert two.problem == "2 steps say it: “map1”, “map2”"


def test_limits_of_the_answer_bound_its_trail() -> None:
    """What they leave out is undecided, and nobody is blamed."""
    steps = chain(summary=(WRONG, ["kb-1"]), answer=(WRONG, ["summary"]))
    verifier = Verifier(RulesJudge())
    verdict = verdict_on(WRONG, verifier)

    few = trail_maker(verifier, calls=1).make(verdict, steps).trail
    late = trail_maker(verifier, calls=60).make(replace(verdict, duration_ns=10**15), steps).trail
    small = Verifier(RulesJudge(), budget=Budget(passage_characters=100))
    large = trail_maker(small, calls=60).make(verdict, steps).trail

    assert [(one.blamed, one.calls) for one in few] == [((), 1)]
    assert "over_budget: 1 calls an answer" in few[0].problem
    assert "took_too_long" in late[0].problem
    assert large[0].problem.startswith("too_large: ")


def test_a_judge_that_makes_its_own_claims_traces_none() -> None:
    """The trail says so, and nothing is sent."""
    endpoint = Endpoint("model", base_url="http://127.0.0.1:9", api_key="none")
    steps = chain(summary=(WRONG, ["kb-1"]), answer=(WRONG, ["summary"]))
    verdict = verdict_on(WRONG, Verifier(RulesJudge()))

    (blame,) = trail_maker(Verifier(SingleJudge(endpoint)), calls=60).make(verdict, steps).trail

    assert "makes its own claims" in blame.problem


@given(
    texts=st.lists(st.sampled_from(["Said ✓.", "Open?", "Nothing.", ""]), min_size=1, max_size=5),
    inputs=st.randoms(use_true_random=False),
)
def test_a_blamed_step_says_the_claim_and_none_of_its_inputs_does(
    texts: list[str], inputs: Random
) -> None:
    """Whatever the chain, or no step is blamed."""
    names = ["kb-1", "kb-2"]
    made: dict[str, tuple[str, Sequence[str]]] = {}
    for at, text in enumerate(texts):
        made[f"step{at}"] = (text, inputs.sample(names, inputs.randint(1, len(names))))
        names.append(f"step{at}")
    made["answer"] = (CLAIM, [names[-1]])
    steps = chain(**made)

    for blame in trails(CLAIM, steps, verifier=MARKED):
        if blame.place is None:
            continue
        read = made[blame.place.node][1]
        assert blame.place.node == "answer" or "✓" in made[blame.place.node][0]
        assert not any("✓" in made.get(name, ("",))[0] for name in read)
        assert not any("?" in made.get(name, ("",))[0] for name in read)
