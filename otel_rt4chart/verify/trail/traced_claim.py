"""The trails of an answer's claims while they are traced: the state of each, and its next step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from otel_rt4chart.verify.core.evidence import (
    drop_unknown_sentences,
    has_required_evidence,
    or_join,
)
from otel_rt4chart.verify.core.judge import Assess, BatchJudge, Judge, Reply, Resolve, Select
from otel_rt4chart.verify.core.model import (
    Chunk,
    DraftClaim,
    Evidence,
    Judgement,
    Label,
    Relation,
    Sentence,
)
from otel_rt4chart.verify.core.steps import Batch, Steps
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.chunks import chunks_for, select_evidence
from otel_rt4chart.verify.link.linker import FLOOR, Linker
from otel_rt4chart.verify.stages.verification import NO_EVIDENCE, NOTHING_SELECTED
from otel_rt4chart.verify.trail.graph import Graph


@dataclass(frozen=True, slots=True)
class TrailStep:
    """One interim verdict: entailed, not supported (contradicted or baseless), or undecided.

    `nodes` are those read in this step; no node is read twice. `evidence` is what the verdict is
    based on; part of it may come from nodes of earlier steps. With a label other than entailed the
    evidence bears on the claim without supporting all of it.
    """

    nodes: tuple[str, ...]
    label: Label
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ClaimTrail:
    """A claim with its last verdict, and the steps that led to it.

    A supported claim has a `path`: the evidence of all steps from the answer to the sources. An
    unsupported one has `error_nodes`, where it most likely entered, and `error_stage`, their
    stages. `reaches_sources` is True where the last verdict is based on sources alone.
    """

    claim: str
    label: Label
    steps: tuple[TrailStep, ...]
    path: tuple[Evidence, ...] = ()
    error_nodes: tuple[str, ...] = ()
    error_stage: str = ""
    reaches_sources: bool = False


@dataclass(slots=True)
class TracedClaim:
    """The state of one claim; `frontier` has the nodes of the next verdict, none at the end.

    `found` has the sentences selected from each node that was read. `read`, `evidence`,
    `chunk_judgements`, `verdict` and `failure` belong to the present step. `failures` counts the
    steps in a row that did not support the claim.
    """

    draft: DraftClaim
    frontier: tuple[str, ...]
    found: dict[str, dict[int, Sentence]] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    chunk_judgements: list[Judgement] = field(default_factory=list)
    evidence: tuple[Sentence, ...] = ()
    verdict: Judgement | None = None
    failure: str = ""
    failures: int = 0
    steps: list[TrailStep] = field(default_factory=list)
    reaches_sources: bool = False

    def begin_step(self) -> None:
        """Begin the next step; it reads only nodes that no earlier step has read."""
        self.read = tuple(name for name in self.frontier if name not in self.found)
        self.found.update((name, {}) for name in self.read)
        self.chunk_judgements, self.evidence, self.verdict = [], (), None

    def add_selection(self, judgement: Judgement, shown: Iterable[Sentence]) -> None:
        """Add the sentences that a judge selected; those that it was not shown are dropped."""
        self.chunk_judgements.append(judgement)
        known = {sentence.index: sentence for sentence in shown}
        for index in known.keys() & set(judgement.sentences):
            self.found[known[index].passage_id][index] = known[index]

    def collect_evidence(self) -> None:
        """Set this step's evidence: the selections of all its nodes, whenever they were read."""
        self.evidence = tuple(
            sentence for name in self.frontier for _, sentence in sorted(self.found[name].items())
        )

    def advance(self, graph: Graph, patience: int) -> None:
        """End the step and set the nodes of the next one.

        A supported claim goes on to the inputs of its evidence, an unsupported one to the inputs
        of everything that was read: what it needs may have been lost on the way.
        """
        judgement = self._judgement()
        self.steps.append(_step(self.read, judgement, self.evidence))
        is_unsupported = judgement.label.is_unfaithful
        self.failures = self.failures + 1 if is_unsupported else 0
        # After a failure no evidence narrows the search, so the inputs of all nodes come next.
        basis = self.frontier if is_unsupported else nodes_of(self.evidence)
        self.reaches_sources = not self.failure and bool(basis) and all(map(graph.is_source, basis))
        is_over = bool(self.failure) or self.reaches_sources or self.failures >= patience
        self.frontier = () if is_over else graph.inputs_of(basis)

    def trail(self, graph: Graph, answer: str) -> ClaimTrail:
        """The result, after the last step."""
        label, steps = self.steps[-1].label, tuple(self.steps)
        errors = _error_nodes(steps, graph, answer) if label.is_unfaithful else ()
        return ClaimTrail(
            self.draft.text,
            label,
            steps,
            () if label.is_unfaithful else _path(steps),
            errors,
            ", ".join(dict.fromkeys(stage for n in errors if (stage := graph.node(n).stage))),
            self.reaches_sources,
        )

    def _judgement(self) -> Judgement:
        if self.failure:
            return Judgement(Label.UNDECIDED, reason=self.failure)
        if self.verdict is not None:
            return self.verdict
        if (
            self.chunk_judgements
            and or_join(one.label for one in self.chunk_judgements) is Label.UNDECIDED
        ):
            return Judgement(Label.UNDECIDED, reason=self.chunk_judgements[0].reason)
        # A claim without a content word can never be linked, so a missing link says nothing.
        if not self.chunk_judgements and not content(self.draft.text):
            return Judgement(Label.UNDECIDED, reason="nothing to check")
        return NOTHING_SELECTED


