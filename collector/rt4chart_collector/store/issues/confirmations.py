"""What people say of an issue's claims: how many they judged, and how many they call wrong too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.assignments import GIVEN_ISSUES, LIVE_ASSIGNMENTS

OF_LIVE = "(TraceId, SpanId) IN (SELECT TraceId, SpanId FROM live)"
# A person's last trusted label counts, else the person's opinion on the verdict. A label on a
# misleading claim without a status says nothing about what misleads. Of several people the majority
# decides; a tie is no confirmation.
CONFIRMATIONS = f"""
WITH live AS ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)})
SELECT count() AS judged, countIf(Share > 0.5) AS confirmed FROM (
    SELECT TraceId, SpanId, ClaimIndex, avg(Wrong) AS Share FROM (
        SELECT TraceId, SpanId, ClaimIndex, Person, argMax(IsWrong, (IsLabel, At)) AS Wrong FROM (
            SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, VerifierId, Rater AS Person,
                Label != 'entailed' OR Status NOT IN ('', 'supported') AS IsWrong, 1 AS IsLabel, At
            FROM (
                SELECT * FROM rt4chart_labels WHERE {OF_LIVE} AND RaterKind = 'person'
                ORDER BY Version DESC, At DESC
                LIMIT 1 BY TraceId, SpanId, VerifierId, ClaimIndex, Rater
            )
            WHERE IsDeleted = 0 AND Label IN ('entailed', 'contradicted', 'baseless')
              AND NOT (JudgeLabel = 'entailed' AND Label = 'entailed' AND Status = '')
            UNION ALL
            SELECT TraceId, SpanId, ClaimIndex, VerifierId, Actor AS Person,
                Opinion = 'agree' AS IsWrong, 0 AS IsLabel, At
            FROM rt4chart_feedback FINAL WHERE {OF_LIVE} AND ClaimIndex >= 0 AND IsDeleted = 0
        )
        WHERE (TraceId, SpanId, ClaimIndex, VerifierId)
            IN (SELECT TraceId, SpanId, ClaimIndex, VerifierId FROM live)
        GROUP BY TraceId, SpanId, ClaimIndex, Person
    )
    GROUP BY TraceId, SpanId, ClaimIndex
)
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Confirmations:
    """How many claims people judged, and how many of these they call wrong as the judge does."""

    judged: int = 0
    confirmed: int = 0


def confirmations(client: Client, issues: Sequence[int]) -> Confirmations:
    """What people say of the claims of an issue, given with its aliases."""
    return read(client, Confirmations, CONFIRMATIONS, {"ids": list(issues)})[0]
