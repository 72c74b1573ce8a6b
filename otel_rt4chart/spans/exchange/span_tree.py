"""The spans of one trace as a tree: the ancestors of a span and the turn it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, Self

from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.reading.reader import read_span

TURN_KINDS = (OperationKind.CHAIN, OperationKind.AGENT)
RETRIEVAL_KINDS = (OperationKind.RETRIEVER, OperationKind.RERANKER)
# Evaluations and guardrails check an answer: their generations and documents are not part of it.
CHECK_KINDS = (OperationKind.EVALUATOR, OperationKind.GUARDRAIL)
# Every answer of a trace reads its ancestors: with more, the time grows with the square of the
# spans.
MAX_ANCESTORS = 256


class SpanTree:
    """Views of a trace's spans in time order, without duplicate ids and without our own spans."""

    def __init__(self, spans: Iterable[SpanRecord]) -> None:
        """The spans may come in any order, and parents may be missing."""
        unique: dict[str, SpanRecord] = {}
        for span in spans:
            if not span.is_verdict:
                known = unique.get(span.span_id)
                unique[span.span_id] = span if known is None else _later_version(known, span)
        ordered = sorted(
            unique.values(), key=lambda span: (span.start_ns, span.end_ns, span.span_id)
        )
        self._keep({span.span_id: read_span(span) for span in ordered})

    @classmethod
    def of_views(cls, views: Iterable[SpanView]) -> Self:
        """The tree of spans that were already read, each of them once."""
        tree = cls(())
        ordered = sorted(
            views, key=lambda view: (view.span.start_ns, view.span.end_ns, view.span.span_id)
        )
        tree._keep({view.span.span_id: view for view in ordered if not view.span.is_verdict})
        return tree

    def _keep(self, views: dict[str, SpanView]) -> None:
        """Keep the views, which are in time order, and find the ancestry of each."""
        self._views = views
        self._ancestries: dict[str, _Ancestry] = {}
        for view in views.values():
            self._find_ancestry(view)

    def __iter__(self) -> Iterator[SpanView]:
        """The views in time order."""
        return iter(self._views.values())

    def get(self, span_id: str) -> SpanView | None:
        """The view of a span, if it is known."""
        return self._views.get(span_id)

    def ancestors(self, view: SpanView) -> Iterator[SpanView]:
        """The nearest of the known ancestors, the nearest first."""
        return islice(self._all_ancestors(view), MAX_ANCESTORS)

    def _all_ancestors(self, view: SpanView) -> Iterator[SpanView]:
        """The known ancestors; a cycle of parents ends where it began."""
        seen = {view.span.span_id}
        while (parent := self._views.get(view.span.parent_span_id)) and (
            parent.span.span_id not in seen
        ):
            yield parent
            seen.add(parent.span.span_id)
            view = parent

    def is_inside(self, view: SpanView, kinds: Collection[OperationKind]) -> bool:
        """True if an ancestor is of one of the kinds."""
        return not self._ancestries[view.span.span_id].kinds.isdisjoint(kinds)

    def root(self, view: SpanView) -> SpanView:
        """The outermost known ancestor, or the span itself."""
        return self._ancestries[view.span.span_id].root

    def turn(self, view: SpanView) -> SpanView:
        """The span of the request that a span serves: the outermost chain or agent.

        A trace may hold many requests, for example those of a batch job. Without a chain or agent,
        the turn is the outermost known span.
        """
        return self._ancestries[view.span.span_id].turn

    def _find_ancestry(self, view: SpanView) -> None:
        """Find the ancestry of a span, reusing known ones: linear in the number of spans."""
        if view.span.span_id in self._ancestries:
            return
        path = [view]
        ancestry: _Ancestry | None = None
        for parent in self._all_ancestors(view):
            if ancestry := self._ancestries.get(parent.span.span_id):
                break
            path.append(parent)
        above = self._views.get(path[-1].span.parent_span_id) if ancestry else None
        for step in reversed(path):
            ancestry = _ancestry_below(step, ancestry, above)
            self._ancestries[step.span.span_id] = ancestry
            above = step


class _Ancestry(NamedTuple):
    """The root and the turn of a span, and the kinds of all its ancestors."""

    root: SpanView
    turn: SpanView
    kinds: frozenset[OperationKind]


def _ancestry_below(
    view: SpanView, ancestry: _Ancestry | None, above: SpanView | None
) -> _Ancestry:
    """The ancestry of a span from that of its parent; a root has neither."""
    if ancestry is None or above is None:
        return _Ancestry(view, view, frozenset())
    is_outermost = view.kind in TURN_KINDS and ancestry.turn.kind not in TURN_KINDS
    kinds = ancestry.kinds if above.kind in ancestry.kinds else ancestry.kinds | {above.kind}
    return _Ancestry(ancestry.root, view if is_outermost else ancestry.turn, kinds)


def _later_version(first: SpanRecord, second: SpanRecord) -> SpanRecord:
    """The later and more complete of two versions of a span, in whichever order they came."""
    if first == second:
        return first
    # `repr` only breaks ties: the result must not depend on the order of arrival.
    return max(first, second, key=lambda span: (span.end_ns, len(span.attributes), repr(span)))