def untraced(claim: str, reason: str) -> ClaimTrail:
    """The trail of a claim that could not be traced."""
    return ClaimTrail(claim, Label.UNDECIDED, (TrailStep((), Label.UNDECIDED, reason=reason),))


def nodes_of(evidence: Iterable[Sentence | Evidence]) -> tuple[str, ...]:
    """The nodes that the evidence comes from, each once."""
    return tuple(dict.fromkeys(one.passage_id for one in evidence))


def _step(read: tuple[str, ...], judgement: Judgement, evidence: Sequence[Sentence]) -> TrailStep:
    # Any label other than the three, such as "not a claim", decides nothing here.
    label = judgement.label if judgement.label.is_decided else Label.UNDECIDED
    relation: Relation = "contradicts" if label is Label.CONTRADICTED else "supports"
    quoted = tuple(Evidence(s.passage_id, s.start, s.end, s.text, relation) for s in evidence)
    return TrailStep(read, label, quoted, judgement.reason)


def _path(steps: Sequence[TrailStep]) -> tuple[Evidence, ...]:
    """The evidence of all steps, each sentence once."""
    found = {(one.passage_id, one.start): one for step in steps for one in step.evidence}
    return tuple(found.values())


def _error_nodes(steps: Sequence[TrailStep], graph: Graph, answer: str) -> tuple[str, ...]:
    """The last nodes that support the claim while their inputs do not; else the answer itself."""
    supporting = [step for step in steps if step.label is Label.ENTAILED]
    if not supporting:
        return (answer,)
    return tuple(n for n in nodes_of(supporting[-1].evidence) if not graph.is_source(n))


_UNLINKED = Judgement(Label.UNDECIDED, reason="unlinked: no sentence shares a word with it")
Key = TypeVar("Key", bound=Hashable)


class ReadingLimits(NamedTuple):
    """How much is read in one call; see `Tracer`."""

    window: int
    overlap: int
    max_chunk_tokens: int
    candidates: int
    reruns: int


