"""Reads a drawn claim with what a rater must see: the answer, the passages, what is near it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.core.guard import guard
from otel_rt4chart.verify.core.model import AnswerRange, Exchange, Passage
from otel_rt4chart.verify.decompose.grounding import locate_claim
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.text.segment import segment, segment_passages
from rt4chart_collector.pipeline.additions.earlier_turns import earlier_passages
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verifications import Verification, verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.drawn_claims import claim_hash
from rt4chart_collector.store.labels.draws import claims_by_key

NEAREST_SENTENCES = 3
# Spans of a trace that are read for its passages.
MAX_SPANS = 50_000


@dataclass(frozen=True, slots=True)
class NearSentence:
    """A sentence of a passage that is like the claim: it may support, contradict or miss it."""

    passage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class LabellingTask:
    """A claim to label. The judge's verdict is in `row`: a blind rater must not see it.

    `nearest` are found by words, whatever the judge said. `passages` is None where the spans were
    deleted; `nearest` has then the one that was stored with the claim.
    """

    row: QueueRow
    claim: ClaimRow
    question: str
    answer: str
    nearest: tuple[NearSentence, ...]
    passages: tuple[Passage, ...] | None

    @property
    def answer_range(self) -> AnswerRange:
        """Where the answer says it; empty if the stored range does not fit the answer.

        The stored range of an unfaithful claim may be the wrong words alone, which would tell the
        verdict: the claim is found anew in its sentence.
        """
        start, end = self.claim.answer_range
        if not 0 <= start < end <= len(self.answer):
            return AnswerRange(0, 0)
        for sentence in segment(self.answer):
            if sentence.start <= start and end <= sentence.end:
                return locate_claim(self.claim.text, sentence)
        return self.claim.answer_range

    @property
    def exchange(self) -> Exchange:
        """What a judge is asked about."""
        return Exchange(self.question, self.passages or (), self.answer)


def read_task(client: Client, row: QueueRow) -> LabellingTask | None:
    """The claim with its answer and passages; None if it is gone or has another text now."""
    claim = read_claim(client, row)
    if claim is None:
        return None
    answer = _answer(client, row)
    if answer is None:
        return None
    passages = _passages(client, row, [seen.id for seen in answer.passages])
    near = _near_sentences(claim, passages)
    return LabellingTask(row, claim, answer.question, answer.answer, near, passages)


def read_claim(client: Client, row: QueueRow) -> ClaimRow | None:
    """The drawn claim; None if it is gone or has another text now."""
    scope = QueryScope(row.start_ns, row.start_ns + 1, row.verifier)
    claim = claims_by_key(client, scope, [row.claim_key]).get(row.claim_key)
    return claim if claim is not None and claim_hash(claim.text) == row.text_hash else None


def _answer(client: Client, row: QueueRow) -> Verification | None:
    found = verifications_of(client, row.trace_id, row.span_id, start_ns=row.start_ns)
    return next((one for one in found if one.verifier == row.verifier), None)


def _passages(client: Client, row: QueueRow, seen: Sequence[str]) -> tuple[Passage, ...] | None:
    """The passages from the spans, as verification read them; None if they were deleted.

    `seen` are the ids of the verdict's passages: those of earlier turns are read, too.
    """
    with guard("reading the passages of an answer to label"):
        spans = spans_of(client, [row.trace_id], limit=MAX_SPANS)
        for candidate in read_answers(client, spans):
            if candidate.span_id == row.span_id:
                earlier = earlier_passages(client, candidate, spans, seen)
                return (*candidate.exchange.passages, *earlier)
    return None


def _near_sentences(
    claim: ClaimRow, passages: tuple[Passage, ...] | None
) -> tuple[NearSentence, ...]:
    if passages is None:
        # Not the evidence: whether there is any tells the verdict.
        return (NearSentence("", claim.nearest),) if claim.nearest else ()
    sentences = segment_passages(passages)
    linker = Linker(sentences)
    # Passages that overlap repeat a sentence: it is shown once.
    found = linker.candidates(claim.text, limit=NEAREST_SENTENCES * 3)
    near: dict[str, NearSentence] = {}
    for one in found:
        sentence = linker.sentence(one.sentence)
        near.setdefault(sentence.text.strip(), NearSentence(sentence.passage_id, sentence.text))
    return tuple(near.values())[:NEAREST_SENTENCES]
