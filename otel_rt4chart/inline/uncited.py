"""Tells of a trace that its answer cites nothing, from the few of its spans that this needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.core import semconv
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.conventions.registry import (
    DATASTORE_ATTRIBUTES,
    DERIVED_ATTRIBUTES,
    SOURCES_BY_FIELD,
)
from otel_rt4chart.spans.exchange.answers import answer_text
from otel_rt4chart.spans.exchange.route import ROUTE_KEY_SET, explicit_route, route_from_names
from otel_rt4chart.spans.exchange.span_tree import (
    CHECK_KINDS,
    MAX_ANCESTORS,
    RETRIEVAL_KINDS,
    TURN_KINDS,
)
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import as_text
from otel_rt4chart.spans.reading.documents import has_whole_documents
from otel_rt4chart.spans.reading.reader import (
    AttributeIndex,
    detect_kind,
    kind_by_attribute,
    read_field,
)
from otel_rt4chart.spans.reading.sdk import peek_attributes, peek_record
from otel_rt4chart.verify.findings.citations import may_cite

AUXILIARY_KINDS = frozenset({*RETRIEVAL_KINDS, *CHECK_KINDS})
ROOT_KINDS = frozenset({*TURN_KINDS, OperationKind.NONE})
# Fields of a retrieval beside its documents whose loss would make its answer `truncated`.
BESIDE_DOCUMENTS = {
    kind: frozenset(
        source.key for field in ("system", "variables") for source in SOURCES_BY_FIELD[field][kind]
    )
    for kind in RETRIEVAL_KINDS
}


class _Node(NamedTuple):
    span: ReadableSpan
    span_id: int
    attributes: Attributes
    kind: OperationKind


_Nodes = dict[int, _Node]


def uncited_routes(spans: Sequence[ReadableSpan]) -> Sequence[str] | None:
    """The routes of the answers of a trace that need not be read; None if it must be read.

    Either it has no answer, or one: that of its only generation with text, which cites and quotes
    nothing, and whose retrievals are all complete. Reading the trace would find the same answer,
    with this route, and nothing that prevents its verification. Any other trace must be read.
    """
    nodes: _Nodes = {}
    for span in spans:
        context, attributes = span.get_span_context(), peek_attributes(span)
        kind = _certain_kind(span, attributes)
        if context is None or context.span_id in nodes or kind is None:
            return None
        nodes[context.span_id] = _Node(span, context.span_id, attributes, kind)
    paths = {
        node.span_id: _path(node, nodes)
        for node in nodes.values()
        if node.kind is OperationKind.LLM or node.kind in RETRIEVAL_KINDS
    }
    if not paths:
        return ()
    if max(map(len, paths.values())) > MAX_ANCESTORS:
        return None
    answer = _only_answer(paths)
    if answer is None or not _has_context(answer, paths):
        return None
    return (_route(paths[answer.span_id], nodes),)


def _certain_kind(span: ReadableSpan, attributes: Attributes) -> OperationKind | None:
    """The kind that reading the span would find; None for a tool on a data store."""
    found = kind_by_attribute(attributes)
    if found is None or span.events or not attributes.keys().isdisjoint(UNFOLDED):
        index = AttributeIndex(peek_record(span))
        attributes = index.attributes  # type: ignore[assignment] # with those that it derived
        found = detect_kind(index) if index.has_known_convention else (OperationKind.NONE, "")
    kind = found[0]
    if kind is OperationKind.TOOL and any(
        as_text(attributes.get(key)) == value for key, value in DATASTORE_ATTRIBUTES.items()
    ):
        return None
    return kind


# Keys whose values an index reads before the kind is known.
UNFOLDED = frozenset({*DERIVED_ATTRIBUTES, semconv.SHORTENED_ATTRIBUTES})


def _path(node: _Node, nodes: _Nodes) -> Sequence[_Node]:
    """The span and its known ancestors, the nearest first."""
    path = [node]
    while (parent := path[-1].span.parent) is not None and len(path) <= MAX_ANCESTORS + 1:
        above = nodes.get(parent.span_id)
        if above is None:
            break
        path.append(above)
    return path


def _is_inside(path: Sequence[_Node], kinds: Collection[OperationKind]) -> bool:
    return any(node.kind in kinds for node in path[1:])


def _turn(path: Sequence[_Node]) -> _Node:
    """The outermost chain or agent on the way up, else the root: `SpanTree.turn`."""
    return next((node for node in reversed(path) if node.kind in TURN_KINDS), path[-1])


def _only_answer(paths: dict[int, Sequence[_Node]]) -> _Node | None:
    """The only generation with text, if it cites nothing; the others only call tools."""
    found: list[tuple[_Node, SpanView]] = []
    turns = set()
    for path in paths.values():
        node = path[0]
        if node.kind is OperationKind.LLM and not _is_inside(path, AUXILIARY_KINDS):
            record = peek_record(node.span)
            output = read_field(AttributeIndex(record), "output", node.kind)
            turns.add(_turn(path).span_id)
            if output.calls_tools and not output.text:
                continue
            if not output.text.strip():
                return None
            found.append((node, SpanView(record, node.kind, output=output.text)))
    if len(found) != 1 or len(turns) != 1:
        return None
    ((answer, view),) = found
    turn = _turn(paths[answer.span_id])
    text = view.output if turn is answer else answer_text(view, _with_output(turn))
    return None if may_cite(text) else answer


def _with_output(node: _Node) -> SpanView:
    record = peek_record(node.span)
    output = read_field(AttributeIndex(record), "output", node.kind).text
    return SpanView(record, node.kind, output=output)


def _has_context(answer: _Node, paths: dict[int, Sequence[_Node]]) -> bool:
    """True if there are retrievals, all with whole documents and before the end of the answer.

    Then it does not matter which of them reached the answer: at least one did. The last reranker
    counts, or without any all retrievers.
    """
    end, turn = answer.span.end_time or 0, _turn(paths[answer.span_id])
    searches = list(_searches(paths))
    return bool(searches) and all(
        (path[0].span.start_time or 0) <= end
        and (_turn(path) is turn or not _may_answer(_turn(path)))
        and _is_whole(path[0])
        for path in searches
    )


def _searches(paths: dict[int, Sequence[_Node]]) -> Iterator[Sequence[_Node]]:
    for path in paths.values():
        if path[0].kind in RETRIEVAL_KINDS and not _is_inside(path, CHECK_KINDS):
            yield path


def _may_answer(turn: _Node) -> bool:
    """True if the turn's own output may be an answer beside that of a generation."""
    return turn.kind in ROOT_KINDS and bool(_with_output(turn).output.strip())


