"""The spans of a trace as a tree, without their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.semconv import SERVICE_NAME
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.spans.reading.reader import AttributeIndex, detect_kind
from rt4chart_collector.store.answers.spans import text_of

MAX_SPANS = 10_000
# The characters of a status message that are kept.
MAX_MESSAGE = 400
# The keys of OpenInference, of the current and earlier GenAI conventions, and of OpenLLMetry.
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
    """One span; `kind` is OpenInference's word for its kind, "" if no convention identifies it.

    `depth` counts from 0 at a root. `is_orphan` if its parent is not stored or is its descendant.
    Tokens are None if the span has no count.
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
    """A trace's spans, each after its parent, siblings by time.

    `start_ns` and `end_ns` bound the application's spans: a verdict may be days later. `is_cut` if
    some spans were left out.
    """

    spans: tuple[TraceSpan, ...]
    start_ns: int
    end_ns: int
    is_cut: bool

    @property
    def span_count(self) -> int:
        """The number of the application's spans."""
        return sum(not span.is_ours for span in self.spans)


def build_tree(spans: Sequence[SpanRecord], *, limit: int = MAX_SPANS) -> TraceTree | None:
    """The tree of the first `limit` spans of one trace, given by time; None without spans.

    A trace of verdicts alone is what is left of one whose spans have expired.
    """
    read = {span.span_id: span for span in spans[:limit]}
    own = [span for span in read.values() if not span.is_verdict]
    if not own:
        return None
    start = min(span.start_ns for span in own)
    end = max(span.end_ns for span in own)
    return TraceTree(_in_order(read), start, end, is_cut=len(spans) > limit)


def _in_order(read: Mapping[str, SpanRecord]) -> tuple[TraceSpan, ...]:
    """Depth-first order without recursion; the earliest span of a cycle of parents is a root."""
    below: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for span in read.values():
        below[span.parent_span_id if span.parent_span_id in read else ""].append(span)
    found: dict[str, TraceSpan] = {}
    _descend(below[""], below, found)
    for span in read.values():
        if span.span_id not in found:
            _descend([span], below, found)
    return tuple(found.values())


def _descend(
    roots: Sequence[SpanRecord],
    below: Mapping[str, Sequence[SpanRecord]],
    found: dict[str, TraceSpan],
) -> None:
    stack = [(span, 0) for span in reversed(roots)]
    while stack:
        span, depth = stack.pop()
        if span.span_id in found:
            continue
        under = [child for child in below.get(span.span_id, ()) if child.span_id not in found]
        under = [child for child in under if child.span_id != span.span_id]
        is_orphan = depth == 0 and span.parent_span_id != ""
        found[span.span_id] = _span(span, depth, len(under), is_orphan=is_orphan)
        stack += [(child, depth + 1) for child in reversed(under)]


def _span(span: SpanRecord, depth: int, children: int, *, is_orphan: bool) -> TraceSpan:
    reading = AttributeIndex(span)
    return TraceSpan(
        span.span_id,
        span.parent_span_id,
        span.name,
        detect_kind(reading)[0].value,
        text_of(span.resource.get(SERVICE_NAME, "")),
        span.start_ns,
        span.end_ns - span.start_ns,
        span.status,
        span.status_message[:MAX_MESSAGE],
        depth,
        children,
        is_orphan,
        span.is_verdict,
        _token_count(span.attributes, INPUT_TOKEN_KEYS),
        _token_count(span.attributes, OUTPUT_TOKEN_KEYS),
    )


def _token_count(attributes: Attributes, names: Collection[str]) -> int | None:
    for name in names:
        if (value := str(attributes.get(name, ""))).isdecimal():
            return int(value)
    return None
