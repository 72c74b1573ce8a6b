"""The questions of faulty answers since a time, and those that were asked before it."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.answers import FAILED_COUNT
from rt4chart_collector.store.answers.question_pairs import MAX_ANSWERS, SAME_WORDS
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import SECOND_NS, Grain, sums_of
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

# The characters of a question that are compared with others, the most questions of either kind,
# and the most passages of one.
QUESTION_CHARACTERS, MAX_QUESTIONS, MAX_PASSAGES = 300, 3_000, 100
# Of the answers of one side to a question the first is chosen: since the time a faulty one, before
# it a faultless one without an undecided claim; of equals the newest.
FIRST = """
(multiIf(is_since, counted = 0, faults > 0, 2, undecided > 0, 1, 0), -at_ns, TraceId, SpanId)
"""
CHOSEN = "(at_ns, TraceId, SpanId, VerifierId, counted, undecided, used)"
ANSWERS = f"""
SELECT toString(sipHash128({SAME_WORDS})) AS question, TraceId, SpanId, VerifierId,
    Timestamp >= fromUnixTimestamp64Nano({{at:Int64}}) AS is_since,
    toUnixTimestamp64Nano(Timestamp) AS at_ns, {{failures}} AS counted,
    {FAILED_COUNT[Measure.EITHER]} AS faults, UndecidedCount AS undecided, Question,
    arrayFilter((id, used) -> used, Passages.Id, Passages.IsContext) AS used
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_scope()}
  AND (Timestamp < fromUnixTimestamp64Nano({{at:Int64}})
    OR Timestamp >= fromUnixTimestamp64Nano({{again:Int64}}))
  AND EntailedCount + ContradictedCount + BaselessCount > 0 AND {SAME_WORDS} != ''
ORDER BY Timestamp DESC, TraceId, SpanId LIMIT {{most:UInt64}} BY is_since
"""  # noqa: S608 - our own names
# When the newest answers of either side began, by its sums: most of a long time is before.
NEWEST_SINCE = f"""
SELECT maxIf(at_s, NOT is_since) * {SECOND_NS} AS before_ns,
    maxIf(at_s, is_since) * {SECOND_NS} AS since_ns
FROM (
    SELECT toUnixTimestamp(Tick) AS at_s, at_s * {SECOND_NS} >= {{at:Int64}} AS is_since,
        sum(DecidedAnswers) AS answers,
        sum(answers) OVER (PARTITION BY is_since ORDER BY at_s DESC) AS newer
    FROM {{sums}} WHERE Decision = 'verified' GROUP BY Tick
)
WHERE newer >= {{enough:UInt64}}
"""  # noqa: S608
# One pass over both sides: reading the texts is the cost. The worst questions come first: those
# with a faultless answer before, then those with any; of equals the most faulty. Of the questions
# without a faulty answer those that were asked last.
QUESTIONS = f"""
SELECT question, words, {{service:String}} AS since_service, {{route:String}} AS since_route,
    since_service AS before_service, since_route AS before_route,
    since_answers, since_faulty, since.1 AS since_start_ns, since.2 AS since_trace_id,
    since.3 AS since_span_id, since.4 AS since_verifier, since.5 AS since_failures,
    before_answers, before_faulty, before.1 AS before_start_ns, before.2 AS before_trace_id,
    before.3 AS before_span_id, before.4 AS before_verifier, before.5 AS before_failures,
    since.7 AS passages_since, passages AS passages_before,
    questions, asked_before, known_before, searched_since, searched_before
FROM (
    SELECT *, since_faulty > 0 AS is_faulty, countIf(is_faulty) OVER () AS questions,
        countIf(is_faulty AND before_answers > 0) OVER () AS asked_before,
        countIf(before_answers > 0) OVER () AS known_before,
        sum(since_answers) OVER () AS searched_since,
        sum(before_answers) OVER () AS searched_before, max(question) OVER () AS any_question
    FROM (
        SELECT question, substringUTF8(any(Question), 1, {QUESTION_CHARACTERS}) AS words,
            countIf(is_since) AS since_answers, countIf(is_since AND counted > 0) AS since_faulty,
            argMinIf({CHOSEN}, {FIRST}, is_since) AS since,
            countIf(NOT is_since) AS before_answers,
            countIf(NOT is_since AND counted > 0) AS before_faulty,
            argMinIf({CHOSEN}, {FIRST}, NOT is_since) AS before,
            groupUniqArrayArrayIf({MAX_PASSAGES})(used, NOT is_since) AS passages,
            max(at_ns) AS last_ns
        FROM ({{answers}}) GROUP BY question
    )
)
WHERE is_faulty OR (questions > 0 AND before_answers > 0) OR question = any_question
ORDER BY is_faulty DESC,
    multiIf(NOT is_faulty, 0, before_answers = 0, 3, before.5 > 0, 2, before.6 > 0, 1, 0),
    if(is_faulty, since_faulty, 0) DESC, if(is_faulty, since.5, 0) DESC,
    if(is_faulty, since.1, last_ns) DESC, since.2, question
