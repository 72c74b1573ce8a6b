"""The stages of one verification, and what is known of each claim between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from otel_rt4chart.verify.core.cascade import Tier
from otel_rt4chart.verify.core.drive import Batch, Steps
from otel_rt4chart.verify.core.evidence import is_borne_out, known_only, or_join
from otel_rt4chart.verify.core.judge import (
    Assess,
    Audit,
    BatchJudge,
    Decompose,
    Embedder,
    Hint,
    Judge,
    Resolve,
)
from otel_rt4chart.verify.core.model import Chunk, Claim, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.drafts import sound, whole_claim
from otel_rt4chart.verify.decompose.rules import decompose as decompose_by_rule
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.chunks import chunk
from otel_rt4chart.verify.link.evidence_selection import Compressed, compress
from otel_rt4chart.verify.link.link import Linker, embedded, is_conclusive
from otel_rt4chart.verify.stages.outcome import NO_EVIDENCE, UNSELECTED, Notes, claim_from, judged

# Of the training rows' claims that no sentence is like, 40 of 73 are unfaithful: talk, mostly.
UNLINKED = Judgement(Label.BASELESS, confidence=0.55, reason="unlinked")


class Options(NamedTuple):
    """What `Verifier` lets be tuned; see there."""

    window: int
    overlap: int
    max_chunk_tokens: int
    floor: float
    dense_floor: float
    candidates: int
    reruns: int


def decompose(
    judge: Judge | BatchJudge, sentences: tuple[Sentence, ...]
) -> Steps[tuple[DraftClaim, ...] | Exception]:
    """The answer's claims, each held to its sentence; the error where the judge gave none."""
    if not sentences:
        return ()
    (reply,) = yield Batch(judge, (Decompose(sentences),))
    if isinstance(reply, Exception):
        return reply
    drafts = tuple(draft for draft in reply if isinstance(draft, DraftClaim))
    return sound(drafts, sentences)


