from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError, JudgeError, SettingsError
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import Decompose, Hint, Question, Reply, Resolve, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.trail.tracer import ClaimTrail, Node, Tracer

ENT, CON, NIC, UND = Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED
SIGNS = {"no ": CON, "perhaps ": UND}


def bears(claim: str, sentence: Sentence) -> Label | None:
    """A sentence that holds the claim's words entails it, unless they follow a sign."""
    before, found, _ = sentence.text.lower().partition(claim.lower().rstrip("."))
    signs = [label for sign, label in SIGNS.items() if before.endswith(sign)]
    return (signs or [ENT])[0] if found else None


@dataclass(slots=True)
class PhraseJudge:
    """Decides by `bears` and keeps what it was asked; text that holds `fails_on` fails the call."""

    fails_on: str = "\0"
    id: str = "phrase/1"
    resolved: list[tuple[str, ...]] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        if any(self.fails_on in sentence.text for sentence in sentences):
            raise JudgeError("the judge is away")
        return decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        self.asked.append(tuple(claim.text for claim in claims))
        return self._judge(claims, chunk.sentences)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        self.resolved.append(tuple(sentence.text for sentence in context))
        return self._judge(claims, context)

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: Sequence[Sentence]
    ) -> Sequence[Judgement]:
        if any(self.fails_on in sentence.text for sentence in sentences):
            raise JudgeError("the judge is away")
        return [judgement(claim.text, sentences) for claim in claims]


def judgement(claim: str, sentences: Sequence[Sentence]) -> Judgement:
    """Contradicted by any, else entailed by any, else undecided by any; one id is invented."""
    found = {one.index: label for one in sentences if (label := bears(claim, one))}
    label = next((label for label in (CON, ENT, UND) if label in found.values()), NIC)
    return Judgement(label, (*found, 10**9) if found else (), confidence=1.0)


@dataclass(slots=True)
class PhraseBatchJudge:
    """The same behind the seam for endpoints; a `Select` names what bears on a claim."""

    input_limit: int = 10_000
    one_call: bool = False
    id: str = "phrase-batch/1"
    batches: list[tuple[Question, ...]] = field(default_factory=list)
    _plain: PhraseJudge = field(default_factory=PhraseJudge)

    def answers(self, questions: Sequence[Question], meter: Meter) -> Sequence[Reply | Exception]:
        self.batches.append(tuple(questions))
        return [self._answer(question, meter) for question in questions]

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> Sequence[Reply | Exception]:
        return self.answers(questions, meter)

    def _answer(self, asked: Question, meter: Meter) -> Reply | Exception:
        if (refused := meter.refusal(1, 0)) is not None:
            return JudgeError(refused)
        meter.calls += 1
        match asked:
            case Select():
                return [judgement(claim.text, asked.sentences).sentences for claim in asked.claims]
            case Resolve():
                return self._plain.resolve(asked.claims, asked.context, hint=None, question="")
            case Decompose():
                return self._plain.decompose(asked.sentences)
        raise TypeError(asked)


def node(name: str, text: str, *inputs: str, stage: str = "") -> Node:
    """A node with its inputs last."""
    return Node(name, text, inputs, stage)


# After Figure 1 of VeriTrail: chunks, extracted facts, summaries, reports, partial answers, answer.
MERGED, INVENTED = "Acme bought Zenit in 2019", "The purchase saved 40 jobs in Turin"
FIGURE = [
    node("1", f"The board met in Turin. {MERGED}, the minutes say.", stage="1"),
    node("2", "Zenit made valves in Turin. It had 40 jobs to fill.", stage="1"),
    node("3", "Acme grew for years. Its shares rose.", stage="1"),
    node("4", f"Relation: {MERGED}.", "1", stage="2"),
    node("5", "Entity: Turin is a city of valves.", "1", "2", stage="2"),
    node("6", "Entity: Zenit makes valves.", "2", stage="2"),
    node("7", "Entity: Acme is a company.", "3", stage="2"),
    node("8", "Relation: shares of Acme rose.", "3", stage="2"),
    node("9", "Valves are made in Turin.", "5", "6", stage="3"),
    node("10", "Zenit is a maker of valves.", "6", stage="3"),
    node("11", "Acme is a growing company.", "7", "8", stage="3"),
    node("12", "Report on Turin. Valves come from there.", "9", stage="4"),
    node("13", f"Report on deals. {MERGED} for cash.", "4", "10", stage="4"),
    node("14", "Report on growth. Acme grew.", "11", stage="4"),
    node("15", f"Turin matters. {MERGED}, and jobs were discussed.", "12", "13", stage="5"),
    node("16", "Acme grew and its shares rose.", "14", stage="5"),
    node("answer", f"{MERGED}. {INVENTED}.", "15", "16", stage="6"),
]


