"""The tree of a trace as a flat list of rows, which the template nests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.answers.trace_tree import TraceSpan, TraceTree

MAX_ROWS = 1_000
# Browsers limit nesting to 512 elements; deeper spans are shown at this depth.
MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One span, after which `closes` levels end; `before` and `length` are % of the trace."""

    span: TraceSpan
    opens: bool
    closes: int
    before: float
    length: float
    is_answer: bool

    @property
    def bar(self) -> tuple[str, str]:
        """The left edge and the width of its bar in %, as text: wide enough to be seen."""
        return f"{min(self.before, 99.3):.2f}", f"{max(self.length, 0.7):.2f}"

    @property
    def duration(self) -> str:
        """The duration of the span in a fitting unit."""
        ns = self.span.duration_ns
        for size, unit in ((60 * 10**9, "min"), (10**9, "s"), (10**6, "ms")):
            if ns >= size:
                return (
                    f"{ns / size:.3g} {unit}" if ns < 999.5 * size else f"{ns / size:,.0f} {unit}"
                )
        return f"{ns / 1000:.0f} µs"


def trace_rows(trace: TraceTree, answer: str) -> tuple[tuple[TraceRow, ...], int]:
    """The first `MAX_ROWS` spans in order, and always the span of the answer with its ancestors.

    The second value is the number of spans that are left out.
    """
    line = _above(trace.spans, answer)
    shown = [
        span for place, span in enumerate(trace.spans) if place < MAX_ROWS or span.span_id in line
    ]
    depths = [min(span.depth, MAX_DEPTH) for span in shown]
    whole = max(trace.end_ns - trace.start_ns, 1)
    rows = tuple(
        TraceRow(
            span=span,
            opens=following > depth,
            closes=max(depth - following, 0),
            before=100 * (span.start_ns - trace.start_ns) / whole,
            length=100 * span.duration_ns / whole,
            is_answer=span.span_id == answer,
        )
        for span, depth, following in zip(shown, depths, [*depths, 0][1:], strict=True)
    )
    return rows, len(trace.spans) - len(shown)


def _above(spans: Sequence[TraceSpan], answer: str) -> frozenset[str]:
    """The span of the answer and its ancestors."""
    known = {span.span_id: span for span in spans}
    found: set[str] = set()
    name = answer
    while name in known and name not in found:
        found.add(name)
        name = known[name].parent_id
    return frozenset(found)
