"""Feedback of people on verdicts, one opinion for each person and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from rt4chart_collector.store.answers.verifications import Verification
from rt4chart_collector.store.engine.columns import (
    OF_ANSWER,
    Actor,
    IsDeleted,
    Note,
    VerdictRow,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    RowTable,
    StoredAs,
    batch_token,
    field_values,
    read,
)
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

# The ClaimIndex of feedback on the answer as a whole.
WHOLE_ANSWER = -1
MAX_NOTE = 4_000


class Opinion(StrEnum):
    """Whether a person agrees with the verdict."""

    AGREE = "agree"
    DISAGREE = "disagree"


@dataclass(frozen=True, slots=True)
class FeedbackRow(VerdictRow):
    """A stored opinion with its answer; of several rows the highest `version` counts."""

    claim: Annotated[int, StoredAs("ClaimIndex", "Int32")]
    label: Annotated[str, StoredAs("Label", LOW_CARDINALITY)]
    opinion: Annotated[Opinion, StoredAs("Opinion", "Enum8('agree' = 1, 'disagree' = 2)")]
    correct: Annotated[str, StoredAs("Correct", LOW_CARDINALITY)]
    actor: Actor
    note: Note
    at_ns: Annotated[int, StoredAs("At", TIME)]
    version: Version
    is_deleted: IsDeleted = False


FEEDBACK = RowTable("rt4chart_feedback", FeedbackRow)
FEEDBACK_OF_ANSWER = f"""
SELECT {FEEDBACK.select()} FROM rt4chart_feedback FINAL
WHERE {OF_ANSWER}
ORDER BY ClaimIndex, At, Actor
"""  # noqa: S608 - our own names
# Several opinions on one verdict count as their mean. Verdicts of one answer are correlated, so the
# sums are by answer.
AGREEMENT_SUMS = f"""
SELECT Verifier AS verifier, OnClaim AS is_of_claims, LabelSeen AS label, count() AS answers,
    sum(Opinions) AS opinions, toUInt64(sum(Judged)) AS judged, sum(Agreed) AS agreed,
    answers AS sums_answers, judged AS sums_claims, judged AS sums_wm, agreed AS sums_wx,
    judged AS sums_wwm, sum(Agreed * Agreed) AS sums_wwxx, sum(Agreed * Judged) AS sums_wwxm,
    sum(Judged * Judged) AS sums_wwmm
FROM (
    SELECT Verifier, OnClaim, LabelSeen, TraceId, SpanId,
        count() AS Judged, sum(Share) AS Agreed, sum(People) AS Opinions
    FROM (
        SELECT VerifierId AS Verifier, ClaimIndex >= 0 AS OnClaim, Label AS LabelSeen, TraceId,
            SpanId, ClaimIndex, avg(Opinion = 'agree') AS Share, count() AS People
        FROM rt4chart_feedback FINAL
        WHERE IsDeleted = 0 AND {in_scope()}
        GROUP BY Verifier, OnClaim, LabelSeen, TraceId, SpanId, ClaimIndex
    )
    GROUP BY Verifier, OnClaim, LabelSeen, TraceId, SpanId
)
GROUP BY Verifier, OnClaim, LabelSeen
ORDER BY Verifier, OnClaim DESC, LabelSeen
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Feedback:
    """One person's opinion on the verdict of a claim, or of the whole answer (claim -1).

    `label` is the label that the person saw, `correct` the label that the person suggests ("" for
    none).
    """

    verifier: str
    claim: int
    label: str
    opinion: Opinion
    correct: str
    actor: str
    note: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Precision:
    """How often people agree with a verifier's label.

    `judged` counts the verdicts with an opinion, `answers` their answers, `opinions` all opinions;
    `agreed` sums the share of people who agree over the verdicts. `is_of_claims` is False for
    labels of whole answers. `sums` are over the answers, with m = judged and x = agreed: the
    interval of `rate` accounts for the correlation of claims of one answer.
    """

    verifier: str
    is_of_claims: bool
    label: str
    answers: int
    opinions: int
    judged: int
    agreed: float
    sums: AnswerSums

    @property
    def rate(self) -> Rate:
        """The share of verdicts that people agree with."""
        return claim_rate(self.sums)


def record_feedback(client: Client, answer: Verification, opinions: Sequence[Feedback]) -> None:
    """Write the opinions on this answer, each in place of the same person's earlier opinion.

    Raises InputError for an unknown label and for an empty actor.
    """
    for feedback in opinions:
        _check_feedback(feedback)
    # A later opinion must win even if the clock was set back in between.
    before = {
        (row.verifier, row.claim, row.actor): row.version for row in _feedback_rows(client, answer)
    }
    rows = [
        _row(
            answer,
            feedback,
            max(
                feedback.at_ns,
                before.get((feedback.verifier, feedback.claim, feedback.actor), 0) + 1,
            ),
        )
        for feedback in opinions
    ]
    _insert(client, rows)


def withdraw_feedback(
    client: Client, answer: Verification, *, verifier: str, claim: int, actor: str, at_ns: int
) -> bool:
    """Delete a person's opinion; False where there is none."""
    found = [
        replace(row, version=max(row.at_ns, at_ns, row.version + 1), is_deleted=True)
        for row in _feedback_rows(client, answer)
        if (row.verifier, row.claim, row.actor) == (verifier, claim, actor)
    ]
    _insert(client, found)
    return bool(found)


def feedback_on(client: Client, answer: Verification) -> list[Feedback]:
    """All current opinions on an answer and every verifier's verdict, by claim and time."""
    return read(client, Feedback, FEEDBACK_OF_ANSWER, answer.verdict_parameters)


def judge_precision(client: Client, scope: QueryScope) -> list[Precision]:
    """How often people agree with each verifier's labels, on the answers of the scope.

    Ordered by verifier; labels of claims come first.
    """
    return read(client, Precision, AGREEMENT_SUMS, scope.parameters)


def _check_feedback(feedback: Feedback) -> None:
    labels = tuple(label.value for label in Label)
    if feedback.correct and feedback.correct not in labels:
        raise InputError(f"expected a label of {', '.join(labels)}, got {feedback.correct!r}")
    if not feedback.actor:
        raise InputError("expected the name of the person, got an empty name")


def _feedback_rows(client: Client, answer: Verification) -> list[FeedbackRow]:
    return read(client, FeedbackRow, FEEDBACK_OF_ANSWER, answer.verdict_parameters)


def _insert(client: Client, rows: Sequence[FeedbackRow]) -> None:
    written = [
        (
            *(row.trace_id, row.span_id, row.verifier, row.claim),
            *(row.actor, row.version, int(row.is_deleted), row.service),
        )
        for row in rows
    ]
    FEEDBACK.insert(client, rows, token=batch_token("feedback", written))


def _row(answer: Verification, feedback: Feedback, version: int) -> FeedbackRow:
    given = {**field_values(feedback), "note": feedback.note[:MAX_NOTE]}
    return FeedbackRow(**{**field_values(answer, VerdictRow), **given}, version=version)
