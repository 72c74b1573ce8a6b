"""Eval sets in the database: cases as they are now, and releases, which are written once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import uuid4

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import Layout, Row, token_of
from rt4chart_collector.store.leases import give_back, take

CASES = Layout(
    "rt4chart_eval_cases",
    (
        ("EvalSet", "String"),
        ("CaseId", "String"),
        ("State", "Enum8('pending' = 1, 'approved' = 2, 'rejected' = 3)"),
        ("IssueId", "UInt64"),
        ("Body", "String"),
        ("Actor", "String"),
        ("Note", "String"),
        ("Version", "UInt64"),
        ("IsDeleted", "UInt8"),
    ),
)
RELEASES = Layout(
    "rt4chart_eval_releases",
    (
        ("EvalSet", "String"),
        ("Release", "UInt32"),
        ("CaseId", "String"),
        ("IssueId", "UInt64"),
        ("Body", "String"),
        ("Checksum", "String"),
        ("Actor", "String"),
        ("ReleasedAt", "DateTime64(3, 'UTC')"),
    ),
)
STORED = """
SELECT CaseId, toString(State), IssueId, Body, Actor, Note FROM rt4chart_eval_cases FINAL
WHERE EvalSet = {name:String} AND IsDeleted = 0 ORDER BY CaseId
"""
RELEASED = """
SELECT CaseId, IssueId, Body, Checksum, Actor FROM rt4chart_eval_releases FINAL
WHERE EvalSet = {name:String} AND Release = {release:UInt32} ORDER BY CaseId
"""
CHECKSUMS = """
SELECT DISTINCT Checksum FROM rt4chart_eval_releases
WHERE EvalSet = {name:String} AND Release = {release:UInt32}
"""
ALL_RELEASES = """
SELECT Release, uniqExact(CaseId), any(Checksum), any(Actor),
    toUnixTimestamp64Milli(max(ReleasedAt))
FROM rt4chart_eval_releases FINAL WHERE EvalSet = {name:String}
GROUP BY Release ORDER BY Release DESC
"""
LATEST = "SELECT max(Release) FROM rt4chart_eval_releases WHERE EvalSet = {name:String}"
ALL = """
SELECT EvalSet, sum(Pending), sum(Approved), sum(Rejected), max(Latest) FROM (
    SELECT EvalSet, countIf(State = 'pending') AS Pending, countIf(State = 'approved') AS Approved,
        countIf(State = 'rejected') AS Rejected, 0 AS Latest
    FROM rt4chart_eval_cases FINAL WHERE IsDeleted = 0 GROUP BY EvalSet
    UNION ALL
    SELECT EvalSet, 0, 0, 0, max(Release) FROM rt4chart_eval_releases GROUP BY EvalSet
) GROUP BY EvalSet ORDER BY EvalSet
"""
LEASE_NS = 60 * 10**9


class CaseState(StrEnum):
    """Whether a person wants the case; only those approved are released."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case; `body` is its JSON, `actor` who brought it to its state, `note` what they said."""

    id: str
    state: CaseState
    issue: int
    body: str
    actor: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class EvalSetCounts:
    """An eval set, its cases by state, and its latest release; 0 where there is none."""

    name: str
    pending: int
    approved: int
    rejected: int
    release: int


@dataclass(frozen=True, slots=True)
class EvalRelease:
    """A release as it was written: how many cases, what they sum up to, by whom and when."""

    number: int
    cases: int
    checksum: str
    actor: str
    released_ms: int


def eval_sets(client: Client) -> list[EvalSetCounts]:
    """Every set, by name."""
    return [EvalSetCounts(*row) for row in client.query(ALL).result_rows]


def stored_cases(client: Client, name: str) -> list[StoredCase]:
    """The cases of a set as they are now, by id."""
    rows = client.query(STORED, {"name": name}).result_rows
    return [StoredCase(row[0], CaseState(row[1]), *row[2:]) for row in rows]


def write_cases(client: Client, name: str, cases: Sequence[StoredCase], *, version: int) -> None:
    """Write cases, each in place of the one with its id; `version` orders the writings."""
    rows: list[Row] = [
        (name, case.id, case.state, case.issue, case.body, case.actor, case.note, version, 0)
        for case in cases
    ]
    CASES.insert(client, rows, token=token_of("cases", [(name, c.id, version) for c in cases]))


def release(client: Client, name: str, *, actor: str, now_ms: int) -> int:
    """Release the approved cases under the next number, and give that.

    InputError where none is approved, where the latest release holds the same cases, and where
    somebody else releases at this moment. A release that is not what was written is left behind.
    """
    now_ns, holder = now_ms * 1_000_000, uuid4().hex
    lease = f"release of {name}"
    if not take(client, lease, holder, now_ns=now_ns, for_ns=LEASE_NS):
        raise InputError(f"{name}: somebody else is releasing it; try again in a minute")
    try:
        return _release(client, name, actor=actor, now_ms=now_ms)
    finally:
        give_back(client, lease, holder, now_ns=now_ns)


def _release(client: Client, name: str, *, actor: str, now_ms: int) -> int:
    cases = [case for case in stored_cases(client, name) if case.state is CaseState.APPROVED]
    if not cases:
        raise InputError(f"{name}: expected an approved case, got none: rt4chart evalset review")
    latest, checksum = latest_release(client, name), checksum_of(case.body for case in cases)
    written = client.query(CHECKSUMS, {"name": name, "release": latest}).result_rows
    if written == [(checksum,)]:
        raise InputError(f"{name}: release {latest} holds these very cases already")
    number = latest + 1
    rows: list[Row] = [
        (name, number, case.id, case.issue, case.body, checksum, actor, now_ms) for case in cases
    ]
    RELEASES.insert(client, rows, token=token_of("release", [(name, number, checksum, now_ms)]))
    released_cases(client, name, number)
    return number


def latest_release(client: Client, name: str) -> int:
    """The number of the latest release; 0 where there is none."""
    return int(client.query(LATEST, {"name": name}).result_rows[0][0])


def releases(client: Client, name: str) -> list[EvalRelease]:
    """The releases of a set, the latest first; whether they are whole, `released_cases` looks."""
    return [EvalRelease(*row) for row in client.query(ALL_RELEASES, {"name": name}).result_rows]


def released_cases(client: Client, name: str, number: int) -> list[StoredCase]:
    """The cases of a release, whole as it was written.

    InputError where there is none of that number, or where it is not what was written.
    """
    rows = client.query(RELEASED, {"name": name, "release": number}).result_rows
    if not rows:
        raise InputError(f"{name}: expected a release of that number, got {number}")
    if {checksum_of(row[2] for row in rows)} != {row[3] for row in rows}:
        raise InputError(
            f"{name}: release {number} is not what was written, rows were added or changed; take "
            "an earlier one, or release again"
        )
    return [StoredCase(row[0], CaseState.APPROVED, row[1], row[2], row[4]) for row in rows]


def checksum_of(bodies: Iterable[str]) -> str:
    """SHA-256 over the cases, in the order of their text."""
    digest = hashlib.sha256()
    for body in sorted(bodies):
        digest.update(hashlib.sha256(body.encode("utf-8", "backslashreplace")).digest())
    return digest.hexdigest()