class _ChunkQuestion(NamedTuple):
    """A chunk to select evidence from, and the claims to select it for."""

    chunk: Chunk
    claims: tuple[TracedClaim, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks one judge about the nodes of one graph; claims that read the same nodes share a call."""

    judge: Judge | BatchJudge
    graph: Graph
    limits: ReadingLimits

    def select(self, claims: Sequence[TracedClaim]) -> Steps[None]:
        """Select each claim's evidence from the nodes of its frontier that it has not read yet."""
        for claim in claims:
            claim.begin_step()
        groups = _grouped(claims, lambda claim: claim.read)
        asked = [
            question
            for names, group in groups.items()
            for question in self._chunk_questions(names, group)
        ]
        replies = (yield Batch(self.judge, tuple(map(self._question, asked)))) if asked else ()
        for question, reply in zip(asked, replies, strict=True):
            for claim, answer in zip(
                question.claims, self._judgements(reply, len(question.claims)), strict=True
            ):
                if isinstance(answer, str):
                    claim.failure = claim.failure or answer
                else:
                    claim.add_selection(answer, question.chunk.sentences)
        for claim in claims:
            claim.collect_evidence()

    def resolve(self, claims: Sequence[TracedClaim]) -> Steps[None]:
        """Judge each claim on its selected sentences alone; without any there is nothing to ask."""
        yield from self._select_again(claims)
        for is_retry in (False, True):
            yield from self._judge([claim for claim in claims if _needs_verdict(claim)], is_retry)
        for claim in claims:
            if claim.verdict is not None and not has_required_evidence(claim.verdict):
                claim.verdict = NO_EVIDENCE

    def _chunk_questions(
        self, names: tuple[str, ...], claims: Sequence[TracedClaim]
    ) -> Iterator[_ChunkQuestion]:
        """The chunks to read, each for the claims with a candidate in it that no earlier one had.

        The texts may say the same in other words or another language. So a single chunk is read
        for all claims, and where no claim has a candidate, every chunk is. Where only some have,
        the others are not asked about and stay undecided: no model has called them baseless.
        """
        sentences = self.graph.sentences(names)
        parts = chunks_for(
            self.judge,
            sentences,
            window=self.limits.window,
            overlap=self.limits.overlap,
            max_tokens=self.limits.max_chunk_tokens,
        )
        linker = Linker(sentences if len(parts) > 1 else ())
        candidates = [self._candidates(linker, claim.draft) for claim in claims]
        if not any(candidates):
            yield from (_ChunkQuestion(part, tuple(claims)) for part in parts)
            return
        if isinstance(self.judge, BatchJudge):
            for claim in (
                claim for claim, indices in zip(claims, candidates, strict=True) if not indices
            ):
                claim.add_selection(_UNLINKED, ())
        for part in parts:
            ids = {sentence.index for sentence in part.sentences}
            asked = [number for number, indices in enumerate(candidates) if indices & ids]
            for number in asked:
                candidates[number] -= ids
            if asked:
                yield _ChunkQuestion(part, tuple(claims[number] for number in asked))

    def _candidates(self, linker: Linker, draft: DraftClaim) -> set[int]:
        links = linker.candidates(draft.text, limit=self.limits.candidates)
        return {link.sentence for link in links if link.score >= FLOOR}

    def _question(self, question: _ChunkQuestion) -> Assess | Select:
        claims = _drafts(question.claims)
        if isinstance(self.judge, BatchJudge):
            return Select(claims, question.chunk.sentences)
        return Assess(claims, question.chunk, "")

    def _select_again(self, claims: Sequence[TracedClaim]) -> Steps[None]:
        """Select again where the evidence is too long for one call."""
        if not isinstance(self.judge, BatchJudge):
            return
        undecided = [claim for claim in claims if _needs_verdict(claim)]
        for evidence, group in _grouped(undecided, lambda claim: claim.evidence).items():
            selected = yield from select_evidence(
                self.judge, _drafts(group), evidence, self.limits.reruns
            )
            for claim in group:
                claim.evidence = selected.sentences
                claim.failure = "" if selected.failure is None else str(selected.failure)

    def _judge(self, claims: Sequence[TracedClaim], is_retry: bool) -> Steps[None]:
        groups = _grouped(claims, lambda claim: claim.evidence)
        if not groups:
            return
        asked = tuple(
            Resolve(_drafts(group), evidence, None, "", bare=is_retry)
            for evidence, group in groups.items()
        )
        replies = yield Batch(self.judge, asked)
        for (evidence, group), reply in zip(groups.items(), replies, strict=True):
            known = {sentence.index for sentence in evidence}
            for claim, answer in zip(group, self._judgements(reply, len(group)), strict=True):
                if isinstance(answer, str):
                    claim.failure = answer
                else:
                    claim.verdict = drop_unknown_sentences(answer, known)

    def _judgements(self, reply: Reply | Exception, count: int) -> list[Judgement | str]:
        """The judgement of each claim, or the reason why there is none."""
        if isinstance(reply, Exception):
            return [str(reply)] * count
        if len(reply) != count:
            return [f"{self.judge.id} answered for {len(reply)} of {count} claims"] * count
        return [_judgement(one) for one in reply]


def _needs_verdict(claim: TracedClaim) -> bool:
    """True for a claim with evidence that has no verdict yet, or one without evidence."""
    is_judged = claim.verdict is not None and has_required_evidence(claim.verdict)
    return bool(claim.evidence) and not claim.failure and not is_judged


def _judgement(answer: object) -> Judgement:
    """The judgement itself; a selection of sentences as a judgement that names them."""
    if isinstance(answer, Judgement):
        return answer
    indices = answer if isinstance(answer, tuple) else ()
    return Judgement(Label.BASELESS, tuple(one for one in indices if isinstance(one, int)), None)


def _drafts(claims: Sequence[TracedClaim]) -> tuple[DraftClaim, ...]:
    return tuple(claim.draft for claim in claims)


def _grouped(
    claims: Sequence[TracedClaim], key: Callable[[TracedClaim], Key]
) -> dict[Key, list[TracedClaim]]:
    """The claims grouped by a key, in the order of the first claim of each group."""
    groups: defaultdict[Key, list[TracedClaim]] = defaultdict(list)
    for claim in claims:
        groups[key(claim)].append(claim)
    return groups
