"""Answers to one question before a time and from then on: how many failed, and one of each side."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.answers import FAILED_COUNT
from rt4chart_collector.store.answers.question_pairs import MAX_ANSWERS, SAME_WORDS
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

# The characters of a question that are compared with others, the most questions, and the most
# passages of one.
QUESTION_CHARACTERS, MAX_QUESTIONS, MAX_PASSAGES = 300, 3_000, 100
# Of the newest answers with a decided claim, one of each question: a faulty one, or a faultless one
# without an undecided claim; of equals the newest.
FAULTY_FIRST = "counted = 0"
FAULTLESS_FIRST = "multiIf(faults > 0, 2, undecided_claims > 0, 1, 0)"
ANSWERS_BY_QUESTION = f"""
SELECT question, count() AS answers, countIf(counted > 0) AS faulty,
    argMin(at_ns, ranked) AS start_ns, argMin(TraceId, ranked) AS trace_id,
    argMin(SpanId, ranked) AS span_id, argMin(VerifierId, ranked) AS verifier,
    {{service:String}} AS service, {{route:String}} AS route, argMin(counted, ranked) AS failures,
    argMin(undecided_claims, ranked) AS undecided
FROM (
    SELECT *, ({{order}}, -at_ns, TraceId, SpanId) AS ranked
    FROM (
        SELECT toString(sipHash128({SAME_WORDS})) AS question, TraceId, SpanId, VerifierId,
            toUnixTimestamp64Nano(Timestamp) AS at_ns, {{failures}} AS counted,
            {FAILED_COUNT[Measure.EITHER]} AS faults, UndecidedCount AS undecided_claims
        FROM rt4chart_verifications FINAL
        WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_scope()}
          AND EntailedCount + ContradictedCount + BaselessCount > 0 AND {SAME_WORDS} != ''
        ORDER BY Timestamp DESC, TraceId, SpanId LIMIT {MAX_ANSWERS}
    )
)
GROUP BY question
"""  # noqa: S608 - our own names
QUESTION_TEXTS = f"""
SELECT toString(sipHash128({SAME_WORDS})) AS question,
    substringUTF8(any(Question), 1, {QUESTION_CHARACTERS}) AS words,
    groupUniqArrayArray({MAX_PASSAGES})(ids) AS passages
FROM (
    SELECT Question, arrayFilter((id, used) -> used, Passages.Id, Passages.IsContext) AS ids
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_scope()}
      AND EntailedCount + ContradictedCount + BaselessCount > 0
    ORDER BY Timestamp DESC, TraceId, SpanId LIMIT {MAX_ANSWERS}
)
GROUP BY question LIMIT {MAX_QUESTIONS}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its answers that have a decided claim, and one of them.

    `faulty` answers have a claim that the measure counts, the chosen one has `failures` of them
    and `undecided` ones. Two questions are the same if they have the same words, see `SAME_WORDS`.
    """

    question: str
    answers: int
    faulty: int
    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    failures: int
    undecided: int

    @property
    def key(self) -> tuple[str, str, str]:
        """The verdict on the chosen answer."""
        return self.trace_id, self.span_id, self.verifier


def asked_questions(
    client: Client, scope: QueryScope, *, measure: Measure, is_faulty_first: bool
) -> dict[str, AskedQuestion]:
    """The questions of one route's newest answers; which answer is chosen, the flag says."""
    order = FAULTY_FIRST if is_faulty_first else FAULTLESS_FIRST
    query = ANSWERS_BY_QUESTION.replace("{order}", order)
    query = query.replace("{failures}", FAILED_COUNT[measure])
    rows = read(client, AskedQuestion, query, scope.parameters, settings=FINAL_PER_PARTITION)
    return {row.question: row for row in rows}


@dataclass(frozen=True, slots=True)
class QuestionText:
    """The words of a question, by its name, and the passages that it was answered from."""

    question: str
    words: str
    passages: tuple[str, ...]


def question_texts(client: Client, scope: QueryScope) -> list[QuestionText]:
    """The questions in the scope, under the names of `asked_questions`."""
    return read(
        client, QuestionText, QUESTION_TEXTS, scope.parameters, settings=FINAL_PER_PARTITION
    )
