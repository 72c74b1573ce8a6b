"""Faulty answers since a rise beside answers from before it to the same or a like question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.incident.like_questions import LikeQuestions
from rt4chart_collector.store.answers.asked_again import (
    AskedQuestion,
    asked_questions,
    question_texts,
)
from rt4chart_collector.store.answers.question_pairs import PairedAnswer, whole_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope

# Faulty answers that are read for each that is shown: several may say the same.
READ_PER_SHOWN = 4


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """The answers to one question with a decided claim, and those with a faulty one."""

    answers: int
    faulty: int


@dataclass(frozen=True, slots=True)
class BeforeAndAfter:
    """A faulty answer since the rise, and one from before it, None where there is none.

    `is_same` if both questions have the same words; otherwise they are alike.
    """

    after: PairedAnswer
    asked_after: AnswerCount
    before: PairedAnswer | None = None
    asked_before: AnswerCount = AnswerCount(0, 0)
    is_same: bool = True


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """The questions with a faulty answer since the rise: how many, and those asked before too."""

    questions: int = 0
    asked_before: int = 0
    pairs: tuple[BeforeAndAfter, ...] = ()


def asked_before(
    client: Client, before: QueryScope, after: QueryScope, *, measure: Measure, limit: int
) -> AskedBefore:
    """At most `limit` faulty answers that say different things, those asked before first."""
    since = asked_questions(client, after, measure=measure, is_faulty_first=True)
    faulty = [one for one in since.values() if one.faulty]
    if not faulty:
        return AskedBefore()
    known = asked_questions(client, before, measure=measure, is_faulty_first=False)
    faulty.sort(key=lambda one: _worst_first(one, known))
    chosen = faulty[: limit * READ_PER_SHOWN]
    places = [one for asked in chosen for one in (asked, known.get(asked.question)) if one]
    found = whole_answers(client, places, measure)
    pairs = [_pair(one, known.get(one.question), found) for one in chosen if one.key in found]
    shown = _distinct(pairs)[:limit]
    if known and any(pair.before is None for pair in shown):
        shown = _with_like_questions(client, before, measure, shown, known)
    matched = sum(one.question in known for one in faulty)
    return AskedBefore(len(faulty), matched, tuple(shown))


def _worst_first(one: AskedQuestion, known: Mapping[str, AskedQuestion]) -> tuple[object, ...]:
    """Those with a faultless answer before, then those with any; of equals the most faulty."""
    old = known.get(one.question)
    kind = 3 if old is None else 2 if old.failures else int(old.undecided > 0)
    return kind, -one.faulty, -one.failures, -one.start_ns, one.trace_id


def _pair(
    after: AskedQuestion,
    before: AskedQuestion | None,
    found: Mapping[tuple[str, str, str], PairedAnswer],
    *,
    is_same: bool = True,
) -> BeforeAndAfter:
    pair = BeforeAndAfter(found[after.key], AnswerCount(after.answers, after.faulty))
    if before is None or before.key not in found:
        return pair
    count = AnswerCount(before.answers, before.faulty)
    return replace(pair, before=found[before.key], asked_before=count, is_same=is_same)


def _distinct(pairs: Iterable[BeforeAndAfter]) -> list[BeforeAndAfter]:
    """One pair of those whose answers fail with the same words."""
    found: dict[tuple[str, ...], BeforeAndAfter] = {}
    for pair in pairs:
        found.setdefault(tuple(claim.text for claim in pair.after.failed), pair)
    return list(found.values())


def _with_like_questions(
    client: Client,
    before: QueryScope,
    measure: Measure,
    pairs: Sequence[BeforeAndAfter],
    known: Mapping[str, AskedQuestion],
) -> list[BeforeAndAfter]:
    """The pairs, those without an answer from before with one to the nearest question.

    That is one which was answered from a passage that the faulty claims are judged by.
    """
    texts = [one for one in question_texts(client, before) if one.question in known]
    like = LikeQuestions({one.question: one.words for one in texts})
    nearest: dict[int, AskedQuestion] = {}
    for number, pair in enumerate(pairs):
        needed = _passages(pair.after)
        among = [one.question for one in texts if not needed.isdisjoint(one.passages)]
        if pair.before is None:
            name = like.nearest(pair.after.verdict.question, among)
            nearest.update({number: known[name]} if name else {})
    found = whole_answers(client, list(nearest.values()), measure)
    return [_with_like(pair, nearest.get(number), found) for number, pair in enumerate(pairs)]


def _with_like(
    pair: BeforeAndAfter,
    old: AskedQuestion | None,
    found: Mapping[tuple[str, str, str], PairedAnswer],
) -> BeforeAndAfter:
    before = found.get(old.key) if old else None
    if old is None or before is None or _passages(pair.after).isdisjoint(_context(before)):
        return pair
    count = AnswerCount(old.answers, old.faulty)
    return replace(pair, before=before, asked_before=count, is_same=False)


def _passages(faulty: PairedAnswer) -> set[str]:
    """The passages that speak against the faulty claims; without one, all of the answer."""
    cited = {one.passage_id for claim in faulty.failed for one in claim.claim.evidence}
    return cited or _context(faulty)


def _context(answer: PairedAnswer) -> set[str]:
    return {one.id for one in answer.verdict.passages if one.is_context}
