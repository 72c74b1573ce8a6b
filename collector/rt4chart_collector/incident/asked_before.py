"""Faulty answers since a rise beside answers from before it to the same or a like question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.incident.like_questions import LikeQuestions
from rt4chart_collector.store.answers.asked_again import (
    AskedAnswers,
    AskedQuestion,
    AskedQuestions,
    asked_questions,
)
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.answers.question_pairs import (
    PairedAnswer,
    failed_claims,
    verdicts_at,
)
from rt4chart_collector.store.answers.verifications import Verification
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope

_Key: TypeAlias = tuple[str, str, str]
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

    @property
    def is_exact(self) -> bool:
        """True if there is an answer to the same question."""
        return self.before is not None and self.is_same


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """The questions with a faulty answer since the rise: how many, and those asked before too.

    `is_cut_since` and `is_cut_before` if only the newest answers of a side were searched,
    `is_cut_like` if like questions were looked for among those alone that were asked last.
    """

    questions: int = 0
    asked_before: int = 0
    pairs: tuple[BeforeAndAfter, ...] = ()
    is_cut_since: bool = False
    is_cut_before: bool = False
    is_cut_like: bool = False


@dataclass(frozen=True, slots=True)
class _Shown:
    """A question with a faulty answer since the rise, and its claims that the measure counts."""

    asked: AskedQuestion
    failed: tuple[ClaimRow, ...]

    @property
    def passages(self) -> set[str]:
        """The passages that speak against the claims; without one, all of the answer."""
        cited = {one.passage_id for claim in self.failed for one in claim.evidence}
        return cited or set(self.asked.passages_since)


def asked_before(
    client: Client, scope: QueryScope, *, at_ns: int, measure: Measure, limit: int
) -> AskedBefore:
    """At most `limit` faulty answers that say different things, those asked before first.

    The rise is from `at_ns` on, the rest of the scope is before it.
    """
    found = asked_questions(client, scope, at_ns=at_ns, measure=measure)
    chosen = found.faulty[: limit * READ_PER_SHOWN]
    failed = failed_claims(client, [one.since for one in chosen], measure)
    shown = _distinct([_Shown(one, failed.get(one.since.key, ())) for one in chosen])[:limit]
    others = _others(shown, found)
    befores = [one.before for one in others.values()]
    verdicts = verdicts_at(client, [*(one.asked.since for one in shown), *befores])
    failed |= failed_claims(client, [one for one in befores if one.failures], measure)
    pairs = [_pair(one, others.get(one.asked.question), verdicts, failed) for one in shown]
    return AskedBefore(
        questions=found.questions,
        asked_before=found.asked_before,
        pairs=tuple(pair for pair in pairs if pair is not None),
        is_cut_since=found.is_cut_since,
        is_cut_before=found.is_cut_before,
        is_cut_like=found.is_cut_known and any(pair and not pair.is_exact for pair in pairs),
    )


def _distinct(found: Sequence[_Shown]) -> list[_Shown]:
    """One of those whose answers fail with the same words."""
    kept: dict[tuple[str, ...], _Shown] = {}
    for one in found:
        kept.setdefault(tuple(claim.text for claim in one.failed), one)
    return list(kept.values())


def _others(shown: Sequence[_Shown], found: AskedQuestions) -> dict[str, AskedQuestion]:
    """By question, the question itself if it was asked before, else the nearest that was.

    That is one which was answered from a passage that the faulty claims are judged by.
    """
    others = {one.asked.question: one.asked for one in shown if one.asked.before.answers}
    if len(others) == len(shown):
        return others
    known = {one.question: one for one in found.known}
    like = LikeQuestions({name: one.words for name, one in known.items()})
    for one in shown:
        if one.asked.question not in others:
            needed = one.passages
            among = [
                name for name, old in known.items() if not needed.isdisjoint(old.passages_before)
            ]
            if name := like.nearest(one.asked.words, among):
                others[one.asked.question] = known[name]
    return others


def _pair(
    shown: _Shown,
    other: AskedQuestion | None,
    verdicts: Mapping[_Key, Verification],
    failed: Mapping[_Key, tuple[ClaimRow, ...]],
) -> BeforeAndAfter | None:
    """Both answers; None where the answer since the rise is gone."""
    since = shown.asked.since
    if since.key not in verdicts:
        return None
    pair = BeforeAndAfter(PairedAnswer(verdicts[since.key], shown.failed), _count(since))
    before = verdicts.get(other.before.key) if other else None
    if other is None or before is None:
        return pair
    is_same = other.question == shown.asked.question
    context = {one.id for one in before.passages if one.is_context}
    if not is_same and shown.passages.isdisjoint(context):
        return pair
    whole = PairedAnswer(before, failed.get(other.before.key, ()))
    return replace(pair, before=whole, asked_before=_count(other.before), is_same=is_same)


def _count(asked: AskedAnswers) -> AnswerCount:
    return AnswerCount(asked.answers, asked.faulty)
