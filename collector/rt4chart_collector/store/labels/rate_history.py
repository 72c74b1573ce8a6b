"""The corrected rates of each day, as the monitor writes them for SQL, exports and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.store.engine.columns import Route, ServiceName, VerifierId, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import TIME_S, RowTable, StoredAs, batch_token, read
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate

DAY_NS = 86_400 * 10**9
SHARE = "Nullable(Float64)"
UNKNOWN = Rate(None, None, None)


@dataclass(frozen=True, slots=True)
class CorrectedRateRow:
    """A route's corrected rate over the answers of [since_ns, until_ns), as of the end of a day."""

    service: ServiceName
    route: Route
    verifier: VerifierId
    day_ns: Annotated[int, StoredAs("Day", TIME_S)]
    since_ns: Annotated[int, StoredAs("Since", TIME_S)]
    until_ns: Annotated[int, StoredAs("Until", TIME_S)]
    raw: Annotated[float | None, StoredAs("Raw", SHARE)]
    rate: Annotated[float | None, StoredAs("Rate", SHARE)]
    low: Annotated[float | None, StoredAs("Low", SHARE)]
    high: Annotated[float | None, StoredAs("High", SHARE)]
    labels: Annotated[int, StoredAs("Labels", "UInt32")]
    more_labels: Annotated[int, StoredAs("MoreLabels", "UInt32")]
    covered: Annotated[float, StoredAs("Covered", "Float64")]
    precision: Annotated[float | None, StoredAs("Precision", SHARE)]
    precision_low: Annotated[float | None, StoredAs("PrecisionLow", SHARE)]
    precision_high: Annotated[float | None, StoredAs("PrecisionHigh", SHARE)]
    recall: Annotated[float | None, StoredAs("Recall", SHARE)]
    recall_low: Annotated[float | None, StoredAs("RecallLow", SHARE)]
    recall_high: Annotated[float | None, StoredAs("RecallHigh", SHARE)]
    misleading: Annotated[float | None, StoredAs("MisleadingRate", SHARE)]
    misleading_low: Annotated[float | None, StoredAs("MisleadingLow", SHARE)]
    misleading_high: Annotated[float | None, StoredAs("MisleadingHigh", SHARE)]
    misleading_labels: Annotated[int, StoredAs("MisleadingLabels", "UInt32")]
    version: Version = field(default=0, compare=False)


CORRECTED_RATES = RowTable("rt4chart_corrected_rates", CorrectedRateRow)
HISTORY = f"""
SELECT {CORRECTED_RATES.select()} FROM rt4chart_corrected_rates FINAL
WHERE VerifierId = {{verifier:String}}
    AND Day >= toStartOfDay(fromUnixTimestamp64Nano({{since:Int64}}), 'UTC')
    AND Day < fromUnixTimestamp64Nano({{until:Int64}})
ORDER BY ServiceName, Route, Day
"""  # noqa: S608 - our own names
LABEL_STATE = """
SELECT toString((
    (SELECT (count(), max(At)) FROM rt4chart_labels),
    (SELECT (count(), max(At)) FROM rt4chart_label_draws)
)) AS state
"""


@dataclass(frozen=True, slots=True)
class _LabelState:
    state: str


def write_corrected_rates(client: Client, rates: Sequence[RouteRate], scope: QueryScope) -> None:
    """Write the rates of the scope as those of the day in which it ends."""
    rows = [_row(rate, scope) for rate in rates]
    written = [(row.service, row.route, row.verifier, row.version) for row in rows]
    CORRECTED_RATES.insert(client, rows, token=batch_token("corrected", written))


def corrected_history(client: Client, scope: QueryScope) -> list[CorrectedRateRow]:
    """The rates of the scope's verifier on the days of the scope, by route and day."""
    return read(client, CorrectedRateRow, HISTORY, scope.parameters)


def label_state(client: Client) -> str:
    """A value that changes with every label and every draw of claims."""
    (found,) = read(client, _LabelState, LABEL_STATE)
    return found.state


def _row(rate: RouteRate, scope: QueryScope) -> CorrectedRateRow:
    found, quality = rate.corrected.rate, rate.quality
    precision, recall = (quality.precision, quality.recall) if quality else (UNKNOWN, UNKNOWN)
    misleading = rate.misleading.rate if rate.misleading else UNKNOWN
    return CorrectedRateRow(
        service=rate.service,
        route=rate.route,
        verifier=rate.verifier,
        day_ns=(scope.until_ns - 1) // DAY_NS * DAY_NS,
        since_ns=scope.since_ns,
        until_ns=scope.until_ns,
        raw=rate.raw,
        rate=found.value,
        low=found.low,
        high=found.high,
        labels=rate.corrected.labels,
        more_labels=rate.corrected.more_labels,
        covered=rate.covered,
        precision=precision.value,
        precision_low=precision.low,
        precision_high=precision.high,
        recall=recall.value,
        recall_low=recall.low,
        recall_high=recall.high,
        misleading=misleading.value,
        misleading_low=misleading.low,
        misleading_high=misleading.high,
        misleading_labels=rate.misleading.labels if rate.misleading else 0,
        version=scope.until_ns,
    )
