"""Traces the failed claims of a verified answer through the steps that made it.

Where the chain is not known, or the judge cannot decide at one of its steps, nobody is blamed: the
trail says why. The verdicts stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, count

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.text import bounded_name, one_line
from otel_rt4chart.judges.left_out import limited_claims, step_that_left_out
from otel_rt4chart.spans.exchange.span_tree import RETRIEVAL_KINDS
from otel_rt4chart.spans.graph.chain import TraceChain
from otel_rt4chart.spans.model.blame import (
    ChainPlace,
    ClaimBlame,
    InterimVerdict,
    RetrievalBlame,
)
from otel_rt4chart.spans.model.shortening import shorten_text
from otel_rt4chart.spans.model.values import normalize_text
from otel_rt4chart.spans.model.verdict import (
    Candidate,
    Stage,
    StagedPassage,
    Verdict,
    is_prompt_known,
)
from otel_rt4chart.verify import Node, Passage, Tracer, Verifier
from otel_rt4chart.verify.core.judge import is_remote
from otel_rt4chart.verify.core.meter import TOO_LARGE, Budget
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    ClaimStatus,
    DraftClaim,
    Evidence,
    Label,
    Usage,
)
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.linker import FLOOR, Linker
from otel_rt4chart.verify.text.segment import segment_passages
from otel_rt4chart.verify.trail.traced_claim import ClaimTrail, TrailStep, nodes_of

# A trail may take one of so many parts of the comparisons of the answer's verification.
COMPARISON_PARTS = 4
# What is stored of a trail. A claim has few steps; a chain may have thousands of nodes.
MAX_STEPS, MAX_READ, MAX_EVIDENCE, MAX_BLAMED = 12, 12, 6, 8
# A passage on something near may seem to decide on a claim that it does not speak of.
MIN_SHARED = 0.6
# Of a verdict; below it no step is blamed for a claim that it may have taken from a source. Chosen
# on chains of training data: it leaves most of the right blames and few of the false ones
# (benchmarks.trails). A verdict without a confidence is taken at its word.
MIN_CONFIDENCE = 0.85
EVIDENCE_BYTES, REASON_CHARS = 1_000, 300


@dataclass(frozen=True, slots=True)
class TrailMaker:
    """Makes the trails of answers with the judge that verified them; threads may share it.

    `tracer` is None for a judge that cannot be asked about a given claim, and `problem` says so.
    """

    tracer: Tracer | None
    budget: Budget
    problem: str = ""

    @property
    def is_remote(self) -> bool:
        """True where a trail sends texts out of this process."""
        return self.tracer is not None and is_remote(self.tracer.judge)

    def make(self, verdict: Verdict, chain: TraceChain) -> Verdict:
        """The verdict with the trails of its failed claims, if the chain can tell them apart.

        An answer of one step without lost passages has none: that step read everything. A
        misleading claim has one only if it is certain which step left its limit out.
        """
        failed, limited = unfaithful_claims(verdict), limited_claims(verdict)
        if not (failed or limited):
            return verdict
        problem = chain.problem or self.problem or self._size_problem(chain)
        if problem or self.tracer is None:
            return replace(verdict, trail=unknown(failed, problem))
        lost = _lost_passages(verdict.candidate, chain)
        has_steps = len(_generated(chain)) >= 2
        asked = _Asked(self.tracer, verdict.candidate.exchange.answer, *self._limits(verdict))
        blames: list[ClaimBlame] = []
        if failed and (has_steps or lost):
            blames += self._trace(
                asked, verdict, chain, lost, [claim for _, claim in failed]
            ).blames(failed)
        if has_steps:
            blames += asked.left_out(chain, limited)
        trail = tuple(sorted(blames, key=lambda blame: blame.claim))
        return _charged(replace(verdict, trail=trail), asked.usage, self.is_remote)

    def _trace(
        self,
        asked: _Asked,
        verdict: Verdict,
        chain: TraceChain,
        lost: Sequence[StagedPassage],
        failed: Sequence[Claim],
    ) -> _AnswerTrail:
        drafts = [_draft(claim) for claim in failed]
        through = asked.trace(chain.nodes, chain.answer, drafts)
        located = [
            asked.located(chain, draft, trail) for draft, trail in zip(drafts, through, strict=True)
        ]
        read = _within(lost, self.budget.passage_characters)
        passages = [one.passage for one in read]
        return _AnswerTrail(
            chain=chain,
            candidate=verdict.candidate,
            through=through,
            located=located,
            beside=asked.beside(passages, drafts) if read else (),
            lost=read,
            near=Linker(segment_passages(passages)) if len(read) == len(lost) else None,
            usage=asked.usage,
        )

    def _limits(self, verdict: Verdict) -> tuple[Budget, Deadline | None]:
        """What the verification has left of the answer's tokens and seconds."""
        seconds, spent = self.budget.seconds, verdict.duration_ns / 1e9
        deadline = None if seconds is None else Deadline(max(seconds - spent, 0.0))
        usage = verdict.report.usage if verdict.report is not None else Usage()
        return self.budget.after(replace(usage, calls=0)), deadline

    def _size_problem(self, chain: TraceChain) -> str:
        read, limit = sum(len(node.text) for node in chain.nodes), self.budget.passage_characters
        if limit is None or read <= limit:
            return ""
        return f"{TOO_LARGE}: {read:,} characters in the chain, expected at most {limit:,}"


