"""Spans in `otel_traces`, in the encodings of the Collector's ClickHouse exporter."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated

from otel_rt4chart.core.semconv import (
    CARRIER_NAME,
    SCOPE_NAME,
    SERVICE_NAME,
    SHORTENED_ATTRIBUTES,
    TENANT,
)
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.conventions.registry import KindIndicators, kind_indicators
from otel_rt4chart.spans.model.record import (
    Attributes,
    AttributeValue,
    SpanEvent,
    SpanLink,
    SpanRecord,
)
from otel_rt4chart.spans.model.span_view import OperationKind
from rt4chart_collector.store.answers.trace_sizes import (
    FEW_SPANS,
    OF_TRACES,
    READ_BYTES,
    SMALL_BLOCKS,
    shares_of_large,
    shortened_columns,
    trace_sizes,
    trace_times,
    value_cap,
)
from rt4chart_collector.store.engine.columns import AnswerKey, ServiceName, SpanId, TraceId
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    RowTable,
    StoredAs,
    batch_token,
    nested,
    read,
    read_int,
)

# Counts of a span by the names of the attributes that hold them, as the exporter's table has no
# columns for them: OpenTelemetry specification, common/mapping-to-non-otlp.md, "Dropped Attributes
# Count" and "Dropped Events Count".
COUNTS = {
    "otel.dropped_attributes_count": "dropped_attributes",
    "otel.dropped_events_count": "dropped_events",
    SHORTENED_ATTRIBUTES: "shortened_attributes",
}
MAX_DIGITS = 18
NO_LIMIT = 2**63 - 1
ATTRIBUTES = f"Map({LOW_CARDINALITY}, String)"
ARRAY_OF_ATTRIBUTES = f"Array({ATTRIBUTES})"


def text_of(value: AttributeValue) -> str:
    """An attribute's value as the exporter writes it: arrays and maps as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)


def _attribute_texts(attributes: Attributes) -> dict[str, str]:
    return {key: text_of(value) for key, value in attributes.items()}


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span in the exporter's table: every attribute value is a string."""

    start_ns: Annotated[int, StoredAs("Timestamp", "DateTime64(9)")]
    trace_id: TraceId
    span_id: SpanId
    parent_span_id: Annotated[str, StoredAs("ParentSpanId", "String")]
    trace_state: Annotated[str, StoredAs("TraceState", "String")]
    name: Annotated[str, StoredAs("SpanName", LOW_CARDINALITY)]
    kind: Annotated[str, StoredAs("SpanKind", LOW_CARDINALITY)]
    service: ServiceName
    resource: Annotated[dict[str, str], StoredAs("ResourceAttributes", ATTRIBUTES)]
    scope_name: Annotated[str, StoredAs("ScopeName", "String")]
    scope_version: Annotated[str, StoredAs("ScopeVersion", "String")]
    attributes: Annotated[dict[str, str], StoredAs("SpanAttributes", ATTRIBUTES)]
    duration_ns: Annotated[int, StoredAs("Duration", "UInt64")]
    status: Annotated[str, StoredAs("StatusCode", LOW_CARDINALITY)]
    status_message: Annotated[str, StoredAs("StatusMessage", "String")]
    events: Annotated[
        tuple[SpanEvent, ...],
        nested(
            SpanEvent,
            name=StoredAs("Events.Name", f"Array({LOW_CARDINALITY})"),
            time_ns=StoredAs("Events.Timestamp", "Array(DateTime64(9))"),
            attributes=StoredAs("Events.Attributes", ARRAY_OF_ATTRIBUTES, write=_attribute_texts),
        ),
    ]
    links: Annotated[
        tuple[SpanLink, ...],
        nested(
            SpanLink,
            trace_id=StoredAs("Links.TraceId", "Array(String)"),
            span_id=StoredAs("Links.SpanId", "Array(String)"),
            attributes=StoredAs("Links.Attributes", ARRAY_OF_ATTRIBUTES, write=_attribute_texts),
            trace_state=StoredAs("Links.TraceState", "Array(String)"),
        ),
    ]