def _is_whole(search: _Node) -> bool:
    """True if the retrieval has documents, and none of it was redacted or lost."""
    span = search.span
    if span.dropped_attributes or span.dropped_events:
        return False
    index = AttributeIndex(peek_record(span))
    if not index.present.isdisjoint(BESIDE_DOCUMENTS[search.kind]):
        return False
    for source in SOURCES_BY_FIELD["documents"][search.kind]:
        if source.key in index.present and index.span.scope_name.startswith(source.scope):
            raw = index.raw(source.key)
            is_whole = has_whole_documents(raw.value)
            if is_whole is not None:
                return is_whole and not raw.is_cut
    return False


def _route(path: Sequence[_Node], nodes: _Nodes) -> str:
    """As the route of an answer that is read: a name near it, else that of a span above it."""
    answer = path[0]
    named = ""
    if any(not node.attributes.keys().isdisjoint(ROUTE_KEY_SET) for node in nodes.values()):
        named = _named_route(path, nodes)
    service = as_text(answer.span.resource.attributes.get(semconv.SERVICE_NAME))
    above = (node.span.name for node in reversed(path) if node.kind in ROOT_KINDS)
    return bounded_name(named or route_from_names([path[-1].span.name, *above], service))


def _named_route(path: Sequence[_Node], nodes: _Nodes) -> str:
    near = sorted(
        nodes.values(),
        key=lambda node: (node.span.start_time or 0, node.span.end_time or 0, node.span_id),
    )
    turn = _turn(path)
    outside = (node for node in near if _turn(_path(node, nodes)) is not turn)
    return explicit_route(
        [node.attributes for node in (*path, *near)],
        [node.attributes for node in (*path, *outside)],
    )
