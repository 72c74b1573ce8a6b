"""The claims of one verdict: all of them in outline, and a page of them whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from otel_rt4chart.verify.core.model import AnswerRange, Claim, Clash, Label
from rt4chart_collector.store.answer import BY_DAY, Verification
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.evidence import evidence_from_row

# The first three of the conditions are the primary key; of other traces' rows nothing else is read.
OF_VERDICT = """
PREWHERE TraceId = {trace:String}
WHERE ServiceName = {service:String} AND Route = {route:String}
  AND Timestamp = fromUnixTimestamp64Nano({start:Int64})
  AND SpanId = {span:String} AND VerifierId = {verifier:String}
  AND IsDeleted = 0
"""
OUTLINE = f"""
SELECT ClaimIndex, toString(Label), AnswerStart, AnswerEnd,
    Evidence.DocId, Evidence.Start, Evidence.End, Evidence.Relation
FROM rt4chart_claims FINAL {OF_VERDICT}
ORDER BY ClaimIndex
"""  # noqa: S608 - our own names
WHOLE = f"""
SELECT ClaimIndex, Claim, toString(Label) AS Label, toString(LocalLabel) AS LocalLabel, Kind,
    Confidence, DecidedBy, Reason, SentenceIndex, AnswerStart, AnswerEnd, Nearest,
    Evidence.DocId AS DocId, Evidence.Start AS EvidenceStart, Evidence.End AS EvidenceEnd,
    Evidence.Text AS EvidenceText, Evidence.Relation AS Relation,
    Clashes.Slot AS Slots, Clashes.Claimed AS Claimed, Clashes.Found AS Found
FROM rt4chart_claims FINAL {OF_VERDICT} AND ClaimIndex IN {{wanted:Array(UInt16)}}
ORDER BY ClaimIndex
"""  # noqa: S608 - our own names


class Resting(NamedTuple):
    """Where a claim's evidence lies: characters of the passage's text."""

    passage: str
    start: int
    end: int
    relation: str


@dataclass(frozen=True, slots=True)
class Outlined:
    """A claim without its words."""

    index: int
    label: Label
    answer_range: AnswerRange
    rests: tuple[Resting, ...]


@dataclass(frozen=True, slots=True)
class NumberedClaim:
    """A claim and its number in the answer."""

    index: int
    claim: Claim


def outline_of(client: Client, one: Verification) -> list[Outlined]:
    """Every claim of the verdict in the order of its number, without texts."""
    return [
        Outlined(
            index,
            Label(label),
            AnswerRange(start, end),
            tuple(Resting(*cells) for cells in zip(*evidence, strict=True)),
        )
        for index, label, start, end, *evidence in client.query(
            OUTLINE, _key(one), settings=BY_DAY
        ).result_rows
    ]


def claims_in(client: Client, one: Verification, wanted: Sequence[int]) -> list[NumberedClaim]:
    """These claims of the verdict, by number; a number that there is not is left out."""
    if not wanted:
        return []
    given = {**_key(one), "wanted": list(wanted)}
    return [_claim(row) for row in client.query(WHOLE, given, settings=BY_DAY).named_results()]


def _key(one: Verification) -> dict[str, object]:
    return {
        "service": one.service,
        "route": one.route,
        "start": one.start_ns,
        "trace": one.trace_id,
        "span": one.span_id,
        "verifier": one.verifier,
    }


def _claim(row: Mapping[str, Any]) -> NumberedClaim:
    clashes = zip(row["Slots"], row["Claimed"], row["Found"], strict=True)
    return NumberedClaim(
        row["ClaimIndex"],
        Claim(
            text=row["Claim"],
            label=Label(row["Label"]),
            local_label=Label(row["LocalLabel"]),
            confidence=row["Confidence"],
            decided_by=row["DecidedBy"],
            kind=row["Kind"],
            answer_range=AnswerRange(row["AnswerStart"], row["AnswerEnd"]),
            sentence=row["SentenceIndex"],
            evidence=evidence_from_row(row),
            reason=row["Reason"],
            clashes=tuple(Clash(*cells) for cells in clashes),
            nearest=row["Nearest"],
        ),
    )
