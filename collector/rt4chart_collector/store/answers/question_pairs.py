"""Answers of two versions to the same question, in pairs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

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
from rt4chart_collector.store.engine.grains import SECOND_NS, Grain, sums_of
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import in_scope
from rt4chart_collector.store.engine.version_scope import VERSION_COLUMNS, VersionScope

# The newest answers of a version among which questions are looked for.
MAX_ANSWERS = 20_000
# The failed claims of one answer that are read.
MAX_FAILED = 200
# Two questions are the same if they have the same words: case, forms of one character (NFKC),
# punctuation and white space do not count.
SAME_WORDS = r"trim(replaceRegexpAll(lowerUTF8(normalizeUTF8NFKC(Question)), '[\\s\\pP]+', ' '))"
# `answers` are those among which questions were looked for.
NEWEST_BY_QUESTION = f"""
SELECT ServiceName AS service, Route AS route, toString(sipHash128({SAME_WORDS})) AS question,
    toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId AS trace_id, SpanId AS span_id,
    VerifierId AS verifier, failures, answers
FROM (
    SELECT *, count() OVER () AS answers
    FROM (
        SELECT ServiceName, Route, Question, Timestamp, TraceId, SpanId, VerifierId,
            {{failures}} AS failures,
            toInt64(EntailedCount + ContradictedCount + BaselessCount) AS decided
        FROM rt4chart_verifications FINAL
        WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_scope()} AND {{condition}}
        ORDER BY Timestamp DESC, TraceId, SpanId LIMIT {{most:UInt64}}
    )
)
WHERE decided > 0 AND {SAME_WORDS} != ''
ORDER BY start_ns DESC, trace_id, span_id LIMIT 1 BY service, route, question
"""  # noqa: S608 - our own names
# The questions of both versions and, in the order of the list, the keys of the answers. Only these
# few leave the engine.
KEYS_OF = ", ".join(
    f"{{side}}.{name}"
    for name in ("start_ns", "trace_id", "span_id", "verifier", "service", "route")
)
BOTH_ASKED = f"""
WITH a.answers > 0 AND b.answers > 0 AS is_both, b.failures - a.failures AS change
SELECT max(a.answers) AS answers_a, max(b.answers) AS answers_b,
    countIf(is_both) AS questions, countIf(is_both AND change < 0) AS more_in_a,
    countIf(is_both AND change > 0) AS more_in_b,
    arrayMap(found -> (found.2, found.3), arraySlice(arraySort(groupArrayIf((
        (multiIf(change > 0, 0, change < 0, 1, b.failures > 0, 2, 3), -abs(change), -b.start_ns,
            b.trace_id, -a.start_ns, a.trace_id, a.span_id),
        ({KEYS_OF.replace("{side}", "a")}), ({KEYS_OF.replace("{side}", "b")})
    ), is_both)), 1, {{limit:UInt32}})) AS pairs
FROM ({{a}}) AS a FULL JOIN ({{b}}) AS b
    ON a.service = b.service AND a.route = b.route AND a.question = b.question
"""  # noqa: S608
# When the last answers of each version began and ended, by its sums: most of a long time is before,
# and that of an old version is after.
LAST_TIMES = f"""
SELECT version, sum(number) AS answers,
    maxIf(at_s, newer >= {{enough:UInt64}}) * {SECOND_NS} AS since_ns,
    (max(at_s) + {int(Grain.HOUR)}) * {SECOND_NS} AS until_ns
FROM (
    SELECT toString({{column}}) AS version, toUnixTimestamp(Tick) AS at_s, sum(Answers) AS number,
        sum(number) OVER (PARTITION BY version ORDER BY at_s DESC) AS newer
    FROM {{sums}} WHERE Decision = 'verified' AND {{column}} IN {{values:Array(String)}}
    GROUP BY version, Tick
)
WHERE number != 0 GROUP BY version
"""  # noqa: S608
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

    @property
    def key(self) -> tuple[str, str, str]:
        return self.trace_id, self.span_id, self.verifier


@dataclass(frozen=True, slots=True)
class _LastTime:
    """The time of a version's last answers; `since_ns` is 0 where its `answers` are fewer."""

    version: str
    answers: int
    since_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class _BothAsked:
    answers_a: int
    answers_b: int
    questions: int
    more_in_a: int
    more_in_b: int
    pairs: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]


