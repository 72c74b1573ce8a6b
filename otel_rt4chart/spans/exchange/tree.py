"""The spans of one trace as a tree: what lies above a span, and which turn it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.view import Kind, View
from otel_rt4chart.spans.reading.reader import view

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
        self._lines: dict[str, _Line] = {}
        for one in self._views.values():
            self._trace(one)

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
        return not self._lines[one.span.span_id].kinds.isdisjoint(kinds)

    def root(self, one: View) -> View:
        """The outermost known span above, or the span itself."""
        return self._lines[one.span.span_id].root

    def turn(self, one: View) -> View:
        """The span of the request that this one serves: the outermost chain or agent.

        One trace may hold many requests, such as those of a batch under a span of its own.
        Without a chain or agent it is the outermost known span.
        """
        return self._lines[one.span.span_id].turn

    def _trace(self, one: View) -> None:
        """Find what is above, once for each span: a line that is known is not gone up again."""
        if one.span.span_id in self._lines:
            return
        climbed = [one]
        line: _Line | None = None
        for parent in self.above(one):
            if line := self._lines.get(parent.span.span_id):
                break
            climbed.append(parent)
        above = self._views.get(climbed[-1].span.parent_span_id) if line else None
        for step in reversed(climbed):
            line = _below(step, line, above)
            self._lines[step.span.span_id] = line
            above = step


class _Line(NamedTuple):
    """What stands above a span: the outermost one, its turn, and the kinds of all."""

    root: View
    turn: View
    kinds: frozenset[Kind]


def _below(one: View, line: _Line | None, above: View | None) -> _Line:
    """The line of a span under another one, whose line is known; of a root, without either."""
    if line is None or above is None:
        return _Line(one, one, frozenset())
    is_outermost = one.kind in TURN_KINDS and line.turn.kind not in TURN_KINDS
    kinds = line.kinds if above.kind in line.kinds else line.kinds | {above.kind}
    return _Line(line.root, one if is_outermost else line.turn, kinds)


def _fuller(one: SpanRecord, other: SpanRecord) -> SpanRecord:
    """Of two versions of a span the later and fuller one, whichever came first."""
    if one == other:
        return one
    return max(one, other, key=lambda span: (span.end_ns, len(span.attributes), repr(span)))
