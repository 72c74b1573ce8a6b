"""Answers of two versions to the same question, in pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.answers import (
    FAILED_CLAIM,
    FAILED_COUNT,
    OF_ANSWER_KEYS,
    AnswerPlace,
    key_parameters,
)
from rt4chart_collector.store.answers.claims import CLAIMS, ClaimRow
from rt4chart_collector.store.answers.verifications import (
    FINAL_PER_PARTITION,
    VERIFICATIONS,
    Verification,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import in_scope
from rt4chart_collector.store.engine.version_scope import VersionScope

# The newest answers of a version among which questions are looked for.
MAX_ANSWERS = 20_000
# The failed claims of one answer that are read.
MAX_FAILED = 200
# Two questions are the same if they have the same words: case, forms of one character (NFKC),
# punctuation and white space do not count.
SAME_WORDS = r"trim(replaceRegexpAll(lowerUTF8(normalizeUTF8NFKC(Question)), '[\\s\\pP]+', ' '))"
NEWEST_BY_QUESTION = f"""
SELECT ServiceName AS service, Route AS route, toString(sipHash128({SAME_WORDS})) AS question,
    toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId AS trace_id, SpanId AS span_id,
    VerifierId AS verifier, failures, decided
FROM (
    SELECT ServiceName, Route, Question, Timestamp, TraceId, SpanId, VerifierId,
        {{failures}} AS failures,
        toInt64(EntailedCount + ContradictedCount + BaselessCount) AS decided
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_scope()} AND {{condition}}
    ORDER BY Timestamp DESC, TraceId, SpanId LIMIT {MAX_ANSWERS}
)
WHERE decided > 0 AND {SAME_WORDS} != ''
ORDER BY start_ns DESC, trace_id, span_id LIMIT 1 BY service, route, question
"""  # noqa: S608 - our own names
VERDICTS_OF_PAIRS = f"""
SELECT {VERIFICATIONS.select()} FROM rt4chart_verifications FINAL {OF_ANSWER_KEYS}
"""  # noqa: S608
FAILED_CLAIMS_OF_PAIRS = f"""
SELECT {CLAIMS.select()} FROM rt4chart_claims FINAL {OF_ANSWER_KEYS} AND {{failed}}
ORDER BY ClaimIndex LIMIT {MAX_FAILED} BY TraceId, SpanId, VerifierId
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class PairedAnswer:
    """A verdict on an answer, with its first claims that the measure counts, in order."""

    verdict: Verification
    failed: tuple[ClaimRow, ...]


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """The newest answer of each version to one question of a route."""

    a: PairedAnswer
    b: PairedAnswer


@dataclass(frozen=True, slots=True)
class QuestionPairs:
    """The questions of both versions: how many, and in how many each has more failed claims.

    `pairs` are some of them: first those where b has more failed claims than a, then those where it
    has fewer, then those where both have some; of equals the newest first.
    """

    questions: int = 0
    more_in_a: int = 0
    more_in_b: int = 0
    pairs: tuple[QuestionPair, ...] = ()


@dataclass(frozen=True, slots=True)
class _AskedAnswer:
    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    question: str
    failures: int
    decided: int

    @property
    def key(self) -> tuple[str, str, str]:
        return self.trace_id, self.span_id, self.verifier


def question_pairs(
    client: Client, a: VersionScope, b: VersionScope, *, measure: Measure, limit: int = 20
) -> QuestionPairs:
    """The questions that both versions answered, at most `limit` of them with the answers.

    Of each version the newest `MAX_ANSWERS` answers with a decided claim are searched.
    """
    before, after = (_newest_by_question(client, version, measure) for version in (a, b))
    both = [(before[question], after[question]) for question in before if question in after]
    both.sort(key=_most_changed_first)
    found = whole_answers(client, [one for pair in both[:limit] for one in pair], measure)
    return QuestionPairs(
        questions=len(both),
        more_in_a=sum(first.failures > second.failures for first, second in both),
        more_in_b=sum(second.failures > first.failures for first, second in both),
        pairs=tuple(
            QuestionPair(found[first.key], found[second.key])
            for first, second in both[:limit]
            if first.key in found and second.key in found
        ),
    )


def _newest_by_question(
    client: Client, of: VersionScope, measure: Measure
) -> dict[tuple[str, str, str], _AskedAnswer]:
    query = NEWEST_BY_QUESTION.replace("{failures}", FAILED_COUNT[measure])
    query = query.replace("{condition}", of.condition)
    rows = read(client, _AskedAnswer, query, of.parameters, settings=FINAL_PER_PARTITION)
    return {(row.service, row.route, row.question): row for row in rows}


def _most_changed_first(pair: tuple[_AskedAnswer, _AskedAnswer]) -> tuple[int, int, int, str]:
    a, b = pair
    change = b.failures - a.failures
    kind = 0 if change > 0 else 1 if change < 0 else 2 if b.failures else 3
    return kind, -abs(change), -b.start_ns, b.trace_id


class VerdictPlace(AnswerPlace, Protocol):
    """Where a verdict is stored."""

    @property
    def verifier(self) -> str:
        """The judge."""


def whole_answers(
    client: Client, asked: Sequence[VerdictPlace], measure: Measure
) -> dict[tuple[str, str, str], PairedAnswer]:
    """The answers with their texts and failed claims, by trace, span and verifier."""
    if not asked:
        return {}
    parameters = key_parameters(asked)
    verdicts = read(
        client, Verification, VERDICTS_OF_PAIRS, parameters, settings=FINAL_PER_PARTITION
    )
    query = FAILED_CLAIMS_OF_PAIRS.replace("{failed}", FAILED_CLAIM[measure])
    failed: defaultdict[tuple[str, str, str], list[ClaimRow]] = defaultdict(list)
    for row in read(client, ClaimRow, query, parameters, settings=FINAL_PER_PARTITION):
        failed[(*row.key, row.verifier)].append(row)
    return {
        (*verdict.key, verdict.verifier): PairedAnswer(
            verdict, tuple(failed[(*verdict.key, verdict.verifier)])
        )
        for verdict in verdicts
    }