def trail_maker(verifier: Verifier, *, calls: int) -> TrailMaker:
    """What makes the trails of this verifier's answers, with at most so many calls an answer."""
    budget = replace(verifier.budget.part(COMPARISON_PARTS), calls=calls)
    try:
        return TrailMaker(Tracer(verifier.judge), budget)
    except SettingsError as error:
        return TrailMaker(None, budget, str(error))


def unfaithful_claims(verdict: Verdict) -> list[tuple[int, Claim]]:
    """The contradicted and baseless claims with their numbers; none without a report."""
    claims = verdict.report.claims if verdict.report is not None else ()
    return [(number, one) for number, one in enumerate(claims) if one.label.is_unfaithful]


def unknown(failed: Iterable[tuple[int, Claim]], problem: str) -> tuple[ClaimBlame, ...]:
    """Trails without a step, and the reason."""
    return tuple(ClaimBlame(number, problem=_reason(problem)) for number, _ in failed)


@dataclass(frozen=True, slots=True)
class _AnswerTrail:
    """The trails of one answer's failed claims: through its chain, and beside it.

    `located` has the nodes in which each claim may have entered, and why there are none. `beside`
    are the claims judged by the lost passages, none without such. `near` finds sentences of these
    by their words; None if some were not read.
    """

    chain: TraceChain
    candidate: Candidate
    through: Sequence[ClaimTrail]
    located: Sequence[tuple[tuple[str, ...], str]]
    beside: Sequence[ClaimTrail]
    lost: Sequence[StagedPassage]
    near: Linker | None
    usage: Usage

    def blames(self, failed: Sequence[tuple[int, Claim]]) -> tuple[ClaimBlame, ...]:
        """What the trails say of each failed claim, in order."""
        return tuple(self._blame(at, number, claim) for at, (number, claim) in enumerate(failed))

    def _blame(self, at: int, number: int, claim: Claim) -> ClaimBlame:
        trail, beside = self.through[at], self.beside[at] if self.beside else None
        errors, problem = self.located[at]
        problem = problem or self._problem(trail) or self._doubt(claim, errors)
        errors = () if problem else errors
        blamed = tuple(map(self._place, errors[:MAX_BLAMED]))
        if len(errors) > 1:
            names = ", ".join(f"“{place.name or place.node}”" for place in blamed[:3])
            problem = f"{len(errors)} steps say it: {names}{', …' * (len(errors) > 3)}"
        retrieval, lost = self._retrieval(claim, trail, beside, errors)
        return ClaimBlame(
            claim=number,
            blamed=blamed,
            way=tuple(map(self._interim, trail.steps[:MAX_STEPS])),
            retrieval=retrieval,
            lost=lost,
            reaches_sources=trail.reaches_sources,
            calls=self.usage.calls,
            problem=_reason(problem),
        )

    def _problem(self, trail: ClaimTrail) -> str:
        """Why no step is blamed; empty if one is.

        A step without a decision may be the one that says it, so it clears all others too.
        """
        if trail.label is Label.ENTAILED:
            return (
                "the texts that the steps read support it, although the passages of the answer do "
                "not"
            )
        for step in trail.steps:
            if step.label is Label.UNDECIDED:
                names = ", ".join(f"“{self._place(node).name}”" for node in step.nodes[:3])
                why = f" ({step.reason})" if step.reason else ""
                return f"the judge cannot decide whether {names or 'a step'} says it{why}"
        return "" if trail.error_nodes else "no step is known that says it"

    def _doubt(self, claim: Claim, errors: Sequence[str]) -> str:
        """Why the verdict is too weak to blame these steps; empty if it is not.

        A step that says what the judge did not find in its sources may have found it there. Between
        generated texts a claim is mostly repeated, so no such doubt is left.
        """
        if claim.confidence is None or claim.confidence >= MIN_CONFIDENCE:
            return ""
        inputs = {node.id: node.inputs for node in self.chain.nodes}
        for name in errors:
            if any(not inputs[one] for one in inputs[name]):
                step = self._place(name).name or name
                return f"the judge is not certain that no source of “{step}” says it"
        return ""

    def _place(self, node: str) -> ChainPlace:
        return _place_of(self.chain, node)

    def _interim(self, step: TrailStep) -> InterimVerdict:
        # The nodes with evidence first: they are the way of the claim.
        order = dict.fromkeys((*nodes_of(step.evidence), *step.nodes))
        read = [name for name in order if name in set(step.nodes)]
        return InterimVerdict(
            step.label,
            tuple(map(self._place, read[:MAX_READ])),
            max(len(read) - MAX_READ, 0),
            _quoted(step.evidence),
            _reason(self._with_names(step.reason, order)),
        )

    def _with_names(self, reason: str, nodes: Iterable[str]) -> str:
        """The reason with the names of steps: to the judge each text is a passage with an id."""
        for node in nodes:
            step = self.chain.steps.get(node)
            if step is not None and step.kind not in RETRIEVAL_KINDS:
                reason = reason.replace(f"passage {node}", f"“{bounded_name(step.name)}”")
        return reason

    def _retrieval(
        self,
        claim: Claim,
        trail: ClaimTrail,
        beside: ClaimTrail | None,
        errors: Sequence[str],
    ) -> tuple[RetrievalBlame, tuple[Evidence, ...]]:
        """Where the passage got lost that would have prevented the claim, and what it says."""
        if self._has_read_otherwise(trail, errors):
            return RetrievalBlame.IGNORED_BY_GENERATOR, ()
        if claim.label is Label.CONTRADICTED and not self._is_of_lost(claim.evidence):
            return RetrievalBlame.NONE, ()
        if beside is not None and beside.label is not Label.BASELESS:
            if beside.label is Label.UNDECIDED:
                return RetrievalBlame.NONE, ()
            evidence = beside.steps[0].evidence
            if not _is_same_subject(claim.text, evidence):
                return RetrievalBlame.NONE, ()
            return self._loss(nodes_of(evidence)), _quoted(evidence)
        is_known = any(Stage.RETRIEVED in one.stages for one in self.candidate.staged)
        is_absent = claim.status in (ClaimStatus.UNLINKED, ClaimStatus.UNSUPPORTED)
        never = is_known and is_absent and errors and not self._is_near_lost(claim)
        return RetrievalBlame.NEVER_RETRIEVED if never else RetrievalBlame.NONE, ()

    def _is_of_lost(self, evidence: Sequence[Evidence]) -> bool:
        """True if all of the evidence is of lost passages."""
        names = set(nodes_of(evidence))
        return bool(names) and names <= {one.passage.id for one in self.lost}

    def _is_near_lost(self, claim: Claim) -> bool:
        """True if a lost passage shares words with the claim, whatever the judge made of it.

        Of more text than is read, it is not known.
        """
        if self.near is None:
            return True
        return any(link.score >= FLOOR for link in self.near.candidates(claim.text))

    def _has_read_otherwise(self, trail: ClaimTrail, errors: Sequence[str]) -> bool:
        """True if the step that is blamed has read a text that contradicts the claim."""
        last = trail.steps[-1]
        if len(errors) != 1 or last.label is not Label.CONTRADICTED:
            return False
        inputs = next((node.inputs for node in self.chain.nodes if node.id == errors[0]), ())
        return bool(last.evidence) and set(nodes_of(last.evidence)) <= set(inputs)

    def _loss(self, names: Sequence[str]) -> RetrievalBlame:
        """Where the first of these lost passages was last seen."""
        stages = {one.passage.id: one.stages for one in self.lost}
        is_reranked = any(Stage.RERANKED in one.stages for one in self.candidate.staged)
        found = next((stages[name] for name in names if name in stages), ())
        if Stage.RETRIEVED in found and Stage.RERANKED not in found and is_reranked:
            return RetrievalBlame.DROPPED_BY_RERANKER
        if Stage.RETRIEVED in found or Stage.RERANKED in found:
            return RetrievalBlame.CUT_FROM_PROMPT
        return RetrievalBlame.NONE