def question_pairs(
    client: Client,
    a: VersionScope,
    b: VersionScope,
    *,
    measure: Measure,
    limit: int = 20,
    most: int = MAX_ANSWERS,
) -> QuestionPairs:
    """The questions that both versions answered, at most `limit` of them with the answers.

    Of each version the newest `most` answers are searched, those with a decided claim.
    """
    times = _last_times(client, a, b, most)
    last = _in_time(a, times[0]), _in_time(b, times[1])
    both = _both_asked(client, *last, measure, limit, most)
    numbers = both.answers_a, both.answers_b
    if any(n < min(time.answers, most) for n, time in zip(numbers, times, strict=True) if time):
        # There are fewer than the sums say.
        both = _both_asked(client, a, b, measure, limit, most)
    keys = [(_AskedAnswer(*first), _AskedAnswer(*second)) for first, second in both.pairs]
    whole = whole_answers(client, [one for pair in keys for one in pair], measure)
    return QuestionPairs(
        questions=both.questions,
        more_in_a=both.more_in_a,
        more_in_b=both.more_in_b,
        pairs=tuple(
            QuestionPair(whole[first.key], whole[second.key])
            for first, second in keys
            if first.key in whole and second.key in whole
        ),
    )


def _both_asked(
    client: Client, a: VersionScope, b: VersionScope, measure: Measure, limit: int, most: int
) -> _BothAsked:
    query, parameters = BOTH_ASKED, dict[str, object]({"limit": limit})
    for side, of in (("a", a), ("b", b)):
        part = NEWEST_BY_QUESTION.replace("{failures}", FAILED_COUNT[measure])
        part = part.replace("{condition}", of.condition)
        # Both have the same parameters, each its own values.
        query = query.replace(f"{{{side}}}", re.sub(r"\{(\w+):", rf"{{\1_{side}:", part))
        given = {**of.parameters, "most": most}
        parameters |= {f"{name}_{side}": value for name, value in given.items()}
    (found,) = read(client, _BothAsked, query, parameters, settings=FINAL_PER_PARTITION)
    return found


def _last_times(
    client: Client, a: VersionScope, b: VersionScope, most: int
) -> tuple[_LastTime | None, _LastTime | None]:
    """The time of the last answers of both, as far as their sums tell."""
    if a.shares_rows_with(b):
        found = _times_of(client, a, [a.value, b.value], most)
        return found.get(a.value), found.get(b.value)
    first, second = (_times_of(client, one, [one.value], most).get(one.value) for one in (a, b))
    return first, second


def _times_of(
    client: Client, of: VersionScope, values: Sequence[str], most: int
) -> dict[str, _LastTime]:
    columns = {"Tick", "Answers", "Decision", "VerifierId", *VERSION_COLUMNS.values()}
    sums = sums_of(client, of.scope, sorted(columns), coarsest=Grain.HOUR)
    query = LAST_TIMES.replace("{sums}", sums).replace("{column}", of.column)
    # A few more, as the last five minutes may have answers after the time.
    parameters = {**of.scope.parameters, "values": [*values], "enough": most + most // 10}
    return {one.version: one for one in read(client, _LastTime, query, parameters)}


def _in_time(of: VersionScope, last: _LastTime | None) -> VersionScope:
    """The version in that time alone."""
    if last is None:
        return of
    since_ns = max(last.since_ns, of.scope.since_ns)
    until_ns = min(last.until_ns, of.scope.until_ns)
    return replace(of, scope=of.scope.of_time(since_ns, until_ns))


class VerdictPlace(AnswerPlace, Protocol):
    """Where a verdict is stored."""

    @property
    def verifier(self) -> str:
        """The judge."""


def whole_answers(
    client: Client, asked: Sequence[VerdictPlace], measure: Measure
) -> dict[tuple[str, str, str], PairedAnswer]:
    """The answers with their texts and failed claims, by trace, span and verifier."""
    failed = failed_claims(client, asked, measure)
    return {
        key: PairedAnswer(verdict, failed.get(key, ()))
        for key, verdict in verdicts_at(client, asked).items()
    }


def verdicts_at(
    client: Client, asked: Sequence[VerdictPlace]
) -> dict[tuple[str, str, str], Verification]:
    """The verdicts on the answers, by trace, span and verifier."""
    if not asked:
        return {}
    found = read(
        *(client, Verification, VERDICTS_OF_PAIRS, key_parameters(asked)),
        settings=FINAL_PER_PARTITION,
    )
    return {(*verdict.key, verdict.verifier): verdict for verdict in found}


def failed_claims(
    client: Client, asked: Sequence[VerdictPlace], measure: Measure
) -> dict[tuple[str, str, str], tuple[ClaimRow, ...]]:
    """The first claims of each answer that the measure counts, likewise."""
    if not asked:
        return {}
    query = FAILED_CLAIMS_OF_PAIRS.replace("{failed}", FAILED_CLAIM[measure])
    failed: defaultdict[tuple[str, str, str], list[ClaimRow]] = defaultdict(list)
    for row in read(client, ClaimRow, query, key_parameters(asked), settings=FINAL_PER_PARTITION):
        failed[(*row.key, row.verifier)].append(row)
    return {key: tuple(rows) for key, rows in failed.items()}
