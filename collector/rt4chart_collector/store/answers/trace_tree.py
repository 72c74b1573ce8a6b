"""The spans of a trace as a tree, without their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core import semconv
from otel_rt4chart.core.semconv import SERVICE_NAME
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.spans.reading.reader import AttributeIndex, detect_kind
from rt4chart_collector.store.answers.spans import spans_of, text_of
from rt4chart_collector.store.engine.connect import Client

MAX_SPANS = 10_000
# Characters of a span's status message that are kept.
MAX_MESSAGE = 400
# OpenInference, the GenAI conventions of now and before, OpenLLMetry.
INPUT_TOKEN_KEYS = (
    "llm.token_count.prompt",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.usage.prompt_tokens",
)
OUTPUT_TOKEN_KEYS = (
    "llm.token_count.completion",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
)


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span: `kind` is what it did in words of OpenInference, "" where no convention says it.

    `depth` is its place under the roots, from 0. `is_orphan` where its parent is not stored or
    stands below it. Tokens are None where the span counts none.
    """

    span_id: str
    parent_id: str
    name: str
    kind: str
    service: str
    start_ns: int
    duration_ns: int
    status: str
    message: str
    depth: int
    children: int
    is_orphan: bool
    is_ours: bool
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class TraceTree:
    """A trace's spans, each after its parent, those of one parent by time.

    `start_ns` and `end_ns` are of all of them; `is_cut` where there are more than were read.
    """

    spans: tuple[TraceSpan, ...]
    start_ns: int
    end_ns: int
    is_cut: bool


def trace_of(client: Client, trace_id: str, *, limit: int = MAX_SPANS) -> TraceTree | None:
    """The first `limit` spans of the trace by time; None where none is stored."""
    return build_tree(spans_of(client, [trace_id]), limit=limit)


def build_tree(spans: Sequence[SpanRecord], *, limit: int = MAX_SPANS) -> TraceTree | None:
    """The same of the spans of one trace, which are in the order of time."""
    read = {one.span_id: one for one in spans[:limit]}
    if not read:
        return None
    start = min(one.start_ns for one in read.values())
    end = max(one.end_ns for one in read.values())
    return TraceTree(_in_order(read), start, end, is_cut=len(spans) > limit)


def _in_order(read: Mapping[str, SpanRecord]) -> tuple[TraceSpan, ...]:
    """Depth first without recursion; of a loop of parents the earliest span stands as a root."""
    below: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for one in read.values():
        below[one.parent_span_id if one.parent_span_id in read else ""].append(one)
    found: dict[str, TraceSpan] = {}
    _descend(below[""], below, found)
    for one in read.values():
        if one.span_id not in found:
            _descend([one], below, found)
    return tuple(found.values())


def _descend(
    roots: Sequence[SpanRecord],
    below: Mapping[str, Sequence[SpanRecord]],
    found: dict[str, TraceSpan],
) -> None:
    stack = [(one, 0) for one in reversed(roots)]
    while stack:
        one, depth = stack.pop()
        if one.span_id in found:
            continue
        under = [child for child in below.get(one.span_id, ()) if child.span_id not in found]
        under = [child for child in under if child.span_id != one.span_id]
        is_orphan = depth == 0 and one.parent_span_id != ""
        found[one.span_id] = _span(one, depth, len(under), is_orphan=is_orphan)
        stack += [(child, depth + 1) for child in reversed(under)]


def _span(one: SpanRecord, depth: int, children: int, *, is_orphan: bool) -> TraceSpan:
    reading = AttributeIndex(one)
    return TraceSpan(
        one.span_id,
        one.parent_span_id,
        one.name,
        detect_kind(reading)[0].value,
        text_of(one.resource.get(SERVICE_NAME, "")),
        one.start_ns,
        one.end_ns - one.start_ns,
        one.status,
        one.status_message[:MAX_MESSAGE],
        depth,
        children,
        is_orphan,
        one.scope_name == semconv.SCOPE_NAME,
        _token_count(one.attributes, INPUT_TOKEN_KEYS),
        _token_count(one.attributes, OUTPUT_TOKEN_KEYS),
    )


def _token_count(attributes: Attributes, names: Collection[str]) -> int | None:
    for name in names:
        if (value := str(attributes.get(name, ""))).isdecimal():
            return int(value)
    return None