SPANS = RowTable("otel_traces", SpanRow)
SPANS_OF = f"""
SELECT {{columns}} FROM otel_traces {OF_TRACES}
ORDER BY TraceId, Timestamp, SpanId
LIMIT 1 BY TraceId, SpanId
LIMIT {{most:UInt64}}
"""  # noqa: S608 - our own names alone, values are parameters
WHOLE_SPANS_OF = SPANS_OF.replace("{columns}", SPANS.select())
SHORTENED_SPANS_OF = SPANS_OF.replace("{columns}", shortened_columns(SPANS.select()))
# Not from the side table: a process that is killed may have stored a span without its row there.
STORED_CARRIERS = f"""
SELECT DISTINCT TraceId, SpanId FROM otel_traces
WHERE SpanName = '{CARRIER_NAME}' AND ScopeName = '{SCOPE_NAME}'
  AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
  AND TraceId IN {{traces:Array(String)}} AND SpanId IN {{spans:Array(String)}}
"""  # noqa: S608 - our own names alone, values are parameters
# A trace's times are missing where the process was killed between the writes of a batch and of the
# view that follows from it. Start and End are whole seconds.
MISSING_TIMES = """
INSERT INTO otel_traces_trace_id_ts (TraceId, Start, End)
SELECT t.TraceId, t.First, t.Last
FROM (
    SELECT TraceId, min(Timestamp) AS First, max(Timestamp) AS Last FROM otel_traces
    WHERE TraceId != '' AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    GROUP BY TraceId
) AS t
LEFT JOIN (
    SELECT TraceId, min(Start) AS First, max(End) AS Last FROM otel_traces_trace_id_ts
    WHERE End >= toDateTime(fromUnixTimestamp64Nano({since:Int64}))
    GROUP BY TraceId
) AS known ON known.TraceId = t.TraceId
WHERE toDateTime(t.First) < known.First OR toDateTime(t.Last) > known.Last
"""
SPAN_COUNT = f"""
SELECT uniqExact(SpanId) FROM otel_traces
WHERE TraceId = {{trace:String}} AND ScopeName != '{SCOPE_NAME}'
"""  # noqa: S608


def insert_spans(client: Client, spans: Sequence[SpanRecord]) -> None:
    """Store the spans durably; the same batch twice is stored once."""
    insert_rows(client, rows_from_spans(spans))


def insert_rows(client: Client, rows: Sequence[SpanRow]) -> None:
    """Store the rows durably; the same batch twice is stored once."""
    token = batch_token("spans", ((row.trace_id, row.span_id, *_tenant_of(row)) for row in rows))
    SPANS.insert(client, rows, token=token)


def _tenant_of(row: SpanRow) -> tuple[str, ...]:
    """The tenant, if there is one: senders choose the ids of spans."""
    tenant = row.resource.get(TENANT, "")
    return (tenant,) if tenant else ()


def repair_trace_times(client: Client, since_ns: int) -> None:
    """Insert the times of traces that are missing since then; reads find no span without them.

    Call this while no process writes spans, as `repair_rollup`.
    """
    client.command(MISSING_TIMES, {"since": since_ns})


def rows_from_spans(spans: Sequence[SpanRecord]) -> list[SpanRow]:
    """The rows of the spans."""
    # The spans of a request share their resource: its texts are made once.
    resources = {id(span.resource): span.resource for span in spans}
    texts = {key: _attribute_texts(resource) for key, resource in resources.items()}
    return [_row_from_span(span, texts[id(span.resource)]) for span in spans]


def row_content(row: SpanRow) -> int:
    """A hash of all that the row has beside its ids, never 0; other in each process."""
    # The order of attributes is no content.
    content = (
        *(row.start_ns, row.duration_ns, row.parent_span_id, row.trace_state, row.name, row.kind),
        *(row.scope_name, row.scope_version, row.status, row.status_message),
        *(frozenset(row.attributes.items()), frozenset(row.resource.items())),
        tuple((e.name, e.time_ns, _content_of(e.attributes)) for e in row.events),
        tuple((k.trace_id, k.span_id, k.trace_state, _content_of(k.attributes)) for k in row.links),
    )
    return hash(content) or 1


def _content_of(attributes: Attributes) -> frozenset[tuple[str, str]]:
    return frozenset(_attribute_texts(attributes).items())


def spans_of(
    client: Client, trace_ids: Sequence[str], *, limit: int = NO_LIMIT, max_bytes: int = READ_BYTES
) -> list[SpanRecord]:
    """The spans of the traces, each once, by trace and time; attribute values are strings.

    Of traces with values of more than `max_bytes` in all, the longest values of the largest are
    shortened, as those are that were too large to be stored.
    """
    times = trace_times(client, trace_ids)
    if times is None:
        return []
    shares = shares_of_large(trace_sizes(client, trace_ids, times), max_bytes)
    whole = [trace_id for trace_id in trace_ids if trace_id not in shares]
    parameters = {**times.parameters(whole), "most": limit}
    rows = read(client, SpanRow, WHOLE_SPANS_OF, parameters) if whole else []
    for trace_id, share in shares.items():
        cap = value_cap(client, trace_id, times, share)
        parameters = {**times.parameters([trace_id]), "most": limit, "cap": cap}
        rows += read(client, SpanRow, SHORTENED_SPANS_OF, parameters, settings=FEW_SPANS)
    if shares:
        rows = sorted(rows, key=lambda row: row.trace_id)[:limit]
    return [_span_from_row(row) for row in rows]


def stored_carriers(
    client: Client, keys: Collection[AnswerKey], *, since_ns: int
) -> set[AnswerKey]:
    """The keys of stored carriers among these (trace id, span id); none began before `since_ns`."""
    parameters = {
        "traces": sorted({trace_id for trace_id, _ in keys}),
        "spans": sorted({span_id for _, span_id in keys}),
        "since": max(since_ns, 0),
    }
    rows = client.query(STORED_CARRIERS, parameters).result_rows
    return {(trace_id, span_id) for trace_id, span_id in rows}


