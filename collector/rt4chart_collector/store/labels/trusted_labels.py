"""Trusted labels on claims: several raters a claim, every version of every label kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import clip
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from otel_rt4chart.verify.core.recalibration import judge_of
from rt4chart_collector.core.actors import SYSTEM_ACTOR
from rt4chart_collector.store.engine.columns import ClaimKey, IsDeleted, Note, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    RowTable,
    StoredAs,
    batch_token,
    read,
)
from rt4chart_collector.store.engine.scope import QueryScope, in_scope
from rt4chart_collector.store.labels.current_claims import CurrentClaims, drawn_claims_now
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow
from rt4chart_collector.store.labels.draws import LabelDraw

MAX_NOTE, MAX_RATER = 4_000, 200
# The running service takes statements of at most 16 MiB from commands: 500 notes take 8 MB.
ROWS_AT_ONCE, KEYS_AT_ONCE = 500, 10_000


class GivenLabel(StrEnum):
    """What a rater says of a claim; `SKIPPED` is no label, but the claim was seen."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    BASELESS = "baseless"
    CANNOT_TELL = "cannot_tell"
    SKIPPED = "skipped"

    @property
    def is_decided(self) -> bool:
        """True for the three labels that say whether the claim is wrong."""
        return self not in (GivenLabel.CANNOT_TELL, GivenLabel.SKIPPED)

    @property
    def is_wrong(self) -> bool:
        """True for a label that counts against the answer."""
        return self in (GivenLabel.CONTRADICTED, GivenLabel.BASELESS)


class RaterKind(StrEnum):
    """Who gave a label: a person, or a judge that was named as trusted."""

    PERSON = "person"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class LabelRow(ClaimVerdictRow):
    """One version of a rater's label on a claim.

    `is_blind` says that the rater did not see the verdict before. `source` is where the label was
    given: terminal, console, judge, or the name of a file's format. `status` may be "".
    """

    rater: Annotated[str, StoredAs("Rater", "String")]
    kind: Annotated[RaterKind, StoredAs("RaterKind", "Enum8('person' = 1, 'judge' = 2)")]
    source: Annotated[str, StoredAs("Source", LOW_CARDINALITY)]
    label: Annotated[
        GivenLabel,
        StoredAs(
            "Label",
            "Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'cannot_tell' = 4, "
            "'skipped' = 5)",
        ),
    ]
    status: Annotated[str, StoredAs("Status", LOW_CARDINALITY)]
    is_blind: Annotated[bool, StoredAs("IsBlind", "UInt8")]
    note: Note
    at_ns: Annotated[int, StoredAs("At", TIME)]
    version: Version = 0
    is_deleted: IsDeleted = False

    @property
    def misleads(self) -> bool | None:
        """Whether the rater calls the claim misleading; None where that was not asked.

        A label without a status says nothing of it, whatever the label: to leave out only the
        entailed ones would leave out a part that depends on the answer.
        """
        if not self.label.is_decided or not self.status:
            return None
        return ClaimStatus(self.status).misleads(Label(self.label.value))


LABELS = RowTable("rt4chart_labels", LabelRow)
# The table keeps every version, so the last one is found here and not by FINAL.
LAST_VERSIONS = f"""
SELECT * FROM (
    SELECT {LABELS.select(table="l")} FROM rt4chart_labels AS l
    WHERE {{where}}
    ORDER BY l.Version DESC, l.At DESC
    LIMIT 1 BY l.TraceId, l.SpanId, l.VerifierId, l.ClaimIndex, l.Rater
)
"""  # noqa: S608 - our own names
IN_ORDER = "ORDER BY service, route, start_ns, trace_id, span_id, claim, at_ns, rater"
OF_KEYS = (
    "(l.TraceId, l.SpanId, l.ClaimIndex) IN {keys:Array(Tuple(String, String, UInt16))} "
    "AND l.VerifierId = {verifier:String}"
)
OF_DRAW = """(l.TraceId, l.SpanId, l.ClaimHash) IN (
    SELECT TraceId, SpanId, ClaimHash FROM rt4chart_label_queue WHERE DrawId = {draw:String})"""
OF_RATER = "l.Rater = {rater:String}"
HISTORY = f"""
SELECT {LABELS.select(table="l")} FROM rt4chart_labels AS l
WHERE {OF_KEYS} ORDER BY l.Version, l.Rater
LIMIT 1 BY l.Rater, l.Version
"""  # noqa: S608


def record_labels(client: Client, labels: Sequence[LabelRow]) -> None:
    """Write the labels, each as a new version of the same rater's label on the claim.

    The labels must be of one verifier. Raises InputError for a rater or a status that there is not,
    and for two labels of one rater on one claim.
    """
    for label in labels:
        if problem := label_problem(label.rater, label.status):
            raise InputError(problem)
    before = {(row.claim_key, row.rater): row.version for row in _last_versions(client, labels)}
    rows = [
        replace(
            row,
            note=row.note[:MAX_NOTE],
            # A later label must count even if the clock was set back in between.
            version=max(row.at_ns, before.get((row.claim_key, row.rater), 0) + 1),
        )
        for row in labels
    ]
    if len({(row.claim_key, row.rater) for row in rows}) < len(rows):
        raise InputError("expected one label of a rater on a claim, got several at once")
    _insert(client, rows)


