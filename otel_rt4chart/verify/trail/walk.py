"""One claim's way from the answer to the sources: what was read, what it said, where to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.verify.core.evidence import or_join
from otel_rt4chart.verify.core.model import (
    DraftClaim,
    Evidence,
    Judgement,
    Label,
    Relation,
    Sentence,
)
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.stages.outcome import UNSELECTED
from otel_rt4chart.verify.trail.graph import Graph


@dataclass(frozen=True, slots=True)
class Step:
    """One interim verdict: entailed, not supported (contradicted or baseless), or undecided.

    `nodes` were read for it, none of them earlier. `evidence` is what the verdict stands on; it
    may come from nodes of earlier steps: sources stay, and nothing is read twice. Under a label
    that is not entailed it bears on the claim without supporting all of it.
    """

    nodes: tuple[str, ...]
    label: Label
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ClaimTrail:
    """A claim with its last verdict, and how it came about.

    `path` is the evidence of all steps from the answer to the sources, for a claim that is not
    found unsupported. For one that is, `error_nodes` are where it most likely entered and
    `error_stage` their stages. `reaches_sources` is True where the last verdict stands on, or
    fails on, sources alone.
    """

    claim: str
    label: Label
    steps: tuple[Step, ...]
    path: tuple[Evidence, ...] = ()
    error_nodes: tuple[str, ...] = ()
    error_stage: str = ""
    reaches_sources: bool = False


@dataclass(slots=True)
class Walk:
    """The state of one claim: `frontier` are the nodes of the next verdict, empty at the end.

    `found` keeps what was selected of each node read. `evidence`, `said` (the labels of its
    chunks), `verdict` and `failure` are of the present step.
    """

    draft: DraftClaim
    frontier: tuple[str, ...]
    found: dict[str, dict[int, Sentence]] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    said: list[Judgement] = field(default_factory=list)
    evidence: tuple[Sentence, ...] = ()
    verdict: Judgement | None = None
    failure: str = ""
    failures: int = 0
    steps: list[Step] = field(default_factory=list)
    reaches_sources: bool = False

    def begin(self) -> None:
        """Open the next step: only what was never read will be."""
        self.read = tuple(name for name in self.frontier if name not in self.found)
        self.found.update((name, {}) for name in self.read)
        self.said, self.evidence, self.verdict = [], (), None

    def pick(self, judgement: Judgement, shown: Iterable[Sentence]) -> None:
        """Keep the sentences that a look at some of them selected; unknown ones are discarded."""
        self.said.append(judgement)
        known = {sentence.index: sentence for sentence in shown}
        for index in known.keys() & set(judgement.sentences):
            self.found[known[index].passage_id][index] = known[index]

    def gather(self) -> None:
        """The evidence of this step: of all its nodes, whenever they were read."""
        self.evidence = tuple(
            sentence for name in self.frontier for _, sentence in sorted(self.found[name].items())
        )

    def advance(self, graph: Graph, patience: int) -> None:
        """Close the step and say where to go on, if anywhere."""
        judgement = self._judgement()
        self.steps.append(_step(self.read, judgement, self.evidence))
        is_unsupported = judgement.label.is_unfaithful
        self.failures = self.failures + 1 if is_unsupported else 0
        basis = self.frontier if is_unsupported else nodes_of(self.evidence)
        self.reaches_sources = not self.failure and bool(basis) and all(map(graph.is_source, basis))
        is_over = bool(self.failure) or self.reaches_sources or self.failures >= patience
        self.frontier = () if is_over else graph.before(basis)

    def trail(self, graph: Graph, answer: str) -> ClaimTrail:
        """What is reported of the claim."""
        label, steps = self.steps[-1].label, tuple(self.steps)
        errors = _entered(steps, graph, answer) if label.is_unfaithful else ()
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
        if self.said and or_join(one.label for one in self.said) is Label.UNDECIDED:
            return Judgement(Label.UNDECIDED, reason=self.said[0].reason)
        # Nothing can be linked to a claim without a content word, so that nothing was says nothing.
        if not self.said and not content(self.draft.text):
            return Judgement(Label.UNDECIDED, reason="nothing to check")
        return UNSELECTED


def untraced(claim: str, reason: str) -> ClaimTrail:
    """The trail of what could not be traced at all."""
    return ClaimTrail(claim, Label.UNDECIDED, (Step((), Label.UNDECIDED, reason=reason),))


def nodes_of(evidence: Iterable[Sentence | Evidence]) -> tuple[str, ...]:
    """The nodes that gave it, each once."""
    return tuple(dict.fromkeys(one.passage_id for one in evidence))


def _step(read: tuple[str, ...], judgement: Judgement, evidence: Sequence[Sentence]) -> Step:
    # A verdict may be undecided only; whatever else a judge says decides nothing here.
    label = judgement.label if judgement.label.is_decided else Label.UNDECIDED
    relation: Relation = "contradicts" if label is Label.CONTRADICTED else "supports"
    quoted = tuple(Evidence(s.passage_id, s.start, s.end, s.text, relation) for s in evidence)
    return Step(read, label, quoted, judgement.reason)


def _path(steps: Sequence[Step]) -> tuple[Evidence, ...]:
    """The evidence of all steps, each sentence once."""
    found = {(one.passage_id, one.start): one for step in steps for one in step.evidence}
    return tuple(found.values())


def _entered(steps: Sequence[Step], graph: Graph, answer: str) -> tuple[str, ...]:
    """The nodes that said it last although their inputs do not; else the answer itself."""
    supporting = [step for step in steps if step.label is Label.ENTAILED]
    if not supporting:
        return (answer,)
    return tuple(n for n in nodes_of(supporting[-1].evidence) if not graph.is_source(n))
