"""What verified answers said, without their claims: by key, or the faithful ones of a route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.verdicts import AnswerKey

FIELDS = "ServiceName, Route, Model, PromptVersion, toString(Label), Question, Answer, Findings"
# Of an answer that several verifiers judged, what the last of them wrote.
SAID = f"""
SELECT TraceId, SpanId, argMax(tuple({FIELDS}), Version)
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified'
  AND (TraceId, SpanId) IN {{keys:Array(Tuple(String, String))}}
GROUP BY TraceId, SpanId ORDER BY TraceId, SpanId
"""  # noqa: S608 - names of columns alone, values are parameters
FAITHFUL = f"""
SELECT TraceId, SpanId, tuple({FIELDS})
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified' AND Label = 'entailed'
  AND ServiceName = {{service:String}} AND Route = {{route:String}}
ORDER BY Timestamp DESC, TraceId, SpanId
LIMIT 1 BY TraceId, SpanId LIMIT {{limit:UInt32}}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Said:
    """A verified answer; `label` is the answer's, `findings` JSON as the verifier wrote it."""

    trace_id: str
    span_id: str
    service: str
    route: str
    model: str
    prompt_version: str
    label: str
    question: str
    answer: str
    findings: str


def said_in(client: Client, keys: Sequence[AnswerKey]) -> dict[AnswerKey, Said]:
    """These answers (trace and span); what is gone is left out."""
    rows = client.query(SAID, {"keys": list(keys)}).result_rows if keys else []
    return {(trace, span): Said(trace, span, *fields) for trace, span, fields in rows}


def faithful_answers(client: Client, *, service: str, route: str, limit: int) -> list[Said]:
    """The newest answers of a route all of whose claims are entailed."""
    given = {"service": service, "route": route, "limit": limit}
    rows = client.query(FAITHFUL, given).result_rows
    return [Said(trace, span, *fields) for trace, span, fields in rows]
