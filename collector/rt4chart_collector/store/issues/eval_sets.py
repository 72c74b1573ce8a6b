"""Eval sets: their current cases, and their releases, which never change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from uuid import uuid4

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.columns import Actor, IsDeleted, Note, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease, release_lease
from rt4chart_collector.store.engine.rows import (
    TIME_MS,
    RowTable,
    StoredAs,
    batch_token,
    field_values,
    read,
    read_int,
)

CASE_STATES = "Enum8('pending' = 1, 'approved' = 2, 'rejected' = 3)"
MS = 1_000_000
LEASE_NS = 60 * 10**9


class CaseState(StrEnum):
    """The review state of a case; only approved cases are released."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


CaseId = Annotated[str, StoredAs("CaseId", "String")]
IssueId = Annotated[int, StoredAs("IssueId", "UInt64")]
Body = Annotated[str, StoredAs("Body", "String")]


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case; `body` is its JSON, `actor` set its state, `note` is their comment."""

    id: CaseId
    state: Annotated[CaseState, StoredAs("State", CASE_STATES)]
    issue: IssueId
    body: Body
    actor: Actor
    note: Note = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow(StoredCase):
    """A case in its set."""

    eval_set: Annotated[str, StoredAs("EvalSet", "String")]
    version: Version
    is_deleted: IsDeleted = False


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A stored case of a release; `checksum` is over all cases of the release."""

    eval_set: Annotated[str, StoredAs("EvalSet", "String")]
    release: Annotated[int, StoredAs("Release", "UInt32")]
    id: CaseId
    issue: IssueId
    body: Body
    checksum: Annotated[str, StoredAs("Checksum", "String")]
    actor: Actor
    released_ns: Annotated[int, StoredAs("ReleasedAt", TIME_MS)]


CASES = RowTable("rt4chart_eval_cases", CaseRow)
RELEASES = RowTable("rt4chart_eval_releases", ReleaseRow)
CASES_OF_SET = f"""
SELECT {CASES.select()} FROM rt4chart_eval_cases FINAL
WHERE EvalSet = {{name:String}} AND IsDeleted = 0 ORDER BY CaseId
"""  # noqa: S608 - our own names alone
CASES_OF_RELEASE = f"""
SELECT {RELEASES.select()} FROM rt4chart_eval_releases FINAL
WHERE EvalSet = {{name:String}} AND Release = {{release:UInt32}} ORDER BY CaseId
"""  # noqa: S608
RELEASE_CHECKSUMS = """
SELECT DISTINCT Checksum FROM rt4chart_eval_releases
WHERE EvalSet = {name:String} AND Release = {release:UInt32}
"""
RELEASES_OF_SET = """
SELECT Release AS number, uniqExact(CaseId) AS cases, any(Checksum) AS checksum,
    any(Actor) AS actor, toUnixTimestamp64Milli(max(ReleasedAt)) AS released_ms
FROM rt4chart_eval_releases FINAL WHERE EvalSet = {name:String}
GROUP BY Release ORDER BY Release DESC
"""
LATEST_RELEASE = "SELECT max(Release) FROM rt4chart_eval_releases WHERE EvalSet = {name:String}"
EVAL_SET_COUNTS = """
SELECT EvalSet AS name, sum(Pending) AS pending, sum(Approved) AS approved,
    sum(Rejected) AS rejected, max(Latest) AS release
FROM (
    SELECT EvalSet, countIf(State = 'pending') AS Pending, countIf(State = 'approved') AS Approved,
        countIf(State = 'rejected') AS Rejected, 0 AS Latest
    FROM rt4chart_eval_cases FINAL WHERE IsDeleted = 0 GROUP BY EvalSet
    UNION ALL
    SELECT EvalSet, 0, 0, 0, max(Release) FROM rt4chart_eval_releases GROUP BY EvalSet
) GROUP BY EvalSet ORDER BY EvalSet
"""


@dataclass(frozen=True, slots=True)
class EvalSetCounts:
    """An eval set with its cases by state and its latest release, 0 for none."""

    name: str
    pending: int
    approved: int
    rejected: int
    release: int