def reads(claim: ClaimTrail) -> list[tuple[str, ...]]:
    """The nodes of each step."""
    return [step.nodes for step in claim.steps]


def test_supported_claim_is_traced_to_its_source() -> None:
    """Case study 1: nodes 15, 13, 4, 1 in this order; only inputs of evidence nodes are read."""
    (claim,) = Tracer(PhraseJudge()).trace(FIGURE, "answer", [MERGED]).claims

    assert (claim.label, claim.reaches_sources, claim.error_nodes) == (ENT, True, ())
    assert reads(claim) == [("15", "16"), ("12", "13"), ("4", "10"), ("1",)]
    assert [step.label for step in claim.steps] == [ENT] * 4
    assert [one.passage_id for one in claim.path] == ["15", "13", "4", "1"]
    assert claim.path[1].text == f"{MERGED} for cash."


def test_unsupported_claim_is_confirmed_on_all_inputs() -> None:
    """Case study 2: with patience 2 the inputs of both 15 and 16 are read; stage 6 invented it."""
    (claim,) = Tracer(PhraseJudge(), patience=2).trace(FIGURE, "answer", [INVENTED]).claims

    assert reads(claim) == [("15", "16"), ("12", "13", "14")]
    assert [step.label for step in claim.steps] == [NIC, NIC]
    assert (claim.error_nodes, claim.error_stage) == (("answer",), "6")
    assert (claim.label, claim.path, claim.reaches_sources) == (NIC, (), False)


def test_claims_of_the_answer_are_traced_together() -> None:
    """The judge decomposes the answer; one call reads the same nodes for both claims."""
    judge = PhraseJudge()

    trail = Tracer(judge).trace(FIGURE, "answer")

    assert [claim.label for claim in trail.claims] == [ENT, NIC]
    assert judge.asked[0] == (f"{MERGED}.", f"{INVENTED}.")
    assert trail.usage.calls == 1 + 4 + 4  # the decomposition, and two for each step
    assert trail.judge == "phrase/1"


CHAIN = [
    node("source", "The pool was built in May.", stage="retrieve"),
    node("summary", "The pool is heated. It was built in May.", "source", stage="summarise"),
    node("answer", "The pool is heated.", "summary", stage="answer"),
]


def test_error_in_the_middle_is_laid_on_the_node_that_invented_it() -> None:
    """The summary supports the claim, the summary's source does not."""
    (claim,) = Tracer(PhraseJudge()).trace(CHAIN, "answer", ["The pool is heated"]).claims

    assert [step.label for step in claim.steps] == [ENT, NIC]
    assert (claim.label, claim.error_nodes, claim.error_stage) == (NIC, ("summary",), "summarise")
    assert claim.reaches_sources


def test_inconclusive_verdict_goes_on_with_its_evidence() -> None:
    """A doubt at one step is settled nearer to the sources, on the doubt's own inputs."""
    doubt = node("a", "Well, perhaps the pool is heated.", "s")
    others = [node("s", "The pool is heated."), node("t", "Dogs."), node("b", "Dogs, too.", "t")]
    nodes = [doubt, *others, node("answer", "The pool is heated.", "a", "b")]

    (claim,) = Tracer(PhraseJudge()).trace(nodes, "answer", ["The pool is heated"]).claims

    assert [(step.nodes, step.label) for step in claim.steps] == [(("a", "b"), UND), (("s",), ENT)]
    assert (claim.label, [one.passage_id for one in claim.path]) == (ENT, ["a", "s"])


def test_source_beside_a_summary_stays_in_the_evidence() -> None:
    """Its sentence counts in later verdicts, too, though the source is not read again."""
    judge = PhraseJudge()
    sources = [node("s", "Indeed the pool is heated."), node("t", "Dogs are welcome.")]
    summary = node("m", "So the pool is heated.", "s", "t")
    nodes = [*sources, summary, node("answer", "The pool is heated.", "s", "m")]

    (claim,) = Tracer(judge).trace(nodes, "answer", ["The pool is heated"]).claims

    assert reads(claim) == [("s", "m"), ("t",)]
    assert (claim.label, claim.reaches_sources) == (ENT, True)
    assert judge.resolved[-1] == ("Indeed the pool is heated.",)


