"""Failures: the contradicted and baseless claims, with what is needed to group and to read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_rt4chart.verify.core.model import Clash, Evidence, Label
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.evidence import evidence_from_row

# The verifier that judged an answer last: its claims are those in force.
LAST_VERDICT = """
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax(Question, Version) AS Question
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
      AND Timestamp < fromUnixTimestamp64Nano({until:Int64})
    GROUP BY TraceId, SpanId
"""
SELECTED = f"""
SELECT c.TraceId AS TraceId, c.SpanId AS SpanId, c.ClaimIndex AS ClaimIndex,
    toUnixTimestamp64Nano(c.Timestamp) AS Time, c.ServiceName AS ServiceName, c.Route AS Route,
    c.Claim AS Claim, toString(c.Label) AS Label, c.Nearest AS Nearest, v.Question AS Question,
    c.Evidence.DocId AS DocId, c.Evidence.Start AS EvidenceStart, c.Evidence.End AS EvidenceEnd,
    c.Evidence.Text AS EvidenceText, c.Evidence.Relation AS Relation,
    c.Clashes.Slot AS Slot, c.Clashes.Claimed AS Claimed, c.Clashes.Found AS Found,
    c.Version AS Version
FROM rt4chart_claims AS c FINAL
INNER JOIN ({LAST_VERDICT}) AS v
    ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE c.Label IN ('contradicted', 'baseless') AND c.IsDeleted = 0
  AND c.Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
  AND c.Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
"""  # noqa: S608 - our own names
FAILURES = f"""{SELECTED}
ORDER BY Time DESC, TraceId, SpanId, ClaimIndex
LIMIT {{limit:UInt32}}
"""
# Their traces are an index's: without them all verdicts there are would be read.
OF_TRACES = "TraceId IN {traces:Array(String)}"
BY_KEY = f"""{SELECTED.replace("GROUP BY", f"AND {OF_TRACES} GROUP BY", 1)}
  AND c.{OF_TRACES}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex)) IN {{keys:Array(Tuple(String, String, Int32))}}
"""
# A description carries the version of the claim that it is of, plus one.
WITHOUT = f"""{SELECTED}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex), c.Version + 1) NOT IN (
    SELECT TraceId, SpanId, ClaimIndex, Version FROM rt4chart_failure_embeddings FINAL
    WHERE EmbeddingModel = {{model:String}} AND Fingerprint != ''
      AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
      AND Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
  )
"""  # noqa: S608 - our own names
UNDESCRIBED = f"""{WITHOUT}
ORDER BY Time, TraceId, SpanId, ClaimIndex
"""
# What tells the failures in force, of a range of traces, as their descriptions have it.
IN_FORCE = f"""
SELECT c.TraceId, c.SpanId, toInt32(c.ClaimIndex), c.Version + 1
FROM rt4chart_claims AS c FINAL
INNER JOIN ({LAST_VERDICT} HAVING TraceId > {{after:String}} AND TraceId <= {{upto:String}}) AS v
    ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE c.Label IN ('contradicted', 'baseless') AND c.IsDeleted = 0
  AND c.Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
  AND c.Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
  AND c.TraceId > {{after:String}} AND c.TraceId <= {{upto:String}}
"""  # noqa: S608 - our own names
DAYS = """
SELECT DISTINCT toUnixTimestamp(toStartOfDay(Timestamp)) AS Day
FROM rt4chart_claims
WHERE Label IN ('contradicted', 'baseless')
  AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
  AND Timestamp < fromUnixTimestamp64Nano({until:Int64})
ORDER BY Day
"""
# The descriptions are read once a day of failures, however few of these have none.
MINUTES = f"""
SELECT intDiv(Time, 60000000000) * 60 AS Minute, count() FROM ({WITHOUT})
GROUP BY Minute ORDER BY Minute
"""  # noqa: S608 - our own names
EVER = 2**63 - 1
SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
DAY_NS = 1440 * MINUTE_NS
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Failure:
    """One unfaithful claim; `nearest` is the context sentence most like it, "" where none is.

    `version` is the time of the decision as the claim's row has it.
    """

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
    version: int = field(default=0, compare=False)

    @property
    def key(self) -> Key:
        """What tells the claim from every other: its answer's span and its place in the answer."""
        return (self.trace_id, self.span_id, self.claim_index)


def failures(client: Client, *, since_ns: int, limit: int = 100_000) -> list[Failure]:
    """The failures since then, newest first, at most `limit` of them.

    Of an answer that several verifiers judged, the claims of the one that did so last.
    """
    given = {"since": since_ns, "until": EVER, "limit": limit}
    return failures_read(client, FAILURES, given)


def failures_by_key(client: Client, keys: list[Key]) -> list[Failure]:
    """These failures, in the order of their keys; what is gone is left out."""
    traces = sorted({trace for trace, _, _ in keys})
    given = {"since": 0, "until": EVER, "keys": keys, "traces": traces}
    found = {failure.key: failure for failure in failures_read(client, BY_KEY, given)}
    return [found[key] for key in keys if key in found]


def slices(
    client: Client, *, model: str, since_ns: int, until_ns: int, page: int
) -> Iterator[tuple[int, int]]:
    """Where failures have no description in that model's space, in pieces of at most `page` each.

    A piece is [from, to) in nanoseconds, of a minute at least; it lies within a day, as the tables'
    partitions do. A day is looked at when the pieces before it were taken.
    """
    for (day,) in client.query(DAYS, {"since": since_ns, "until": until_ns}).result_rows:
        first = max(day * SECOND_NS, since_ns)
        last = min(day * SECOND_NS + DAY_NS, until_ns)
        given = {"model": model, "since": first, "until": last}
        yield from _pieces(client.query(MINUTES, given).result_rows, first, last, page)


def _pieces(
    minutes: Sequence[Sequence[int]], since_ns: int, until_ns: int, page: int
) -> Iterator[tuple[int, int]]:
    start, size, end = since_ns, 0, since_ns
    for minute, count in minutes:
        at = minute * SECOND_NS
        if size and size + count > page:
            yield start, end
            size = 0
        if not size:
            start = max(at, since_ns)
        size, end = size + count, min(at + MINUTE_NS, until_ns)
    if size:
        yield start, end


def undescribed(client: Client, *, model: str, since_ns: int, until_ns: int) -> list[Failure]:
    """The failures of that time that have no description in that model's space, the oldest first.

    One whose verdict was replaced since it was described has none.
    """
    given = {"since": since_ns, "until": until_ns, "model": model}
    return failures_read(client, UNDESCRIBED, given)


def failures_read(client: Client, query: str, parameters: Mapping[str, object]) -> list[Failure]:
    """The failures of a statement that begins as `SELECTED` does."""
    return [_failure(row) for row in client.query(query, parameters).named_results()]


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
        version=row["Version"],
    )
