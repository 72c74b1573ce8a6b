"""The issues that hold the claims of one answer."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.answers.verifications import BY_DAY, Verification
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.issue_events import RENAMED, aliases_among, last_events

ASSIGNED = """
SELECT ClaimIndex AS claim, IssueId AS issue FROM rt4chart_issue_assignments FINAL
WHERE ServiceName = {service:String} AND Route = {route:String} AND TraceId = {trace:String}
  AND SpanId = {span:String} AND IsDeleted = 0 AND Version > {version:UInt64}
  AND Timestamp = fromUnixTimestamp64Nano({start:Int64})
ORDER BY ClaimIndex, IssueId
"""
TITLES = """
SELECT IssueId AS issue, Title AS title, toString(Status) AS state FROM rt4chart_issues FINAL
WHERE IssueId IN {ids:Array(UInt64)} AND IsDeleted = 0
"""


@dataclass(frozen=True, slots=True)
class HeldBy:
    """The issue that a claim belongs to, by its number in the answer (-1: the whole answer)."""

    claim: int
    issue: int
    title: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class _Titled:
    issue: int
    title: str
    state: str


def issues_holding(client: Client, one: Verification) -> list[HeldBy]:
    """The issues that the answer's claims belong to, by claim; an alias is what it stands for."""
    given = {
        "service": one.service,
        "route": one.route,
        "trace": one.trace_id,
        "span": one.span_id,
        "start": one.start_ns,
        "version": one.version,
    }
    assigned = read(client, HeldBy, ASSIGNED, given, settings=BY_DAY)
    if not assigned:
        return []
    events = last_events(client)
    roots = aliases_among(events)
    pairs = [(held.claim, roots.get(held.issue, held.issue)) for held in assigned]
    rows = read(client, _Titled, TITLES, {"ids": sorted({issue for _, issue in pairs})})
    written = {row.issue: row for row in rows}

    def held_by(claim: int, issue: int) -> HeldBy:
        row = written.get(issue, _Titled(issue, "", ""))
        last = {kind: event.value for kind, event in events.get(issue, {}).items()}
        title = last.get(RENAMED, "") or last.get("titled", "") or row.title
        return HeldBy(claim, issue, title, last.get("state", row.state))

    return [held_by(*pair) for pair in pairs]
