"""The main path of verification: RT4CHART's hierarchy over one answer, from text to report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.errors import JudgeError
from otel_rt4chart.verify import chunk as chunks
from otel_rt4chart.verify.evidence import is_borne_out, known_only, quote
from otel_rt4chart.verify.findings import find
from otel_rt4chart.verify.join import and_join, or_join
from otel_rt4chart.verify.judge import Judge
from otel_rt4chart.verify.link import Linker, content
from otel_rt4chart.verify.localise import localise
from otel_rt4chart.verify.model import (
    AnswerRange,
    Chunk,
    Claim,
    DraftClaim,
    Exchange,
    Judgement,
    Label,
    Report,
    Sentence,
    Usage,
)
from otel_rt4chart.verify.segment import segment, segment_passages

# Claims that share less than this with every sentence are baseless without asking the judge.
FLOOR = 0.05


class Verifier:
    """Verifies answers with one judge; holds no state between answers, so threads may share it."""

    def __init__(
        self,
        judge: Judge,
        *,
        window: int = chunks.WINDOW,
        overlap: int = chunks.OVERLAP,
        max_chunk_chars: int = chunks.MAX_CHARS,
        floor: float = FLOOR,
    ) -> None:
        """`floor` is the lowest link score, in [0, 1], with which a claim reaches the judge."""
        chunks.check(window, overlap, max_chunk_chars)
        self.judge = judge
        self._window = window
        self._overlap = overlap
        self._max_chunk_chars = max_chunk_chars
        self._floor = floor

    def verify(self, exchange: Exchange) -> Report:
        """The report on one answer; without passages every claim is undecided (`no_context`)."""
        context = segment_passages(exchange.passages)
        try:
            drafts = self.judge.decompose(segment(exchange.answer))
        except JudgeError as error:
            return undecomposed(exchange.answer, self.judge.id, str(error))
        run = Run(self.judge, exchange.question, context, drafts)
        if context:
            run.link(Linker(context), self._floor)
            run.verify_locally(self._chunks(context))
            run.verify_globally()
            run.demand_evidence()
        claims = tuple(
            run.claim(number, exchange.answer, draft) for number, draft in enumerate(drafts)
        )
        return Report(
            label=and_join(claim.label for claim in claims),
            claims=claims,
            judge=self.judge.id,
            findings=find(claims, exchange.passages),
            usage=Usage(calls=run.calls),
        )

    def _chunks(self, context: Sequence[Sentence]) -> tuple[Chunk, ...]:
        return chunks.chunk(
            context,
            window=self._window,
            overlap=self._overlap,
            max_chars=self._max_chunk_chars,
        )


@dataclass(slots=True)
class Run:
    """The state of one verification: what is known of each draft, by its number."""

    judge: Judge
    question: str
    context: tuple[Sentence, ...]
    drafts: Sequence[DraftClaim]
    calls: int = 1
    nearest: dict[int, str] = field(default_factory=dict)
    linked: list[int] = field(default_factory=list)
    local: dict[int, Label] = field(default_factory=dict)
    focus: dict[int, Chunk] = field(default_factory=dict)
    final: dict[int, Judgement] = field(default_factory=dict)

    def link(self, linker: Linker, floor: float) -> None:
        """Find each claim's nearest sentence; what has none above the floor is done."""
        for number, draft in enumerate(self.drafts):
            if not draft.is_claim:
                continue
            best = next(iter(linker.candidates(draft.text, limit=1)), None)
            if best is not None:
                self.nearest[number] = self.context[best.sentence].text
            # A claim without a content word cannot be linked; what it is, the judge must say.
            if not content(draft.text) or (best is not None and best.score >= floor):
                self.linked.append(number)

    def verify_locally(self, parts: Sequence[Chunk]) -> None:
        """Each linked claim against each chunk; the OR-join; the deciding chunk is the hint."""
        votes: defaultdict[int, list[tuple[Judgement, Chunk]]] = defaultdict(list)
        for part in parts:
            judged = self._assess(self.linked, part)
            for number, judgement in judged.items():
                votes[number].append((judgement, part))
        for number, cast in votes.items():
            label = self.local[number] = or_join(judgement.label for judgement, _ in cast)
            if label in (Label.ENTAILED, Label.CONTRADICTED):
                agreeing = [vote for vote in cast if vote[0].label is label]
                self.focus[number] = max(agreeing, key=lambda vote: vote[0].confidence)[1]

    def verify_globally(self) -> None:
        """Each linked claim against the whole context: one call a hint (section 3.5)."""
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for number in self.linked:
            hint = self.focus.get(number)
            groups[-1 if hint is None else hint.index].append(number)
        for _, numbers in sorted(groups.items()):
            self.final.update(self._resolve(numbers, self.focus.get(numbers[0])))

    def demand_evidence(self) -> None:
        """A label without its evidence is asked once more, then it is baseless (`no_evidence`)."""
        bare = [number for number in self.linked if not is_borne_out(self.final[number])]
        self.final.update(self._resolve(bare, None))
        for number in bare:
            if not is_borne_out(self.final[number]):
                self.final[number] = Judgement(Label.BASELESS, reason="no_evidence")

    def claim(self, number: int, answer: str, draft: DraftClaim) -> Claim:
        """The draft with its verdict."""
        judgement, decided_by = self._verdict(number)
        nearest = self.nearest.get(number, "")
        where = draft.range
        if judgement.label.is_unfaithful:
            where = localise(answer, draft, judgement, nearest)
        return Claim(
            text=draft.text,
            label=judgement.label,
            local_label=self.local.get(number, judgement.label),
            confidence=judgement.confidence,
            decided_by=decided_by,
            kind=draft.kind,
            answer_range=where,
            sentence=draft.sentence,
            evidence=quote(judgement, self.context),
            reason=judgement.reason,
            clashes=judgement.clashes,
            nearest=nearest,
        )

    def _verdict(self, number: int) -> tuple[Judgement, str]:
        if not self.drafts[number].is_claim:
            return Judgement(Label.NOT_A_CLAIM, confidence=1.0), "decompose"
        if number in self.final:
            return self.final[number], self.judge.id
        if not self.context:
            return Judgement(Label.UNDECIDED, reason="no_context"), "link"
        return Judgement(Label.BASELESS, confidence=1.0, reason="unlinked"), "link"

    def _assess(self, numbers: Sequence[int], part: Chunk) -> dict[int, Judgement]:
        return self._ask(
            numbers, lambda claims: self.judge.assess(claims, part, question=self.question)
        )

    def _resolve(self, numbers: Sequence[int], hint: Chunk | None) -> dict[int, Judgement]:
        return self._ask(
            numbers,
            lambda claims: self.judge.resolve(
                claims, self.context, hint=hint, question=self.question
            ),
        )

    def _ask(
        self,
        numbers: Sequence[int],
        call: Callable[[Sequence[DraftClaim]], Sequence[Judgement]],
    ) -> dict[int, Judgement]:
        """One call about these claims; where it fails, they are undecided with its reason."""
        if not numbers:
            return {}
        self.calls += 1
        try:
            judged = call([self.drafts[number] for number in numbers])
        except JudgeError as error:
            judged = [Judgement(Label.UNDECIDED, reason=str(error))] * len(numbers)
        if len(judged) != len(numbers):
            reason = f"{self.judge.id} judged {len(judged)} of {len(numbers)} claims"
            judged = [Judgement(Label.UNDECIDED, reason=reason)] * len(numbers)
        known = range(len(self.context))
        return {
            number: known_only(judgement, known)
            for number, judgement in zip(numbers, judged, strict=True)
        }


def undecomposed(answer: str, judge: str, reason: str) -> Report:
    """The report where no claims could be made: each sentence of the answer is undecided."""
    claims = tuple(
        Claim(
            text=sentence.text,
            label=Label.UNDECIDED,
            local_label=Label.UNDECIDED,
            confidence=0.0,
            decided_by=judge,
            kind="attribute",
            answer_range=AnswerRange(sentence.start, sentence.end),
            sentence=sentence.index,
            reason=reason,
        )
        for sentence in segment(answer)
    )
    return Report(and_join(claim.label for claim in claims), claims, judge, usage=Usage(calls=1))