def test_contradiction_ends_as_contradicted_with_its_evidence() -> None:
    """The verdict names the sentence that stands against the claim; the answer is at fault."""
    nodes = [node("s", "There is no pool on the roof."), node("answer", "Pool on the roof.", "s")]

    (claim,) = Tracer(PhraseJudge()).trace(nodes, "answer", ["pool on the roof"]).claims

    assert (claim.label, claim.error_nodes) == (CON, ("answer",))
    assert [one.relation for one in claim.steps[0].evidence] == ["contradicts"]


@pytest.mark.parametrize("most", range(10))
def test_refused_call_leaves_the_claim_undecided(most: int) -> None:
    """The budget is a hard bound, and what it cuts off never counts as supported."""
    trail = Tracer(PhraseJudge(), max_calls=most).trace(FIGURE, "answer", [MERGED])

    assert trail.usage.calls == min(most, 8)
    assert trail.claims[0].label is (ENT if most >= 8 else UND)
    is_cut_off = trail.claims[0].steps[-1].reason.startswith("over_budget")
    assert is_cut_off is (most < 8)


def test_failing_judge_leaves_the_claim_undecided() -> None:
    """Its words are the step's reason; where it cannot decompose, each sentence is undecided."""
    away = PhraseJudge(fails_on="Relation")
    (claim,) = Tracer(away).trace(FIGURE, "answer", [MERGED]).claims
    lost = Tracer(PhraseJudge(fails_on="Acme")).trace(FIGURE, "answer")

    assert [step.label for step in claim.steps] == [ENT, ENT, UND]
    assert (claim.label, claim.steps[-1].reason) == (UND, "the judge is away")
    assert [one.label for one in lost.claims] == [UND, UND]
    assert not claim.reaches_sources


def test_answer_without_inputs_is_undecided() -> None:
    """As without passages: what could not be checked is neither good nor bad."""
    trail = Tracer(PhraseJudge()).trace([node("a", "The pool is heated.")], "a")

    assert [(one.label, one.steps[0].reason) for one in trail.claims] == [(UND, "no_context")]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("a", "", "b")], "inputs of node 'a' to be nodes, got 'b'"),
        ([node("a", "", "b"), node("b", "", "a")], "without a cycle, got 'a' → 'b' → 'a'"),
        ([node("a", "", "a")], "without a cycle, got 'a' → 'a'"),
        ([node("a", ""), node("a", "")], "each node id once, got more than one node 'a'"),
        ([node("b", "")], "the answer to be a node's id, got 'a'"),
    ],
)
def test_malformed_graph_is_refused(nodes: list[Node], message: str) -> None:
    """The error says what was expected and what came."""
    with pytest.raises(InputError, match=message):
        Tracer(PhraseJudge()).trace(nodes, "a", ["The pool is heated"])


def test_unusable_settings_are_refused() -> None:
    """No patience, or a judge that cannot be asked about a claim; a cascade's second judge can."""
    with pytest.raises(SettingsError, match="patience"):
        Tracer(PhraseJudge(), patience=0)
    with pytest.raises(SettingsError, match="claim by claim"):
        Tracer(PhraseBatchJudge(one_call=True))
    assert Tracer(CascadeJudge(RulesJudge(), PhraseJudge())).judge.id == "phrase/1"


PLANTED, ABSENT = "The Zenit valve burst at 410 kelvin", "The Zenit valve sank in Lake Como"


