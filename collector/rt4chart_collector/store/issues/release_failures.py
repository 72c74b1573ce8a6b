"""Failures of an issue in a release, or in one that came into use after a time."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int
from rt4chart_collector.store.issues.assignments import GIVEN_ISSUES, LIVE_ASSIGNMENTS

# Releases in use before are those with an answer of the service before.
FAILURES_OF_RELEASE = f"""
WITH live AS ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)})
SELECT countIf(v.Release IN ('', {{release:String}}) OR (l.ServiceName, v.Release) NOT IN (
    SELECT DISTINCT ServiceName, toString(Release) FROM rt4chart_route_5m
    WHERE Tick < toStartOfFiveMinutes(fromUnixTimestamp64Nano({{since:Int64}}))
        AND ServiceName IN (SELECT ServiceName FROM live)
))
FROM live AS l
INNER JOIN (
    SELECT TraceId, SpanId, toString(argMax(Release, Version)) AS Release
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND TraceId IN (SELECT TraceId FROM live)
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = l.TraceId AND v.SpanId = l.SpanId
WHERE l.Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
"""  # noqa: S608 - our own names


def failures_of_release(
    client: Client, issues: Sequence[int], release: str, *, since_ns: int
) -> int:
    """How many failures since then are of this release, of a later one, or of an unknown one.

    `issues` is an issue with its aliases. A release is later if the service had no answer of it
    before the five minutes of `since_ns`: names of releases have no order.
    """
    parameters = {"ids": list(issues), "release": release, "since": since_ns}
    return read_int(client, FAILURES_OF_RELEASE, parameters)