LIMIT {MAX_QUESTIONS} BY is_faulty
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class AskedAnswers:
    """The answers of one side to a question that have a decided claim, and one of them.

    `faulty` answers have a claim that the measure counts, the chosen one has `failures` of them.
    All are 0 and empty where the question was not asked.
    """

    answers: int
    faulty: int
    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    failures: int
    service: str
    route: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The verdict on the chosen answer."""
        return self.trace_id, self.span_id, self.verifier


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its answers since a time and before it.

    Two questions are the same if they have the same words, see `SAME_WORDS`. `words` are its first
    characters. The passages are those in the context of the chosen answer since the time, and of
    any answer before it.
    """

    question: str
    words: str
    since: AskedAnswers
    before: AskedAnswers
    passages_since: tuple[str, ...]
    passages_before: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """Questions of one route: the faulty ones since a time, the worst first, and those before it.

    `questions` were asked since the time and have a faulty answer, `asked_before` of them before it
    too. `is_cut_since` and `is_cut_before` if only the newest answers of a side were searched,
    `is_cut_known` if more questions than the known ones were asked before.
    """

    questions: int = 0
    asked_before: int = 0
    faulty: tuple[AskedQuestion, ...] = ()
    known: tuple[AskedQuestion, ...] = ()
    is_cut_since: bool = False
    is_cut_before: bool = False
    is_cut_known: bool = False


@dataclass(frozen=True, slots=True)
class _Row(AskedQuestion):
    questions: int
    asked_before: int
    known_before: int
    searched_since: int
    searched_before: int


@dataclass(frozen=True, slots=True)
class _Newest:
    before_ns: int
    since_ns: int


def asked_questions(
    client: Client, scope: QueryScope, *, at_ns: int, measure: Measure, most: int = MAX_ANSWERS
) -> AskedQuestions:
    """The questions of a route's newest `most` answers on either side of a time, `at_ns`.

    At most 3,000 with a faulty answer since then, and as many others from before.
    """
    sums = sums_of(client, scope, ("Tick", "DecidedAnswers", "Decision"), coarsest=Grain.TICK)
    # A few more, as answers without a question are not searched.
    given = {**scope.parameters, "at": at_ns, "enough": most + most // 10}
    (newest,) = read(client, _Newest, NEWEST_SINCE.replace("{sums}", sums), given)
    narrow = scope.of_time(max(scope.since_ns, newest.before_ns), scope.until_ns)
    again_ns = max(at_ns, newest.since_ns)
    rows = _rows(client, narrow, at_ns, again_ns, measure, most)
    found = (rows[0].searched_since, rows[0].searched_before) if rows else (0, 0)
    is_narrow = again_ns > at_ns, narrow != scope
    if any(one and number < most for one, number in zip(is_narrow, found, strict=True)):
        # There are fewer than the sums say.
        rows = _rows(client, scope, at_ns, at_ns, measure, most)
    if not rows:
        return AskedQuestions()
    known = tuple(row for row in rows if row.before.answers)
    return AskedQuestions(
        questions=rows[0].questions,
        asked_before=rows[0].asked_before,
        faulty=tuple(row for row in rows if row.since.faulty),
        known=known,
        is_cut_since=rows[0].searched_since >= most,
        is_cut_before=rows[0].searched_before >= most,
        is_cut_known=rows[0].known_before > len(known),
    )


def _rows(
    client: Client, scope: QueryScope, at_ns: int, again_ns: int, measure: Measure, most: int
) -> list[_Row]:
    query = QUESTIONS.replace("{answers}", ANSWERS.replace("{failures}", FAILED_COUNT[measure]))
    given = {**scope.parameters, "at": at_ns, "again": again_ns, "most": most}
    return read(client, _Row, query, given, settings=FINAL_PER_PARTITION)