def large() -> list[Node]:
    """9,000 sources, then 900, 90 and 9 summaries of ten nodes each, and the answer."""
    said = {4_321: f"{PLANTED}."}
    nodes: list[Node] = []
    for level, count in enumerate((9_000, 900, 90, 9)):
        for n in range(count):
            filler = f"Log {n} of level {level} tells of a valve that was inspected."
            text = f"{filler} {said[n]}" if n in said else filler
            made = tuple(f"{level - 1}/{10 * n + k}" for k in range(10)) if level else ()
            nodes.append(Node(f"{level}/{n}", text, made, str(level)))
        said = {n // 10: text for n, text in said.items()}
    return [*nodes, Node("answer", f"{PLANTED}.", tuple(f"3/{n}" for n in range(9)), "4")]


@pytest.mark.parametrize("judge", [PhraseJudge(), PhraseBatchJudge()])
def test_ten_thousand_nodes_cost_few_calls(judge: PhraseJudge | PhraseBatchJudge) -> None:
    """A planted claim is found, and an invented one searched for in all nodes, in 60 calls."""
    trail = Tracer(judge, patience=9, max_calls=60).trace(large(), "answer", [PLANTED, ABSENT])
    planted, absent = trail.claims

    assert [one.passage_id for one in planted.path] == ["3/4", "2/43", "1/432", "0/4321"]
    assert (planted.label, absent.label) == (ENT, NIC)
    assert [len(step.nodes) for step in absent.steps] == [9, 90, 900, 9_000]
    assert (absent.reaches_sources, absent.error_nodes) == (True, ("answer",))
    assert trail.usage.calls <= 30


def test_batch_judge_selects_side_by_side_and_again_where_it_is_too_much() -> None:
    """One batch a step of work; no question holds more than the judge takes."""
    judge = PhraseBatchJudge(input_limit=60)
    nodes = [
        *(node(f"s{n}", f"Guest {n} says that the pool is heated. So it is.") for n in range(3)),
        node("answer", "The pool is heated.", "s0", "s1", "s2"),
    ]

    (claim,) = Tracer(judge, overlap=0).trace(nodes, "answer", ["The pool is heated"]).claims

    assert [type(one) for one in judge.batches[0]] == [Select, Select]
    assert claim.label is ENT
    assert len(claim.path) == 3


@pytest.mark.parametrize("judge", [PhraseJudge, PhraseBatchJudge])
def test_awaited_trace_is_the_same(judge: type[PhraseJudge] | type[PhraseBatchJudge]) -> None:
    """The steps are written once."""
    blocking = Tracer(judge(), patience=2).trace(FIGURE, "answer")

    assert asyncio.run(Tracer(judge(), patience=2).trace_async(FIGURE, "answer")) == blocking


def test_local_judge_traces_without_a_model() -> None:
    """A copied fact reaches its source; a changed number is found in the summary that has it."""
    nodes = [
        node("terms", "The free trial lasts 14 days. It needs no card.", stage="retrieve"),
        node("other", "Support answers by email on weekdays.", stage="retrieve"),
        node("sum", "The free trial lasts 30 days. No card is needed.", "terms", stage="summarise"),
        node("answer", "The free trial lasts 30 days. It needs no card.", "sum", "other"),
    ]
    claims = ["The free trial lasts 30 days.", "The trial needs no card."]

    days, card = Tracer(RulesJudge()).trace(nodes, "answer", claims).claims

    assert (days.label.is_unfaithful, days.error_nodes) == (True, ("sum",))
    assert (card.label, card.path[-1].passage_id) == (ENT, "terms")


PIECES = ("The pool is heated.", "Dogs are welcome!", "No dogs are welcome.", "Perhaps gulls nest.")


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    """Small graphs: each node's inputs are among those before it."""
    texts = st.lists(st.sampled_from(PIECES), max_size=3).map(" \n".join)
    nodes: list[Node] = []
    for n in range(draw(st.integers(1, 8))):
        earlier = st.sampled_from([one.id for one in nodes]) if nodes else st.nothing()
        inputs = draw(st.lists(earlier, max_size=3)) if nodes else []
        nodes.append(Node(str(n), draw(texts), tuple(inputs)))
    return nodes


@settings(max_examples=200, deadline=None)
@given(graphs(), st.integers(1, 3), st.integers(0, 25), st.integers(1, 3), st.booleans())
def test_any_graph_is_traced_within_its_bounds(
    nodes: list[Node], patience: int, most: int, window: int, is_batch: bool
) -> None:
    """It ends, reads no node twice for a claim, spends no more, and quotes what stands there."""
    judge = PhraseBatchJudge() if is_batch else PhraseJudge()
    tracer = Tracer(judge, patience=patience, max_calls=most, window=window, overlap=0)
    texts = {one.id: one.text for one in nodes}

    trail = tracer.trace(nodes, nodes[-1].id, ["The pool is heated", "dogs are welcome", "gulls"])

    assert trail.usage.calls <= most
    for claim in trail.claims:
        read = [name for names in reads(claim) for name in names]
        assert len(read) == len(set(read))
        assert claim.label is claim.steps[-1].label
        if claim.label is ENT:
            assert claim.reaches_sources is True
        assert bool(claim.error_nodes) == claim.label.is_unfaithful
        for one in (*claim.path, *(each for step in claim.steps for each in step.evidence)):
            assert one.text == texts[one.passage_id][one.start : one.end]
            assert one.passage_id in read
