"""An answer beside another one: its text with failed claims marked, and what the passages say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from rt4chart_collector.console.answers.marked_answer import MarkedAnswer, marked_answer
from rt4chart_collector.console.view.filters import with_marked_words
from rt4chart_collector.console.view.urls import answer_url, with_query
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.answers.question_pairs import PairedAnswer
from rt4chart_collector.store.answers.verifications import Verification

SENTENCE, MOST_SENTENCES = 300, 3


@dataclass(frozen=True, slots=True)
class Clashing:
    """Words of a claim and what the passages have instead, "" if they have nothing."""

    claimed: str
    found: str


@dataclass(frozen=True, slots=True)
class PassageSentence:
    """A sentence of a passage, with the words marked that differ from the answer.

    `relation` is "" for the sentence nearest to a claim that none speaks of; it has no passage.
    """

    text: Markup
    passage: str
    relation: str


@dataclass(frozen=True, slots=True)
class AnswerSide:
    """An answer: its text, its page, the words that differ, and the passages' sentences."""

    verdict: Verification
    text: MarkedAnswer
    url: str
    verifier: str
    failed: int
    clashes: tuple[Clashing, ...]
    sentences: tuple[PassageSentence, ...]

    @property
    def page_url(self) -> str:
        """The page of the answer."""
        return with_query(self.url, verifier=self.verifier)

    def claim_url(self, claim: int) -> str:
        """The page of the answer, at one of its claims."""
        return f"{with_query(self.url, verifier=self.verifier, claim=str(claim))}#claim-{claim}"


def answer_side(answer: PairedAnswer, *, by_judge: bool) -> AnswerSide:
    """One of two answers; `by_judge` if its links name the judge."""
    verdict = answer.verdict
    clashes = [clash for claim in answer.failed for clash in claim.claim.clashes]
    sentences = {one.text: one for claim in answer.failed for one in _sentences(claim)}
    return AnswerSide(
        verdict=verdict,
        text=marked_answer(verdict.answer, answer.failed),
        url=answer_url(verdict.trace_id, verdict.span_id),
        verifier=verdict.verifier if by_judge else "",
        failed=len(answer.failed),
        clashes=tuple(Clashing(one.claimed, one.found) for one in clashes if one.claimed),
        sentences=tuple(sentences.values())[:MOST_SENTENCES],
    )


def _sentences(claim: ClaimRow) -> Iterator[PassageSentence]:
    """What the passages have against a failed claim, else the sentence nearest to it."""
    found = [clash.found for clash in claim.claim.clashes if clash.found]
    against = [one for one in claim.claim.evidence if one.relation != "supports"]
    for one in against:
        text = with_marked_words(one.text, SENTENCE, found)
        yield PassageSentence(text, one.passage_id, one.relation)
    if not against and claim.claim.nearest:
        yield PassageSentence(with_marked_words(claim.claim.nearest, SENTENCE, found), "", "")
