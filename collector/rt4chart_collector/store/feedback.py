"""What people think of verdicts, one standing opinion each, and how often a judge is right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from rt4chart_collector.store.answer import Verification
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of
from rt4chart_collector.store.scope import OF_SCOPE, scope

TIME = "DateTime64(9, 'UTC')"
# Stands in ClaimIndex for the answer as a whole.
WHOLE_ANSWER = -1
MAX_NOTE = 4_000
FEEDBACK = Layout(
    "rt4chart_feedback",
    (
        ("Timestamp", TIME),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ServiceName", NAME),
        ("Route", NAME),
        ("VerifierId", NAME),
        ("ClaimIndex", "Int32"),
        ("Label", NAME),
        ("Opinion", "Enum8('agree' = 1, 'disagree' = 2)"),
        ("Correct", NAME),
        ("Actor", "String"),
        ("Note", "String"),
        ("At", TIME),
        ("Version", "UInt64"),
        ("IsDeleted", "UInt8"),
    ),
)
OF_ANSWER = """
SELECT VerifierId, ClaimIndex, Label, toString(Opinion), Correct, Actor, Note,
    toUnixTimestamp64Nano(At), Version
FROM rt4chart_feedback FINAL
WHERE ServiceName = {service:String} AND Route = {route:String} AND TraceId = {trace:String}
  AND SpanId = {span:String} AND IsDeleted = 0
ORDER BY ClaimIndex, At, Actor
"""
# Of several people's opinions on one verdict their mean counts; verdicts of one answer are alike.
PRECISION = f"""
SELECT Verifier, OnClaim, LabelSeen, count(), sum(Opinions),
    toUInt64(sum(Judged)), sum(Agreed), sum(Judged * Judged), sum(Agreed * Agreed),
    sum(Agreed * Judged)
FROM (
    SELECT Verifier, OnClaim, LabelSeen, TraceId, SpanId,
        count() AS Judged, sum(Share) AS Agreed, sum(People) AS Opinions
    FROM (
        SELECT VerifierId AS Verifier, ClaimIndex >= 0 AS OnClaim, Label AS LabelSeen, TraceId,
            SpanId, ClaimIndex, avg(Opinion = 'agree') AS Share, count() AS People
        FROM rt4chart_feedback FINAL
        WHERE IsDeleted = 0 AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
          AND Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
          AND {OF_SCOPE}
          AND ({{verifier:String}} = '' OR VerifierId = {{verifier:String}})
        GROUP BY Verifier, OnClaim, LabelSeen, TraceId, SpanId, ClaimIndex
    )
    GROUP BY Verifier, OnClaim, LabelSeen, TraceId, SpanId
)
GROUP BY Verifier, OnClaim, LabelSeen
ORDER BY Verifier, OnClaim DESC, LabelSeen
"""  # noqa: S608 - our own names
FOR_EVER = 2**63 - 1


class Opinion(StrEnum):
    """Whether a person thinks that the verdict is right."""

    AGREE = "agree"
    DISAGREE = "disagree"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One person's opinion on one claim's verdict, or (claim -1) on the answer's.

    `label` is the one that the person saw, `correct` the one that he would give ("" where he did
    not say).
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

    `judged` are the verdicts that anybody has an opinion on, in `answers` answers, `opinions` all
    of these; `agreed` is the sum over the verdicts of the share of people who agree. `is_of_claims`
    is False for the label of whole answers. The interval of `rate` is Wilson's, and knows that the
    claims of an answer are correlated.
    """

    verifier: str
    is_of_claims: bool
    label: str
    answers: int
    opinions: int
    judged: int
    agreed: float
    rate: Rate


def record_feedback(client: Client, answer: Verification, given: Sequence[Feedback]) -> None:
    """Write the opinions on this answer, each in place of the same person's earlier one.

    Raises InputError for a label that there is not and for a person without a name.
    """
    for one in given:
        _check(one)
    _write(client, answer, [(one, 0) for one in given])


def take_back(
    client: Client, answer: Verification, *, verifier: str, claim: int, actor: str, at_ns: int
) -> bool:
    """Take a person's opinion away; False where there is none."""
    found = [
        one
        for one in feedback_on(client, answer)
        if (one.verifier, one.claim, one.actor) == (verifier, claim, actor)
    ]
    _write(client, answer, [(one, 1) for one in found], at_ns=at_ns)
    return bool(found)


def feedback_on(client: Client, answer: Verification) -> list[Feedback]:
    """All standing opinions on an answer, of every verifier's verdict, by claim and time."""
    return [_feedback(row) for row in _rows(client, answer)]


def judge_precision(
    client: Client,
    *,
    since_ns: int = 0,
    until_ns: int = FOR_EVER,
    service: str | None = None,
    route: str | None = None,
    verifier: str = "",
) -> list[Precision]:
    """How often people agree with each verifier's labels, on answers of that time.

    Without a service, a route or a verifier, of all of them. By verifier, labels of claims first.
    """
    given = {
        "since": since_ns,
        "until": until_ns,
        **scope(service, route),
        "verifier": verifier,
    }
    return [_precision(tuple(row)) for row in client.query(PRECISION, given).result_rows]


def _check(one: Feedback) -> None:
    labels = tuple(label.value for label in Label)
    if one.correct and one.correct not in labels:
        raise InputError(f"expected a label of {', '.join(labels)}, got {one.correct!r}")
    if not one.actor:
        raise InputError("expected whose opinion it is, got an empty name")


def _rows(client: Client, answer: Verification) -> list[Row]:
    given = {
        "service": answer.service,
        "route": answer.route,
        "trace": answer.trace_id,
        "span": answer.span_id,
    }
    return [tuple(row) for row in client.query(OF_ANSWER, given).result_rows]


def _feedback(row: Row) -> Feedback:
    verifier, claim, label, opinion, *rest, _ = row
    return Feedback(verifier, claim, label, Opinion(opinion), *rest)


def _write(
    client: Client,
    answer: Verification,
    given: Iterable[tuple[Feedback, int]],
    *,
    at_ns: int = 0,
) -> None:
    # A clock that was set back must not leave the earlier opinion standing.
    before: defaultdict[tuple[str, int, str], int] = defaultdict(int)
    for row in _rows(client, answer):
        before[row[0], row[1], row[5]] = row[-1]
    rows = [
        _row(answer, one, max(one.at_ns, at_ns, before[_whose(one)] + 1), is_deleted)
        for one, is_deleted in given
    ]
    token = token_of("feedback", ((*row[1:3], *row[5:7], row[10], *row[-2:]) for row in rows))
    FEEDBACK.insert(client, rows, token=token)


def _whose(one: Feedback) -> tuple[str, int, str]:
    return one.verifier, one.claim, one.actor


def _row(answer: Verification, one: Feedback, version: int, is_deleted: int) -> Row:
    return (
        answer.start_ns,
        answer.trace_id,
        answer.span_id,
        answer.service,
        answer.route,
        one.verifier,
        one.claim,
        one.label,
        one.opinion.value,
        one.correct,
        one.actor,
        one.note[:MAX_NOTE],
        one.at_ns,
        version,
        is_deleted,
    )


def _precision(row: Row) -> Precision:
    verifier, on_claim, label, answers, opinions, judged, agreed, mm, xx, xm = row
    sums = AnswerSums(answers, judged, judged, agreed, judged, xx, xm, mm)
    return Precision(
        verifier, bool(on_claim), label, answers, opinions, judged, agreed, claim_rate(sums)
    )