def span_count(client: Client, trace_id: str) -> int:
    """The number of stored spans of the trace without verdicts."""
    return int(read_int(client, SPAN_COUNT, {"trace": trace_id}))


# The fields that a span and its row have alike.
SHARED_FIELDS = tuple(
    field.name
    for field in fields(SpanRow)
    if field.name not in ("service", "resource", "attributes", "duration_ns")
)


def _row_from_span(span: SpanRecord, resource: dict[str, str]) -> SpanRow:
    attributes = _attribute_texts(span.attributes)
    for name, field_name in COUNTS.items():
        if count := getattr(span, field_name):
            attributes[name] = str(count)
    return SpanRow(
        **{name: getattr(span, name) for name in SHARED_FIELDS},
        service=bounded_name(text_of(span.resource.get(SERVICE_NAME, ""))),
        resource=resource,
        attributes=attributes,
        duration_ns=max(span.end_ns - span.start_ns, 0),
    )


def _span_from_row(row: SpanRow) -> SpanRecord:
    counts = {
        field_name: _count_from(row.attributes.pop(name, "0"))
        for name, field_name in COUNTS.items()
    }
    return SpanRecord(
        **{name: getattr(row, name) for name in SHARED_FIELDS},
        end_ns=row.start_ns + row.duration_ns,
        attributes=row.attributes,
        resource=row.resource,
        dropped_attributes=counts["dropped_attributes"],
        dropped_events=counts["dropped_events"],
        shortened_attributes=counts["shortened_attributes"],
    )


def _count_from(text: str) -> int:
    """A count; 0 for what a client wrote under its name that is none."""
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else 0


MAX_TIME_NS = 2**63 - 1


def unverified_traces(
    client: Client,
    verifier: str,
    since_ns: int,
    limit: int,
    *,
    after: str = "",
    until_ns: int = MAX_TIME_NS,
    errors_count: bool = True,
) -> list[str]:
    """Traces since then with an answer on which this verifier has no decision, by trace id.

    These are traces with a generation without a decision, and traces with a retrieval and no
    decision at all, because the generation of a chain may not be traced. Spans that only their name
    identifies are skipped. `after` is the last id of the page before. A trace without an answer is
    found again each time, because no decision on it is stored. With `errors_count` an error and
    a budget that was used up are decisions; an empty verifier has no decisions.
    """
    parameters = {
        "verifier": verifier,
        "since": since_ns,
        "until": until_ns,
        "limit": limit,
        "after": after,
        "errors": int(errors_count),
    }
    rows = client.query(UNVERIFIED_TRACES, parameters, settings=SMALL_BLOCKS).result_rows
    return [trace_id for (trace_id,) in rows]


def _kind_condition(*kinds: OperationKind) -> str:
    """The SQL condition on spans of these kinds, from the tables of the span conventions."""
    signs = kind_indicators(*kinds)
    # Any attribute that names a kind, be it another one, goes before keys and events.
    any_kind = kind_indicators(*(kind for kind in OperationKind if kind))
    keys = "|".join(prefix.replace(".", "[.]") for prefix in signs.prefixes)
    hinted = (
        f"arrayExists(key -> match(key, '^({keys})([.]|$)'), mapKeys(SpanAttributes)) "
        f"OR hasAny(Events.Name, [{_quoted_list(signs.events)}])"
    )
    return (
        f"({_attribute_condition(signs)} OR NOT ({_attribute_condition(any_kind)}) AND ({hinted}))"
    )


def _attribute_condition(signs: KindIndicators) -> str:
    """The SQL condition that an attribute names one of the kinds."""
    return " OR ".join(
        f"lower(trim(BOTH '\" ' FROM SpanAttributes['{key}'])) IN ({_quoted_list(values)})"
        for key, values in signs.kinds.items()
    )


def _quoted_list(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in sorted(values))


DECIDED_KEYS = """(
      SELECT {what} FROM rt4chart_verifications
      WHERE VerifierId = {{verifier:String}} AND IsDeleted = 0
        AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
        AND ({{errors:UInt8}} OR Decision NOT IN ('error', 'over_budget'))
  )"""
UNVERIFIED_TRACES = f"""
SELECT DISTINCT TraceId FROM otel_traces
WHERE Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
  AND Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
  AND TraceId > {{after:String}} AND ScopeName != '{SCOPE_NAME}'
  AND ({_kind_condition(OperationKind.LLM)}
       AND (TraceId, SpanId) NOT IN {DECIDED_KEYS.format(what="TraceId, SpanId")}
    OR {_kind_condition(OperationKind.RETRIEVER, OperationKind.RERANKER)}
       AND TraceId NOT IN {DECIDED_KEYS.format(what="TraceId")})
ORDER BY TraceId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - names of our own tables alone, values are parameters
