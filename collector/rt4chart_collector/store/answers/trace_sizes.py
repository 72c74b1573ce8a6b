"""How large stored traces are, and how much is read of each value of one that is too large.

A client may store any number of spans of one trace, each with values of several MiB. What reads a
trace holds it in memory several times, so the bytes are counted before they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.semconv import SHORTENED_ATTRIBUTES
from rt4chart_collector.store.engine.connect import Client

# Of traces with more in all, the largest are read with their longest values shortened. An ordinary
# trace has some 25 kB.
READ_BYTES = 32 * 2**20
# The lengths to which values may be shortened.
CAPS = tuple(4**power for power in range(3, 12))
_MAPS = ("SpanAttributes", "ResourceAttributes")
_LISTS_OF_MAPS = ("Events.Attributes", "Links.Attributes")


def _total(cap: str) -> str:
    """The bytes of a span's values, each counted with at most `cap` of them."""
    of_maps = [f"arraySum(v -> least(length(v), {cap}), mapValues({name}))" for name in _MAPS]
    of_lists = [
        f"arraySum(m -> arraySum(v -> least(length(v), {cap}), mapValues(m)), {name})"
        for name in _LISTS_OF_MAPS
    ]
    return " + ".join([*of_maps, *of_lists, f"least(length(StatusMessage), {cap})"])


_WHOLE = str(2**62)
SECOND_NS = 10**9
# For conditions on attributes: a span may have 16 MiB, and is copied for each of them.
SMALL_BLOCKS = {"max_block_size": 16}
# A few spans at once, because one may have 16 MiB, and shortened before they are sorted.
FEW_SPANS = {
    "max_block_size": 4,
    "max_threads": 1,
    "query_plan_execute_functions_after_sorting": 0,
}
# Counting the bytes of an ordinary trace takes a few MiB. A few spans at once take five times as
# long, because the spans beside it are passed over in as small blocks.
OUT_OF_MEMORY = "MEMORY_LIMIT_EXCEEDED"
LITTLE_MEMORY = {"max_memory_usage": 256 * 2**20, "max_threads": 1}
TIMES_OF = """
SELECT count(), toUnixTimestamp(min(Start)), toUnixTimestamp(max(End))
FROM otel_traces_trace_id_ts WHERE TraceId IN {ids:Array(String)}
"""
# otel_traces is sorted by service and time, not by trace: by the time range of the traces, only the
# parts of their days are read.
OF_TRACES = """WHERE TraceId IN {ids:Array(String)}
  AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
  AND Timestamp <= fromUnixTimestamp64Nano({until:Int64})"""
SIZES_OF = f"""
SELECT TraceId, sum({_total(_WHOLE)}) FROM otel_traces {OF_TRACES} GROUP BY TraceId
"""  # noqa: S608 - names of columns alone, values are parameters
CAPPED_SIZES_OF = f"""
SELECT {", ".join(f"sum({_total(str(cap))})" for cap in CAPS)} FROM otel_traces {OF_TRACES}
"""  # noqa: S608 - names of columns alone, values are parameters


@dataclass(frozen=True, slots=True)
class TraceTimes:
    """When the spans of some traces started: at most a second wider on each side."""

    since_ns: int
    until_ns: int

    def parameters(self, trace_ids: Sequence[str]) -> dict[str, object]:
        """The parameters of `OF_TRACES`."""
        return {"ids": list(trace_ids), "since": self.since_ns, "until": self.until_ns}


def trace_times(client: Client, trace_ids: Sequence[str]) -> TraceTimes | None:
    """When the spans of these traces started, from the side table; None if none is stored."""
    rows = client.query(TIMES_OF, {"ids": list(trace_ids)}).result_rows
    ((count, first_s, last_s),) = rows
    return TraceTimes(first_s * SECOND_NS, (last_s + 1) * SECOND_NS) if count else None