def _place_of(chain: TraceChain, node: str) -> ChainPlace:
    step = chain.steps.get(node)
    if step is None:
        return ChainPlace(bounded_name(node))
    return ChainPlace(
        bounded_name(node),
        step.span_id,
        bounded_name(step.name),
        step.kind.value,
        bounded_name(step.stage),
    )


def _generated(chain: TraceChain) -> list[Node]:
    """The texts of the chain that a step wrote: a reranker only passes on what it was given."""
    passed_on = {name for name, step in chain.steps.items() if step.kind in RETRIEVAL_KINDS}
    return [node for node in chain.nodes if node.inputs and node.id not in passed_on]


def _lost_passages(candidate: Candidate, chain: TraceChain) -> tuple[StagedPassage, ...]:
    """The passages that were found, and that no step on the way to the answer has read.

    One of the answer is lost if it is missing in a prompt that is known to have others.
    """
    context = {passage.id for passage in candidate.exchange.passages}
    if is_prompt_known(one.stages for one in candidate.staged):
        context -= {one.passage.id for one in candidate.staged if _is_cut(one.stages)}
    lost = [
        one
        for one in candidate.staged
        if one.passage.id not in context and Stage.EARLIER not in one.stages
    ]
    if not lost:
        return ()
    written = {node.id for node in _generated(chain)}
    read = {normalize_text(node.text) for node in _reached(chain) if node.id not in written}
    return tuple(one for one in lost if normalize_text(one.passage.text) not in read)