@dataclass(frozen=True, slots=True)
class EvalRelease:
    """A release: the number of its cases, their checksum, who released it and when."""

    number: int
    cases: int
    checksum: str
    actor: str
    released_ms: int


def eval_sets(client: Client) -> list[EvalSetCounts]:
    """Every set, by name."""
    return read(client, EvalSetCounts, EVAL_SET_COUNTS)


def stored_cases(client: Client, name: str) -> list[StoredCase]:
    """The current cases of a set, by id."""
    return read(client, StoredCase, CASES_OF_SET, {"name": name})


def write_cases(client: Client, name: str, cases: Sequence[StoredCase], *, version: int) -> None:
    """Write cases; of several rows with one id the highest `version` counts."""
    rows = [CaseRow(**field_values(case), eval_set=name, version=version) for case in cases]
    CASES.insert(client, rows, token=batch_token("cases", [(name, c.id, version) for c in cases]))


def release(client: Client, name: str, *, actor: str, now_ms: int) -> int:
    """Release the approved cases under the next number, and return the number.

    Raises InputError where no case is approved, where the latest release has the same cases, and
    while another release of the set runs. A release with changed rows is kept as it is.
    """
    now_ns, holder = now_ms * MS, uuid4().hex
    lease = f"release of {name}"
    if not acquire_lease(client, lease, holder, now_ns=now_ns, for_ns=LEASE_NS):
        raise InputError(f"{name}: another release is running; try again in a minute")
    try:
        return _release_approved(client, name, actor=actor, now_ms=now_ms)
    finally:
        release_lease(client, lease, holder, now_ns=now_ns)


def _release_approved(client: Client, name: str, *, actor: str, now_ms: int) -> int:
    cases = [case for case in stored_cases(client, name) if case.state is CaseState.APPROVED]
    if not cases:
        raise InputError(
            f"{name}: expected at least one approved case, got none; "
            "approve some with rt4chart evalset review"
        )
    latest, checksum = latest_release(client, name), checksum_of(case.body for case in cases)
    written = client.query(RELEASE_CHECKSUMS, {"name": name, "release": latest}).result_rows
    if written == [(checksum,)]:
        raise InputError(f"{name}: expected changed cases, release {latest} has the same cases")
    number = latest + 1
    rows = [
        ReleaseRow(
            **field_values(case, ReleaseRow) | {"actor": actor},
            eval_set=name,
            release=number,
            checksum=checksum,
            released_ns=now_ms * MS,
        )
        for case in cases
    ]
    RELEASES.insert(client, rows, token=batch_token("release", [(name, number, checksum, now_ms)]))
    released_cases(client, name, number)
    return number


def latest_release(client: Client, name: str) -> int:
    """The number of the latest release, 0 for none."""
    return int(read_int(client, LATEST_RELEASE, {"name": name}))


def releases(client: Client, name: str) -> list[EvalRelease]:
    """The releases of a set, the latest first; `released_cases` checks that one is intact."""
    return read(client, EvalRelease, RELEASES_OF_SET, {"name": name})


def released_cases(client: Client, name: str, number: int) -> list[StoredCase]:
    """The cases of a release.

    Raises InputError for an unknown number, and if the rows do not match the checksum.
    """
    rows = read(client, ReleaseRow, CASES_OF_RELEASE, {"name": name, "release": number})
    if not rows:
        raise InputError(f"{name}: expected a release of that number, got {number}")
    if {checksum_of(row.body for row in rows)} != {row.checksum for row in rows}:
        raise InputError(
            f"{name}: the rows of release {number} do not match its checksum; use an "
            "earlier release, or release again"
        )
    return [StoredCase(row.id, CaseState.APPROVED, row.issue, row.body, row.actor) for row in rows]


def checksum_of(bodies: Iterable[str]) -> str:
    """SHA-256 over the cases, sorted by text."""
    digest = hashlib.sha256()
    for body in sorted(bodies):
        digest.update(hashlib.sha256(body.encode("utf-8", "backslashreplace")).digest())
    return digest.hexdigest()