def trace_sizes(
    client: Client, trace_ids: Sequence[str], times: TraceTimes | None = None
) -> dict[str, int]:
    """The bytes of the values of each stored trace; a span that is stored twice counts twice.

    The times are read if they are not given.
    """
    times = times or trace_times(client, trace_ids)
    if times is None:
        return {}
    parameters = times.parameters(trace_ids)
    try:
        rows = client.query(SIZES_OF, parameters, settings=LITTLE_MEMORY).result_rows
    except StoreError as error:
        if error.engine_code != OUT_OF_MEMORY:
            raise
        rows = client.query(SIZES_OF, parameters, settings=FEW_SPANS).result_rows
    return {trace_id: int(size) for trace_id, size in rows}


def first_traces(client: Client, trace_ids: Sequence[str]) -> list[str]:
    """The first of these traces that can be read together whole: one at least."""
    sizes, total = trace_sizes(client, trace_ids), 0
    for number, trace_id in enumerate(trace_ids):
        total += sizes.get(trace_id, 0)
        if number and total > READ_BYTES:
            return list(trace_ids[:number])
    return list(trace_ids)


def shares_of_large(sizes: Mapping[str, int], max_bytes: int) -> dict[str, int]:
    """The bytes for each trace that must be shortened, so that all have at most `max_bytes`.

    The larger ones get the same share each; those that have less keep all of it.
    """
    left = max_bytes
    ordered = sorted(sizes.items(), key=lambda item: (item[1], item[0]))
    for number, (_, size) in enumerate(ordered):
        share = left // (len(ordered) - number)
        if size > share:
            return {trace_id: share for trace_id, _ in ordered[number:]}
        left -= size
    return {}


def value_cap(client: Client, trace_id: str, times: TraceTimes, max_bytes: int) -> int:
    """The bytes of each value with which the trace has at most `max_bytes`, as far as it can."""
    parameters = times.parameters([trace_id])
    (totals,) = client.query(CAPPED_SIZES_OF, parameters, settings=FEW_SPANS).result_rows
    fitting = [cap for cap, total in zip(CAPS, totals, strict=True) if total <= max_bytes]
    return int(max(fitting, default=CAPS[0]))


def _short(value: str) -> str:
    """The SQL for a value of at most `cap` bytes and the mark of `shorten_text`."""
    start = f"toValidUTF8(substring({value}, 1, {{cap:UInt64}}))"
    mark = f"concat({start}, '… [shortened from ', toString(length({value})), ' bytes]')"
    return f"if(length({value}) > {{cap:UInt64}}, {mark}, {value})"


def _short_map(of: str) -> str:
    return f"mapApply((k, v) -> (k, {_short('v')}), {of})"


def _number_short(of: str) -> str:
    return f"arrayCount(v -> length(v) > {{cap:UInt64}}, mapValues({of}))"


def shortened_columns(columns: str) -> str:
    """The columns of a SELECT of spans, with values of `cap` bytes; the span counts the others."""
    in_events = f"arraySum(m -> {_number_short('m')}, Events.Attributes)"
    number = " + ".join([*map(_number_short, _MAPS), in_events])
    known = f"toUInt64OrZero(SpanAttributes['{SHORTENED_ATTRIBUTES}'])"
    counted = f"map('{SHORTENED_ATTRIBUTES}', toString({known} + {number}))"
    attributes = _short_map("SpanAttributes")
    shortened = {
        "SpanAttributes": f"if({number} = 0, {attributes}, mapUpdate({attributes}, {counted}))",
        "ResourceAttributes": _short_map("ResourceAttributes"),
        "StatusMessage": _short("StatusMessage"),
        "Events.Attributes": f"arrayMap(m -> {_short_map('m')}, Events.Attributes)",
        "Links.Attributes": f"arrayMap(m -> {_short_map('m')}, Links.Attributes)",
    }
    for name, expression in shortened.items():
        columns = columns.replace(f"{name} AS ", f"{expression} AS ", 1)
    return columns