def _is_cut(stages: Sequence[Stage]) -> bool:
    """True for a passage that was retrieved and did not reach the prompt."""
    return Stage.PROMPT not in stages and not {Stage.RETRIEVED, Stage.RERANKED}.isdisjoint(stages)


def _within(lost: Sequence[StagedPassage], characters: int | None) -> Sequence[StagedPassage]:
    """The first of the passages that have at most so many characters together."""
    if characters is None:
        return lost
    sizes = accumulate(len(one.passage.text) for one in lost)
    return [one for one, size in zip(lost, sizes, strict=True) if size <= characters]


def _reached(chain: TraceChain) -> Iterator[Node]:
    """The nodes that the answer was made from, and the answer."""
    nodes: Mapping[str, Node] = {node.id: node for node in chain.nodes}
    waiting, seen = [chain.answer], set[str]()
    while waiting:
        name = waiting.pop()
        if name in nodes and name not in seen:
            seen.add(name)
            waiting.extend(nodes[name].inputs)
            yield nodes[name]


@dataclass(slots=True)
class _Asked:
    """Asks further about the claims of one answer; `usage` is what all questions have taken."""

    tracer: Tracer
    answer: str
    budget: Budget
    deadline: Deadline | None = None
    usage: Usage = field(default_factory=Usage)

    def trace(
        self, nodes: Sequence[Node], answer: str, drafts: Sequence[DraftClaim]
    ) -> tuple[ClaimTrail, ...]:
        """The trails of the claims, with what is left of the budget and of the time."""
        left = self.budget.after(self.usage)
        if self.deadline is not None:
            left = replace(left, seconds=self.deadline.remaining)
        trail = self.tracer.trace(nodes, answer, drafts, budget=left)
        self.usage = self.usage.plus(trail.usage)
        return trail.claims

    def located(
        self, chain: TraceChain, draft: DraftClaim, trail: ClaimTrail
    ) -> tuple[tuple[str, ...], str]:
        """The nodes in which the claim entered, or why it is not known.

        Of several nodes with evidence, those are left that say the claim alone. A trail reads no
        node twice, and of a node that it read beside others it may have taken no evidence: the
        inputs of the blamed one are then read once more.
        """
        nodes = {node.id: node for node in chain.nodes}
        found = trail.error_nodes
        is_unclear = any(step.label is Label.UNDECIDED for step in trail.steps)
        if is_unclear or len(found) > MAX_BLAMED:
            return found, ""
        if len(found) > 1:
            alone = tuple(n for n in found if self._says(draft, [nodes[n]]) is Label.ENTAILED)
            found = alone or found
        for name in found:
            inputs = [nodes[one] for one in nodes[name].inputs]
            if {one.id for one in inputs} <= set(trail.steps[-1].nodes):
                continue
            if not (label := self._says(draft, inputs)).is_unfaithful:
                step = chain.steps.get(name)
                read = f"the texts that “{step.name if step else name}” has read say it"
                is_said = label is Label.ENTAILED
                return (), f"{read}, too" if is_said else f"the judge cannot decide whether {read}"
        return found, ""

    def left_out(
        self, chain: TraceChain, limited: Sequence[tuple[int, Claim, Evidence]]
    ) -> Iterator[ClaimBlame]:
        """The trails of misleading claims of which it is certain which step left the limit out."""

        def says(text: str, node: Node) -> Label:
            return self._says(DraftClaim(text, -1, AnswerRange(0, 0)), [node])

        for number, claim, limit in limited:
            name = step_that_left_out(chain, claim.text, limit.text, says)
            if name is None:
                continue
            place = _place_of(chain, name)
            # The text of the step says the claim; the answer's own is not on the way to it.
            way = (InterimVerdict(Label.ENTAILED, (place,)),) if name != chain.answer else ()
            yield ClaimBlame(
                number,
                (place,),
                way,
                RetrievalBlame.LIMIT_LEFT_OUT,
                _quoted([limit]),
                calls=self.usage.calls,
            )

    def _says(self, draft: DraftClaim, nodes: Sequence[Node]) -> Label:
        """The verdict on the claim by the texts of these nodes alone."""
        return self.beside([Passage(node.id, node.text) for node in nodes], [draft])[0].label

    def beside(
        self, passages: Sequence[Passage], drafts: Sequence[DraftClaim]
    ) -> tuple[ClaimTrail, ...]:
        """The claims judged by these passages alone."""
        sources = [Node(passage.id, passage.text) for passage in passages]
        taken = {source.id for source in sources}
        name = next(n for n in ("answer" + "'" * k for k in count()) if n not in taken)
        answer = Node(name, self.answer, tuple(source.id for source in sources))
        return self.trace([*sources, answer], answer.id, drafts)


def _is_same_subject(claim: str, evidence: Sequence[Evidence]) -> bool:
    """True if a quotation has most of the claim's words, counted by their rarity."""
    words = content(claim)
    shared = [words.keys() & content(one.text).keys() for one in evidence]
    found = max((sum(words[word] for word in each) for each in shared), default=0.0)
    return found >= MIN_SHARED * sum(words.values())


def _draft(claim: Claim) -> DraftClaim:
    return DraftClaim(claim.text, claim.sentence, claim.answer_range, claim.kind)


def _quoted(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The first of the evidence, with texts that are not too long to be stored."""
    return tuple(
        replace(one, text=shorten_text(one.text, EVIDENCE_BYTES)) for one in evidence[:MAX_EVIDENCE]
    )


def _reason(reason: str) -> str:
    return one_line(reason, REASON_CHARS)


def _charged(verdict: Verdict, usage: Usage, is_paid: bool) -> Verdict:
    """The verdict with the cost of its trails; calls in this process cost nothing."""
    if verdict.report is None or not is_paid:
        return verdict
    return replace(verdict, report=replace(verdict.report, usage=verdict.report.usage.plus(usage)))
