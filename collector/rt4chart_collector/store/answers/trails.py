"""The trails of failed claims: in which step each entered, written and read by column name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from otel_rt4chart.core.text import encodable
from otel_rt4chart.spans.model.blame import (
    ChainPlace,
    ClaimBlame,
    InterimVerdict,
    RetrievalBlame,
)
from otel_rt4chart.verify.core.model import Evidence, Label
from rt4chart_collector.store.answers.claims import OF_VERDICT, ClaimIndex, ClaimLabel
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION, Verification
from rt4chart_collector.store.engine.columns import (
    Environment,
    IsDeleted,
    Model,
    VerdictRow,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import LOW_CARDINALITY, RowTable, StoredAs, read

# A longer way is stored without its evidence: the steps say where it went.
MAX_WAY_BYTES = 32 * 2**10


@dataclass(frozen=True, slots=True)
class TrailWay:
    """What one JSON column has of a trail; see `ClaimBlame`."""

    blamed: tuple[ChainPlace, ...] = ()
    way: tuple[InterimVerdict, ...] = ()
    lost: tuple[Evidence, ...] = ()


def _way_json(way: TrailWay) -> str:
    """The JSON, with the evidence if that is not too long."""
    whole = _json(way)
    if len(whole.encode()) <= MAX_WAY_BYTES:
        return whole
    steps = tuple(InterimVerdict(one.label, one.read, one.more, (), one.reason) for one in way.way)
    return _json(TrailWay(way.blamed, steps))


def _json(way: TrailWay) -> str:
    written = json.dumps(_without_empty(asdict(way)), ensure_ascii=False, separators=(",", ":"))
    return encodable(written)


def _without_empty(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _without_empty(of) for name, of in value.items() if of not in ("", (), [])}
    return [_without_empty(one) for one in value] if isinstance(value, list | tuple) else value


def _way_from(written: str) -> TrailWay:
    """Parse the JSON; what a later version wrote and this one cannot read is left out."""
    try:
        found = json.loads(written or "{}")
        return TrailWay(
            tuple(_place(one) for one in found.get("blamed", ())),
            tuple(_interim(one) for one in found.get("way", ())),
            tuple(_evidence(one) for one in found.get("lost", ())),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return TrailWay()


def _place(item: Mapping[str, Any]) -> ChainPlace:
    names = ("node", "span_id", "name", "kind", "stage")
    return ChainPlace(*(str(item.get(name, "")) for name in names))


def _interim(item: Mapping[str, Any]) -> InterimVerdict:
    return InterimVerdict(
        Label(item["label"]),
        tuple(_place(one) for one in item.get("read", ())),
        int(item.get("more", 0)),
        tuple(_evidence(one) for one in item.get("evidence", ())),
        str(item.get("reason", "")),
    )


def _evidence(item: Mapping[str, Any]) -> Evidence:
    return Evidence(
        str(item.get("passage_id", "")),
        int(item.get("start", 0)),
        int(item.get("end", 0)),
        str(item.get("text", "")),
        item.get("relation", "supports"),
    )


@dataclass(frozen=True, slots=True)
class TrailRow(VerdictRow):
    """The trail of one claim of a verifier's verdict; `index` is the claim's number."""

    environment: Environment
    model: Model
    index: ClaimIndex
    label: ClaimLabel
    sample_rate: Annotated[float, StoredAs("SampleRate", "Float64")]
    step_span_id: Annotated[str, StoredAs("StepSpanId", "String")]
    step_name: Annotated[str, StoredAs("StepName", "String")]
    step_kind: Annotated[str, StoredAs("StepKind", LOW_CARDINALITY)]
    stage: Annotated[str, StoredAs("Stage", "String")]
    retrieval: Annotated[str, StoredAs("Retrieval", LOW_CARDINALITY)]
    reaches_sources: Annotated[bool, StoredAs("ReachesSources", "UInt8", read=bool, write=int)]
    calls: Annotated[int, StoredAs("Calls", "UInt32")]
    problem: Annotated[str, StoredAs("Problem", "String")]
    way: Annotated[TrailWay, StoredAs("Way", "String", read=_way_from, write=_way_json)]
    version: Version
    is_deleted: IsDeleted = False

    @property
    def blame(self) -> ClaimBlame:
        """What the trail says."""
        known = {one.value for one in RetrievalBlame}
        return ClaimBlame(
            self.index,
            self.way.blamed,
            self.way.way,
            RetrievalBlame(self.retrieval if self.retrieval in known else ""),
            self.way.lost,
            self.reaches_sources,
            self.calls,
            self.problem,
        )


TRAILS = RowTable("rt4chart_trails", TrailRow)
TRAILS_OF_VERDICT = f"""
SELECT {TRAILS.select()} FROM rt4chart_trails FINAL {OF_VERDICT} ORDER BY ClaimIndex
"""  # noqa: S608 - our own names


def trail_row(verification: Verification, label: Label, blame: ClaimBlame) -> TrailRow:
    """The row of a claim's trail; `label` is that of the claim."""
    place = blame.place or ChainPlace("")
    return TrailRow(
        start_ns=verification.start_ns,
        trace_id=verification.trace_id,
        span_id=verification.span_id,
        service=verification.service,
        route=verification.route,
        verifier=verification.verifier,
        environment=verification.environment,
        model=verification.model,
        index=blame.claim,
        label=label,
        sample_rate=verification.sample_rate,
        step_span_id=place.span_id,
        step_name=place.name,
        step_kind=place.kind,
        stage=blame.stage,
        retrieval=blame.retrieval.value,
        reaches_sources=blame.reaches_sources,
        calls=blame.calls,
        problem=blame.problem,
        way=TrailWay(blame.blamed, blame.way, blame.lost),
        version=verification.version,
    )


def trails_of(client: Client, verification: Verification) -> list[TrailRow]:
    """The trails of the verdict's failed claims, in the order of the answer."""
    parameters = verification.verdict_parameters
    return read(client, TrailRow, TRAILS_OF_VERDICT, parameters, settings=FINAL_PER_PARTITION)
