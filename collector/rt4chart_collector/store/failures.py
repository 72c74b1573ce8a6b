"""Failures: the contradicted and baseless claims, with what is needed to group and to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify.model import Clash, Evidence, Label
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.evidence import evidence_from_row

FAILURES = """
SELECT c.TraceId AS TraceId, c.SpanId AS SpanId, c.ClaimIndex AS ClaimIndex,
    toUnixTimestamp64Nano(c.Timestamp) AS Time, c.ServiceName AS ServiceName, c.Route AS Route,
    c.Claim AS Claim, toString(c.Label) AS Label, c.Nearest AS Nearest, v.Question AS Question,
    c.Evidence.DocId AS DocId, c.Evidence.Start AS EvidenceStart, c.Evidence.End AS EvidenceEnd,
    c.Evidence.Text AS EvidenceText, c.Evidence.Relation AS Relation,
    c.Clashes.Slot AS Slot, c.Clashes.Claimed AS Claimed, c.Clashes.Found AS Found
FROM rt4chart_claims AS c FINAL
INNER JOIN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax(Question, Version) AS Question
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE c.Label IN ('contradicted', 'baseless') AND c.IsDeleted = 0
  AND c.Timestamp >= fromUnixTimestamp64Nano({since:Int64})
  AND ({all:UInt8}
       OR (c.TraceId, c.SpanId, c.ClaimIndex) IN {keys:Array(Tuple(String, String, Int32))})
ORDER BY Time DESC, TraceId, SpanId, ClaimIndex
LIMIT {limit:UInt32}
"""
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Failure:
    """One unfaithful claim; `nearest` is the context sentence most like it, "" where none is."""

    trace_id: str
    span_id: str
    claim_index: int
    time_ns: int
    service: str
    route: str
    question: str
    claim: str
    label: Label
    nearest: str
    evidence: tuple[Evidence, ...] = ()
    clashes: tuple[Clash, ...] = ()

    @property
    def key(self) -> Key:
        """What tells the claim from every other: its answer's span and its place in the answer."""
        return (self.trace_id, self.span_id, self.claim_index)


def failures(client: Client, *, since_ns: int, limit: int = 100_000) -> list[Failure]:
    """The failures since then, newest first, at most `limit` of them.

    Of an answer that several verifiers judged, the claims of the one that did so last.
    """
    return _read(client, {"since": since_ns, "limit": limit, "all": 1, "keys": []})


def failures_by_key(client: Client, keys: list[Key]) -> list[Failure]:
    """These failures, in the order of their keys; what is gone is left out."""
    found = {
        failure.key: failure
        for failure in _read(client, {"since": 0, "limit": len(keys), "all": 0, "keys": keys})
    }
    return [found[key] for key in keys if key in found]


def _read(client: Client, parameters: Mapping[str, object]) -> list[Failure]:
    return [_failure(row) for row in client.query(FAILURES, parameters).named_results()]


def _failure(row: Mapping[str, Any]) -> Failure:
    clashes = ("Slot", "Claimed", "Found")
    return Failure(
        trace_id=row["TraceId"],
        span_id=row["SpanId"],
        claim_index=row["ClaimIndex"],
        time_ns=row["Time"],
        service=row["ServiceName"],
        route=row["Route"],
        question=row["Question"],
        claim=row["Claim"],
        label=Label(row["Label"]),
        nearest=row["Nearest"],
        evidence=evidence_from_row(row),
        clashes=tuple(Clash(*cells) for cells in zip(*(row[c] for c in clashes), strict=True)),
    )
