"""The spans of one trace as a tree: what lies above a span, and which turn it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from otel_rt4chart import semconv
from otel_rt4chart.spans.read import view
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.spans.view import Kind, View

TURN_KINDS = (Kind.CHAIN, Kind.AGENT)
RETRIEVAL = (Kind.RETRIEVER, Kind.RERANKER)
# What checks a request stands beside it: neither its generations nor its documents count.
CHECKS = (Kind.EVALUATOR, Kind.GUARDRAIL)


class Tree:
    """Views of a trace's spans, in the order of time; duplicates by id count once, ours not."""

    def __init__(self, spans: Iterable[SpanRecord]) -> None:
        """Neither the order of the spans nor an unknown parent matters."""
        unique: dict[str, SpanRecord] = {}
        for span in spans:
            if span.scope_name != semconv.SCOPE_NAME:
                known = unique.get(span.span_id)
                unique[span.span_id] = span if known is None else _fuller(known, span)
        ordered = sorted(
            unique.values(), key=lambda span: (span.start_ns, span.end_ns, span.span_id)
        )
        self._views = {span.span_id: view(span) for span in ordered}
        self._turns = {name: self._turn(one) for name, one in self._views.items()}

    def __iter__(self) -> Iterator[View]:
        """The views, the earliest first."""
        return iter(self._views.values())

    def get(self, span_id: str) -> View | None:
        """The view of a span, where it is known."""
        return self._views.get(span_id)

    def above(self, one: View) -> Iterator[View]:
        """The known spans above, the nearest first; a loop of parents ends where it began."""
        seen = {one.span.span_id}
        while (parent := self._views.get(one.span.parent_span_id)) and (
            parent.span.span_id not in seen
        ):
            yield parent
            seen.add(parent.span.span_id)
            one = parent

    def is_under(self, one: View, kinds: Collection[Kind]) -> bool:
        """True where a span above is of one of the kinds."""
        return any(parent.kind in kinds for parent in self.above(one))

    def root(self, one: View) -> View:
        """The outermost known span above, or the span itself."""
        return [one, *self.above(one)][-1]

    def turn(self, one: View) -> View:
        """The span of the request that this one serves: the outermost chain or agent.

        One trace may hold many requests, such as those of a batch under a span of its own.
        Without a chain or agent it is the outermost known span.
        """
        return self._turns[one.span.span_id]

    def _turn(self, one: View) -> View:
        line = [one, *self.above(one)]
        return next((span for span in reversed(line) if span.kind in TURN_KINDS), line[-1])


def _fuller(one: SpanRecord, other: SpanRecord) -> SpanRecord:
    """Of two versions of a span the later and fuller one, whichever came first."""
    if one == other:
        return one
    return max(one, other, key=lambda span: (span.end_ns, len(span.attributes), repr(span)))
