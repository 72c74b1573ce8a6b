"""The stages of one verification and the state between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from otel_rt4chart.verify.core.cascade import Tier
from otel_rt4chart.verify.core.evidence import (
    drop_unknown_sentences,
    has_required_evidence,
    or_join,
)
from otel_rt4chart.verify.core.judge import (
    Assess,
    Audit,
    AuditReply,
    BatchJudge,
    Decompose,
    Embedder,
    Hint,
    Judge,
    ModelJudge,
    Resolve,
    reads_question,
)
from otel_rt4chart.verify.core.meter import BUDGET, TOO_LARGE, Meter
from otel_rt4chart.verify.core.model import (
    Chunk,
    Claim,
    DraftClaim,
    Judgement,
    Label,
    Sentence,
    reaches,
)
from otel_rt4chart.verify.core.steps import Batch, Steps
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence, repair_drafts
from otel_rt4chart.verify.decompose.rules import decompose as decompose_by_rule
from otel_rt4chart.verify.language.identify import foreign_language, passage_languages
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.chunks import (
    SelectedEvidence,
    chunks_for,
    passage_parts,
    select_evidence,
)
from otel_rt4chart.verify.link.linker import Linker, decides_unlinked_claims, embed_texts
from otel_rt4chart.verify.stages.claims import (
    claim_from,
    draft_of,
    join_parts,
    judgements_from_reply,
)
from otel_rt4chart.verify.stages.options import Options, PipelineStep
from otel_rt4chart.verify.stages.question import doubt_subject

NOTHING_SELECTED = Judgement(Label.BASELESS, confidence=None, reason="no sentence bears on it")
# Verdicts by rule: no judge states a confidence in them.
NO_EVIDENCE = Judgement(Label.BASELESS, confidence=None, reason="no_evidence")
NO_CHUNK = Judgement(Label.BASELESS, confidence=None, reason="no chunk bears on it")


class VerificationNotes(NamedTuple):
    """What findings need to know of a verification, beside its claims.

    `scores` has each claim's best lexical link. `linking_error` says why meaning was not compared.
    `compressed` has the smallest number of sentences that a claim was judged on, and the number of
    all sentences; None where every claim was judged on all. `context` are the sentences of all
    passages, `basis` the judge's own sentence on what decided.
    """

    scores: dict[int, float]
    linking_error: str
    compressed: tuple[int, int] | None
    context: Sequence[Sentence] = ()
    basis: str = ""


# Of the training rows' claims without a link, 40 of 73 are unfaithful; most are small talk.
UNLINKED = Judgement(Label.BASELESS, confidence=0.55, reason="unlinked")


def decompose_answer(
    judge: Judge | BatchJudge | None, sentences: tuple[Sentence, ...]
) -> Steps[tuple[DraftClaim, ...] | Exception]:
    """The judge's claims of the answer, repaired; the error where it gave none.

    Without a judge each sentence is one claim.
    """
    if judge is None or not sentences:
        return tuple(draft for one in sentences for draft in claim_from_sentence(one))
    (reply,) = yield Batch(judge, (Decompose(sentences),))
    if isinstance(reply, Exception):
        return reply
    drafts = tuple(draft for draft in reply if isinstance(draft, DraftClaim))
    return repair_drafts(drafts, sentences)


@dataclass(slots=True)
class VerificationRun:
    """The state of one verification; a claim is identified by its number in `drafts`.

    `pending` are the claims that the next judge is asked about. Of these, `unlinked` are like no
    sentence and skip the local step. `local` and `hints` are the results of the local step, `votes`
    the deciding chunk's own judgement, `judged_on` the sentences that a claim was last judged on.
    """

    question: str
    context: tuple[Sentence, ...]
    options: Options
    drafts: tuple[DraftClaim, ...] = ()
    nearest: dict[int, str] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    candidates: dict[int, frozenset[int]] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)
    unlinked: set[int] = field(default_factory=set)
    local: dict[int, Label] = field(default_factory=dict)
    hints: dict[int, Hint] = field(default_factory=dict)
    votes: dict[int, tuple[Judgement, Chunk]] = field(default_factory=dict)
    judged_on: dict[int, tuple[Sentence, ...]] = field(default_factory=dict)
    judgements: dict[int, Judgement] = field(default_factory=dict)
    decided_by: dict[int, str] = field(default_factory=dict)
    linking_error: str = ""
    basis: str = ""

    def accept(self, drafts: tuple[DraftClaim, ...], answer: str, most: int | None) -> None:
        """Take the claims; all beyond the first `most` become a single one that is undecided."""
        self.drafts = drafts
        if most is not None and len(drafts) > most:
            rest = drafts[most]
            self.drafts = (*drafts[:most], draft_of(answer, rest.range.start, rest.sentence))
            self._refuse(
                most,
                f"{TOO_LARGE}: {len(drafts):,} claims in the answer, expected at most {most:,}",
            )

    def _refuse(self, number: int, reason: str) -> None:
        self.judgements[number] = Judgement(Label.UNDECIDED, reason=reason)
        self.decided_by[number] = BUDGET

    def link(self, embedder: Embedder | None, judge: Judge | BatchJudge) -> Steps[None]:
        """Find each claim's candidate sentences; a claim without any may be baseless at once."""
        numbers = [
            number
            for number, draft in enumerate(self.drafts)
            if draft.is_claim and number not in self.judgements
        ]
        if not self.context or not numbers:
            return
        texts = [self.drafts[number].text for number in numbers]
        vectors, self.linking_error = yield from embed_texts(embedder, self.context, texts)
        linker = Linker(self.context, vectors[: len(self.context)])
        dense = vectors[len(self.context) :] or [()] * len(texts)
        linked = set()
        has_foreign = bool(passage_languages(self.context).foreign)
        for number, text, vector in zip(numbers, texts, dense, strict=True):
            found = linker.candidates(text, vector, limit=self.options.candidates)
            self.candidates[number] = frozenset(link.sentence for link in found)
            self.scores[number] = max((link.score for link in found), default=0.0)
            if found:
                self.nearest[number] = self.context[found[0].sentence].reading
            is_linked = any(
                link.score >= self.options.floor or link.cosine >= self.options.dense_floor
                for link in found
            )
            # Without a content word, or in another language, a claim cannot be linked by words, so
            # the judge must decide it.
            if is_linked or has_foreign or not content(text) or foreign_language(text):
                linked.add(number)
        # Where no claim is linked, the languages may differ: the judge then reads every chunk.
        unlinked = set(numbers) - linked if linked else set()
        if self.options.exhaustive:
            unlinked = set()
        if decides_unlinked_claims(embedder, self.linking_error, judge):
            self.judgements.update(dict.fromkeys(unlinked, UNLINKED))
            self.decided_by.update(dict.fromkeys(unlinked, "link"))
        else:
            self.unlinked = unlinked
        self.pending = [number for number in numbers if number not in self.judgements]

    def verify_locally(self, tier: Tier, meter: Meter) -> Steps[None]:
        """Judge each claim on the chunks with a candidate of it; OR-join the labels (section 3.4).

        A context of one chunk is left to the global step, which would read the same text. With
        `exhaustive` every chunk is asked about every claim, also where there is only one.
        """
        self.hints.clear()
        self.votes.clear()
        parts = chunks_for(
            tier.judge,
            self.context,
            window=self.options.window,
            overlap=self.options.overlap,
            max_tokens=self.options.max_chunk_tokens,
        )
        asks_all = self.options.exhaustive or self._omits(PipelineStep.GLOBAL)
        is_asked = not self._omits(PipelineStep.LOCAL) and (asks_all or len(parts) > 1)
        found = [(part, self._claims_for(part)) for part in parts] if is_asked else []
        self._keep_within(tier, found, meter)
        left = frozenset(self.pending)
        asked = [
            (part, kept) for part, numbers in found if (kept := [n for n in numbers if n in left])
        ]
        if not asked:
            return
        # Chunk by chunk: a judge that reads all passages at once may miss subtle contradictions
        # (section 3.4). One batch for all chunks: a remote judge is called in parallel.
        replies = yield Batch(
            tier.judge,
            tuple(Assess(self._drafts(numbers), part, self.question) for part, numbers in asked),
        )
        votes: defaultdict[int, list[tuple[Judgement, Chunk]]] = defaultdict(list)
        for (part, numbers), reply in zip(asked, replies, strict=True):
            for number, judgement in judgements_from_reply(
                tier, numbers, reply, part.sentences
            ).items():
                votes[number].append((judgement, part))
        for number, cast in votes.items():
            self._or_join(number, cast)
        if self._omits(PipelineStep.HINTS):
            self.hints.clear()

    def _omits(self, step: PipelineStep) -> bool:
        return step in self.options.left_out

    def _keep_within(
        self, tier: Tier, found: Sequence[tuple[Chunk, Sequence[int]]], meter: Meter
    ) -> None:
        """Count each claim's comparisons, on its chunks and on the whole, before any is made.

        Those that exceed the budget are undecided. A judge at an endpoint has limits of its own.
        """
        if isinstance(tier.judge, BatchJudge):
            return
        chunks = Counter(number for _, numbers in found for number in numbers)
        with_model = isinstance(tier.judge, ModelJudge)
        for number in self.pending:
            problem = meter.compare(chunks[number] + 1, with_model=with_model)
            if problem is not None:
                self._refuse(number, problem)
        self.pending = [number for number in self.pending if self.decided_by.get(number) != BUDGET]

    def _or_join(self, number: int, cast: Sequence[tuple[Judgement, Chunk]]) -> None:
        label = self.local[number] = or_join(judgement.label for judgement, _ in cast)
        agreeing = [vote for vote in cast if vote[0].label is label]
        best = max(agreeing, key=lambda vote: vote[0].confidence or 0.0, default=None)
        if best is not None:
            self.votes[number] = best
        # A locally baseless claim gets no location: its evidence may be spread over several chunks,
        # so the global step must search without a bias (section 3.5, Table 2).
        is_found = label in (Label.ENTAILED, Label.CONTRADICTED) and best is not None
        self.hints[number] = Hint(label, best[1] if best and is_found else None)

    def verify_globally(self, tier: Tier) -> Steps[None]:
        """Judge each claim on the whole context; claims with the same hint share a call (3.5)."""
        if self._omits(PipelineStep.GLOBAL):
            self._keep_local_verdicts()
            return
        groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        for number in self.pending:
            hint = self.hints.get(number)
            part = hint.chunk if hint else None
            key = (part.index, str(hint.label)) if hint and part else (-1 if hint else -2, "")
            groups[key].append(number)
        # Sorted, so that the same answer makes the same calls in the same order.
        ordered = [numbers for _, numbers in sorted(groups.items())]
        for numbers in ordered:
            yield from self._select_context(tier, numbers)
        yield from self._resolve(tier, ordered, with_hint=True)

    def _keep_local_verdicts(self) -> None:
        """The deciding chunk's judgement as the final one; without one the claim is baseless."""
        for number in self.pending:
            judgement, chunk = self.votes.get(number, (NO_CHUNK, None))
            self.judgements[number] = judgement
            self.judged_on[number] = chunk.sentences if chunk else self.context

    def require_evidence(self, tier: Tier) -> Steps[None]:
        """Ask again for labels without evidence; what has none then is baseless (`no_evidence`)."""
        if self._omits(PipelineStep.EVIDENCE):
            return
        groups: defaultdict[tuple[Sentence, ...], list[int]] = defaultdict(list)
        for number in self.pending:
            if not has_required_evidence(self.judgements[number]):
                groups[self.judged_on[number]].append(number)
        yield from self._resolve(tier, list(groups.values()), with_hint=False)
        for number in (number for numbers in groups.values() for number in numbers):
            if not has_required_evidence(self.judgements[number]):
                self.judgements[number] = NO_EVIDENCE

    def keep_confident(self, tier: Tier) -> None:
        """Keep the verdicts that reach the tier's threshold; leave the others to the next tier."""
        for number in self.pending:
            self.decided_by[number] = tier.judge.id
        self.pending = [
            number
            for number in self.pending
            if not reaches(
                self.judgements[number].confidence, tier.threshold, unknown=not tier.threshold
            )
            or not self.judgements[number].label.is_decided
        ]

    def audit(self, judge: BatchJudge, sentences: tuple[Sentence, ...], answer: str) -> Steps[None]:
        """All steps in one call, for a judge that makes claims and labels together.

        Passages beyond its limit are read in parts: the first gives the claims, each part judges
        them, and the labels are joined as those of chunks are.
        """
        wholes = tuple(draft for sentence in sentences for draft in claim_from_sentence(sentence))
        if not sentences or not self.context:
            self.drafts = decompose_by_rule(sentences)
            return
        first, *others = passage_parts(self.context, judge.input_limit)
        (reply,) = yield Batch(judge, (Audit(sentences, first.sentences, self.question, answer),))
        pairs: Sequence[Any] = reply if isinstance(reply, Sequence) else ()
        self.basis = reply.basis if isinstance(reply, AuditReply) else ""
        # A failed call leaves the sentences themselves as claims, each undecided.
        self.drafts = tuple(draft for draft, _ in pairs) or wholes
        undecided = Judgement(Label.UNDECIDED, reason=str(reply))
        judgements = [judgement for _, judgement in pairs] or [undecided] * len(wholes)
        known = {sentence.index for sentence in first.sentences}
        votes = [[drop_unknown_sentences(judgement, known)] for judgement in judgements]
        open_ = [n for n, (cast,) in enumerate(votes) if cast.label.is_decided]
        asked = tuple(Assess(self._drafts(open_), part, self.question) for part in others)
        replies = (yield Batch(judge, asked)) if open_ and asked else ()
        for part, assessed in zip(others, replies, strict=bool(replies)):
            found = judgements_from_reply(Tier(judge), open_, assessed, part.sentences)
            for number, judgement in found.items():
                votes[number].append(judgement)
        for number, cast in enumerate(votes):
            joined = join_parts(cast)
            self.judgements[number] = joined if has_required_evidence(joined) else NO_EVIDENCE
            self.decided_by[number] = judge.id
            self.judged_on[number] = self.context

    def claims(self, answer: str, judge: str) -> tuple[Claim, ...]:
        """The claims with their verdicts, in the order of the answer."""
        return tuple(
            claim_from(
                draft,
                self._verdict(number),
                answer,
                self.context,
                local=self.local.get(number),
                decided_by=self.decided_by.get(number, judge),
                nearest=self.nearest.get(number, ""),
            )
            for number, draft in enumerate(self.drafts)
        )

    def _verdict(self, number: int) -> Judgement:
        if number not in self.judgements:
            self.decided_by[number] = "link"
            # Without passages there is nothing to judge on; a missing verdict is never entailed.
            return Judgement(Label.UNDECIDED, reason="no_context")
        return self.judgements[number]

    def notes(self) -> VerificationNotes:
        """What findings need beside the claims."""
        sizes = [len(sentences) for sentences in self.judged_on.values()]
        smallest = min(sizes, default=len(self.context))
        whole = len(self.context)
        compressed = (smallest, whole) if smallest < whole else None
        error = self.linking_error
        return VerificationNotes(self.scores, error, compressed, self.context, self.basis)

    def _claims_for(self, part: Chunk) -> list[int]:
        """The claims with a candidate in the chunk, and those without any candidate; or all."""
        if self.options.exhaustive:
            return list(self.pending)
        if self._omits(PipelineStep.GLOBAL):  # no later step reads what is like no sentence
            return [n for n in self.pending if n in self.unlinked or self._bears_on(n, part)]
        return [n for n in self.pending if n not in self.unlinked and self._bears_on(n, part)]

    def _bears_on(self, number: int, part: Chunk) -> bool:
        """True where a candidate of the claim is in the chunk, and where it has no candidate."""
        candidates = self.candidates.get(number)
        return not candidates or any(one.index in candidates for one in part.sentences)

    def _drafts(self, numbers: Iterable[int]) -> tuple[DraftClaim, ...]:
        return tuple(self.drafts[number] for number in numbers)

    def _select_context(self, tier: Tier, numbers: Sequence[int]) -> Steps[None]:
        """Set the sentences to judge these claims on: all, or a selection where these are too many.

        The claims keep no earlier judgement, so that the next one replaces it.
        """
        selected = SelectedEvidence(self.context)
        if isinstance(tier.judge, BatchJudge):
            claims = self._drafts(numbers)
            selected = yield from select_evidence(
                tier.judge, claims, self.context, self.options.reruns
            )
        for number in numbers:
            self.judged_on[number] = selected.sentences
            if selected.failure is not None:
                self.judgements[number] = Judgement(Label.UNDECIDED, reason=str(selected.failure))
            elif not selected.sentences:
                self.judgements[number] = NOTHING_SELECTED
            else:
                self.judgements.pop(number, None)

    def _resolve(
        self, tier: Tier, groups: Sequence[Sequence[int]], *, with_hint: bool
    ) -> Steps[None]:
        asked = [group for group in groups if with_hint is False or group[0] not in self.judgements]
        if not asked:
            return
        replies = yield Batch(
            tier.judge,
            tuple(
                Resolve(
                    self._drafts(numbers),
                    self.judged_on[numbers[0]],
                    self.hints.get(numbers[0]) if with_hint else None,
                    self.question,
                    bare=not with_hint,
                )
                for numbers in asked
            ),
        )
        for numbers, reply in zip(asked, replies, strict=True):
            sentences = self.judged_on[numbers[0]]
            judged = judgements_from_reply(tier, numbers, reply, sentences)
            if not reads_question(tier.judge):
                judged = {n: self._with_question(n, one, sentences) for n, one in judged.items()}
            self.judgements.update(judged)

    def _with_question(
        self, number: int, judgement: Judgement, sentences: Sequence[Sentence]
    ) -> Judgement:
        """The judgement of a judge that does not read the question, with regard to it."""
        own = self.drafts[number]
        if any(draft.is_claim and draft.sentence < own.sentence for draft in self.drafts[:number]):
            return judgement  # what stands before it may name its subject
        return doubt_subject(judgement, own.text, self.question, sentences)