@dataclass(slots=True)
class Run:
    """The state of one verification; claims are known by their number in `drafts`.

    `far` are the pending claims that no sentence is like: no chunk is asked about them.
    """

    question: str
    context: tuple[Sentence, ...]
    options: Options
    drafts: tuple[DraftClaim, ...] = ()
    nearest: dict[int, str] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    candidates: dict[int, frozenset[int]] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)
    far: set[int] = field(default_factory=set)
    local: dict[int, Label] = field(default_factory=dict)
    focus: dict[int, Hint] = field(default_factory=dict)
    read: dict[int, tuple[Sentence, ...]] = field(default_factory=dict)
    final: dict[int, Judgement] = field(default_factory=dict)
    decided_by: dict[int, str] = field(default_factory=dict)
    linking_error: str = ""

    def link(self, embedder: Embedder | None, judge: Judge | BatchJudge) -> Steps[None]:
        """Find each claim's candidate sentences; what none is like may be baseless at once."""
        numbers = [number for number, draft in enumerate(self.drafts) if draft.is_claim]
        if not self.context or not numbers:
            return
        texts = [self.drafts[number].text for number in numbers]
        vectors, self.linking_error = yield from embedded(embedder, self.context, texts)
        linker = Linker(self.context, vectors[: len(self.context)])
        dense = vectors[len(self.context) :] or [()] * len(texts)
        linked = set()
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
            # A claim without a content word cannot be linked; what it is, the judge must say.
            if is_linked or not content(text):
                linked.add(number)
        # Where none is linked, the languages may differ: each claim is read for everywhere.
        unlinked = set(numbers) - linked if linked else set()
        if is_conclusive(embedder, self.linking_error, judge):
            self.final.update(dict.fromkeys(unlinked, UNLINKED))
            self.decided_by.update(dict.fromkeys(unlinked, "link"))
        else:
            self.far = unlinked
        self.pending = [number for number in numbers if number not in self.final]

    def verify_locally(self, tier: Tier) -> Steps[None]:
        """Each claim against the chunks that hold a candidate of it; the OR-join; the hint.

        A context of one chunk is left to the global step: both would read the same text.
        """
        self.focus.clear()
        parts = self._chunks(tier.judge)
        asked = [(part, numbers) for part in parts if (numbers := self._concerned(part))]
        if len(parts) < 2 or not asked:
            return
        replies = yield Batch(
            tier.judge,
            tuple(Assess(self._claims(numbers), part, self.question) for part, numbers in asked),
        )
        votes: defaultdict[int, list[tuple[Judgement, Chunk]]] = defaultdict(list)
        for (part, numbers), reply in zip(asked, replies, strict=True):
            for number, judgement in judged(tier, numbers, reply, part.sentences).items():
                votes[number].append((judgement, part))
        for number, cast in votes.items():
            self._join(number, cast)

    def _join(self, number: int, cast: Sequence[tuple[Judgement, Chunk]]) -> None:
        label = self.local[number] = or_join(judgement.label for judgement, _ in cast)
        agreeing = [vote for vote in cast if vote[0].label is label]
        best = max(agreeing, key=lambda vote: vote[0].confidence, default=None)
        is_found = label in (Label.ENTAILED, Label.CONTRADICTED) and best is not None
        self.focus[number] = Hint(label, best[1] if best and is_found else None)

    def verify_globally(self, tier: Tier) -> Steps[None]:
        """Each claim against the whole context: one call a hint, all side by side (section 3.5)."""
        groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        for number in self.pending:
            hint = self.focus.get(number)
            part = hint.chunk if hint else None
            key = (part.index, str(hint.label)) if hint and part else (-1 if hint else -2, "")
            groups[key].append(number)
        ordered = [numbers for _, numbers in sorted(groups.items())]
        for numbers in ordered:
            yield from self._read(tier, numbers)
        yield from self._resolve(tier, ordered, with_hint=True)

    def demand_evidence(self, tier: Tier) -> Steps[None]:
        """A label without its evidence is asked once more, then it is baseless (`no_evidence`)."""
        groups: defaultdict[tuple[Sentence, ...], list[int]] = defaultdict(list)
        for number in self.pending:
            if not is_borne_out(self.final[number]):
                groups[self.read[number]].append(number)
        yield from self._resolve(tier, list(groups.values()), with_hint=False)
        for number in (number for numbers in groups.values() for number in numbers):
            if not is_borne_out(self.final[number]):
                self.final[number] = NO_EVIDENCE

    def settle(self, tier: Tier) -> None:
        """Keep what the tier's judge is sure of; the rest stays for the next one."""
        for number in self.pending:
            self.decided_by[number] = tier.judge.id
        self.pending = [
            number
            for number in self.pending
            if self.final[number].confidence < tier.threshold
            or not self.final[number].label.is_decided
        ]

    def audit(self, judge: BatchJudge, sentences: tuple[Sentence, ...]) -> Steps[None]:
        """The steps in one call: claims and labels together."""
        wholes = tuple(draft for sentence in sentences for draft in whole_claim(sentence))
        if not sentences or not self.context:
            self.drafts = decompose_by_rule(sentences)
            return
        fitted = yield from compress(judge, wholes, self.context, self.options)
        reply: object = fitted.failure
        if fitted.failure is None:
            asked = Audit(sentences, fitted.sentences, self.question)
            (reply,) = yield Batch(judge, (asked,))
        pairs = reply if isinstance(reply, Sequence) else ()
        self.drafts = tuple(draft for draft, _ in pairs) or wholes
        undecided = Judgement(Label.UNDECIDED, reason=str(reply))
        told = [judgement for _, judgement in pairs] or [undecided] * len(wholes)
        known = {sentence.index for sentence in fitted.sentences}
        for number, judgement in enumerate(told):
            kept = known_only(judgement, known)
            self.final[number] = kept if is_borne_out(kept) else NO_EVIDENCE
            self.decided_by[number] = judge.id
            self.read[number] = fitted.sentences

    def claims(self, answer: str, judge: str) -> tuple[Claim, ...]:
        """The drafts with their verdicts, in the answer's order."""
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
        if number not in self.final:
            self.decided_by[number] = "link"
            return Judgement(Label.UNDECIDED, reason="no_context")
        return self.final[number]

    def notes(self) -> Notes:
        """What the findings need beside the claims."""
        sizes = [len(sentences) for sentences in self.read.values()]
        smallest = min(sizes, default=len(self.context))
        whole = len(self.context)
        return Notes(
            self.scores, self.linking_error, (smallest, whole) if smallest < whole else None
        )

    def _chunks(self, judge: Judge | BatchJudge) -> tuple[Chunk, ...]:
        most = self.options.max_chunk_tokens
        return chunk(
            self.context,
            window=self.options.window,
            overlap=self.options.overlap,
            max_tokens=min(most, judge.input_limit) if isinstance(judge, BatchJudge) else most,
        )

    def _concerned(self, part: Chunk) -> list[int]:
        """The claims with a candidate in the chunk, and those that have none anywhere."""
        held = {sentence.index for sentence in part.sentences}
        return [
            number
            for number in self.pending
            if number not in self.far
            and (not self.candidates.get(number) or self.candidates[number] & held)
        ]

    def _claims(self, numbers: Iterable[int]) -> tuple[DraftClaim, ...]:
        return tuple(self.drafts[number] for number in numbers)

    def _read(self, tier: Tier, numbers: Sequence[int]) -> Steps[None]:
        """Say which sentences these claims are judged on: all, or those that bear on them."""
        fitted = Compressed(self.context)
        if isinstance(tier.judge, BatchJudge):
            claims = self._claims(numbers)
            fitted = yield from compress(tier.judge, claims, self.context, self.options)
        for number in numbers:
            self.read[number] = fitted.sentences
            if fitted.failure is not None:
                self.final[number] = Judgement(Label.UNDECIDED, reason=str(fitted.failure))
            elif not fitted.sentences:
                self.final[number] = UNSELECTED
            else:
                self.final.pop(number, None)

    def _resolve(
        self, tier: Tier, groups: Sequence[Sequence[int]], *, with_hint: bool
    ) -> Steps[None]:
        asked = [group for group in groups if with_hint is False or group[0] not in self.final]
        if not asked:
            return
        replies = yield Batch(
            tier.judge,
            tuple(
                Resolve(
                    self._claims(numbers),
                    self.read[numbers[0]],
                    self.focus.get(numbers[0]) if with_hint else None,
                    self.question,
                    bare=not with_hint,
                )
                for numbers in asked
            ),
        )
        for numbers, reply in zip(asked, replies, strict=True):
            self.final.update(judged(tier, numbers, reply, self.read[numbers[0]]))