def withdraw_label(client: Client, label: LabelRow, *, at_ns: int) -> bool:
    """Take this rater's label on this claim back; False where there is none. History keeps it."""
    found = [
        replace(row, version=max(at_ns, row.version + 1), at_ns=at_ns, is_deleted=True)
        for row in _last_versions(client, [label])
        if row.rater == label.rater and not row.is_deleted
    ]
    _insert(client, found)
    return bool(found)


def labels_in(client: Client, scope: QueryScope) -> list[LabelRow]:
    """The current labels on claims of the scope, skips included, by claim and time."""
    query = _current(in_scope("l.Timestamp"))
    return read(client, LabelRow, query, scope.parameters)


def labels_on(client: Client, verifier: str, keys: Sequence[ClaimKey]) -> list[LabelRow]:
    """The current labels on these claims as this verifier made them."""
    return _read_on(client, _current(OF_KEYS), verifier, keys)


def labels_of_draw(client: Client, draw: LabelDraw) -> list[LabelRow]:
    """The current labels on the claims of a draw, whichever draw they were given in.

    Labels that were given on the same claims of another verifier are among them.
    """
    labels = read(client, LabelRow, _current(OF_DRAW), {"draw": draw.id})
    return carried_labels(labels, drawn_claims_now(draw.verifier, draw.queue))


def carried_labels(labels: Iterable[LabelRow], claims: CurrentClaims) -> list[LabelRow]:
    """The labels on these claims, each with the current verdict; the last of each rater on a claim.

    The judge's own labels are left out: it would agree with itself.
    """
    found: dict[tuple[ClaimKey, str], LabelRow] = {}
    for label in labels:
        is_own = label.kind is RaterKind.JUDGE and label.rater == judge_of(claims.verifier)
        if is_own or (row := claims.with_verdict(label)) is None:
            continue
        before = found.get((row.claim_key, row.rater))
        if before is None or before.version < row.version:
            found[row.claim_key, row.rater] = row
    return list(found.values())


def label_history(client: Client, verifier: str, key: ClaimKey) -> list[LabelRow]:
    """Every version of every label on the claim, the oldest first; undone ones are deleted."""
    return read(client, LabelRow, HISTORY, _key_parameters(verifier, [key]))


def last_label_of(client: Client, rater: str, *, since_ns: int = 0) -> LabelRow | None:
    """The rater's newest current label since then: what an undo takes back."""
    query = f"{_current(OF_RATER, order='ORDER BY version DESC LIMIT 1')}"
    found = read(client, LabelRow, query, {"rater": rater})
    return found[0] if found and found[0].at_ns >= since_ns else None


def _current(where: str, order: str = IN_ORDER) -> str:
    return f"{LAST_VERSIONS.replace('{where}', where)} WHERE is_deleted = 0 {order}"


def _last_versions(client: Client, labels: Sequence[LabelRow]) -> list[LabelRow]:
    """The last version of each label on these claims, also where it was taken back."""
    verifiers = {label.verifier for label in labels}
    if len(verifiers) > 1:
        raise InputError(f"expected labels on one verifier's claims, got {len(verifiers)}")
    query = LAST_VERSIONS.replace("{where}", OF_KEYS)
    return _read_on(client, query, "".join(verifiers), [label.claim_key for label in labels])


def _read_on(client: Client, query: str, verifier: str, keys: Iterable[ClaimKey]) -> list[LabelRow]:
    wanted = sorted(set(keys))
    return [
        row
        for at in range(0, len(wanted), KEYS_AT_ONCE)
        for row in read(
            client, LabelRow, query, _key_parameters(verifier, wanted[at : at + KEYS_AT_ONCE])
        )
    ]


def _key_parameters(verifier: str, keys: Sequence[ClaimKey]) -> dict[str, object]:
    return {"verifier": verifier, "keys": list(keys)}


def label_problem(rater: str, status: str) -> str:
    """Why a label of this rater with this status cannot be stored; "" if it can."""
    if not rater.strip() or rater == SYSTEM_ACTOR or len(rater) > MAX_RATER:
        got = repr(clip(rater, 40))
        return f"expected the rater's name of at most {MAX_RATER} characters, got {got}"
    if status and status not in tuple(ClaimStatus):
        return f"expected a status of {', '.join(ClaimStatus)}, or none, got {clip(status, 40)!r}"
    return ""


def _insert(client: Client, rows: Sequence[LabelRow]) -> None:
    for at in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[at : at + ROWS_AT_ONCE]
        written = [(*row.claim_key, row.verifier, row.rater, row.version) for row in part]
        LABELS.insert(client, part, token=batch_token("labels", written))
