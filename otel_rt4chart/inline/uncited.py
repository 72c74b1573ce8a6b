"""Tells of a trace that its answer cites nothing, from the few of its spans that this needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.conventions.registry import (
    DATASTORE_ATTRIBUTES,
    DERIVED_ATTRIBUTES,
    SOURCES_BY_FIELD,
)
from otel_rt4chart.spans.exchange.answers import answer_text, find_answers
from otel_rt4chart.spans.exchange.route import ROUTE_KEY_SET, explicit_route, route_from_names
from otel_rt4chart.spans.exchange.span_tree import (
    CHECK_KINDS,
    MAX_ANCESTORS,
    RETRIEVAL_KINDS,
    TURN_KINDS,
    SpanTree,
)
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import as_text, normalize_text
from otel_rt4chart.spans.reading.documents import has_whole_documents, is_flat_document
from otel_rt4chart.spans.reading.messages import flat_message_text
from otel_rt4chart.spans.reading.reader import (
    AttributeIndex,
    FieldValue,
    detect_kind,
    kind_by_attribute,
    read_field,
)
from otel_rt4chart.spans.reading.sdk import (
    has_events,
    peek_attributes,
    peek_record,
    record_from_readable,
)
from otel_rt4chart.verify.findings.citations import any_part_may_cite, may_cite

AUXILIARY_KINDS = (*RETRIEVAL_KINDS, *CHECK_KINDS)
ROOT_KINDS = (*TURN_KINDS, OperationKind.NONE)
# Keys whose values are read before the kind of a span, or any other of its fields, is known.
EARLY_KEYS = frozenset({*DERIVED_ATTRIBUTES, semconv.SHORTENED_ATTRIBUTES})


def uncited_routes(spans: Sequence[ReadableSpan]) -> Sequence[str] | None:
    """The routes of the answers of a trace that need not be read; None if it must be read.

    Either it has no answer, or one, which cites and quotes nothing and whose retrievals are all
    complete. Reading the trace would find the same answer, with this route, and nothing that
    prevents its verification. Any other trace must be read.
    """
    nodes: dict[int, _Node] = {}
    for span in spans:
        node = _node(span)
        if node is None or node.span_id in nodes:
            return None
        nodes[node.span_id] = node
    generations = [_place(node, nodes) for node in nodes.values() if node.kind is OperationKind.LLM]
    searches = [_place(node, nodes) for node in nodes.values() if node.kind in RETRIEVAL_KINDS]
    if not generations and not searches:
        return ()
    if any(len(place.path) > MAX_ANCESTORS for place in (*generations, *searches)):
        return None
    answer = _uncited_answer(generations)
    if answer is None or not _has_context(answer, searches):
        return None
    return (_route(answer, nodes),)


class _Node(NamedTuple):
    """A span with its kind; each field of one that `is_simple` is read from its own keys alone."""

    span: ReadableSpan
    span_id: int
    attributes: Attributes
    kind: OperationKind
    is_simple: bool


class _Place(NamedTuple):
    """A span with its `path`: itself and its known ancestors, the nearest first.

    `turn` is the outermost chain or agent on it, else the root, as in `SpanTree`.
    """

    node: _Node
    path: Sequence[_Node]
    turn: _Node

    def is_inside(self, kinds: Collection[OperationKind]) -> bool:
        """True if an ancestor is of one of the kinds."""
        return any(node.kind in kinds for node in self.path[1:])


def _place(node: _Node, nodes: Mapping[int, _Node]) -> _Place:
    path, turn = [node], node
    above: _Node | None = node
    # One more than the limit says that there are too many, or a cycle.
    while above is not None and len(path) <= MAX_ANCESTORS + 1:
        if above.kind in TURN_KINDS or turn.kind not in TURN_KINDS:
            turn = above
        parent = above.span.parent
        above = None if parent is None else nodes.get(parent.span_id)
        if above is not None:
            path.append(above)
    return _Place(node, path, turn)


def _node(span: ReadableSpan) -> _Node | None:
    """The span with the kind that reading it would find; None for a tool on a data store."""
    context, attributes = span.get_span_context(), peek_attributes(span)
    if context is None:
        return None
    is_simple = attributes.keys().isdisjoint(EARLY_KEYS) and not has_events(span)
    found, read = kind_by_attribute(attributes), attributes
    if found is None or not is_simple:
        index = AttributeIndex(record_from_readable(span))
        found = detect_kind(index) if index.has_known_convention else (OperationKind.NONE, "")
        read = index.attributes  # type: ignore[assignment] # with those that it derived
    kind = found[0]
    if kind is OperationKind.TOOL and any(
        as_text(read.get(key)) == value for key, value in DATASTORE_ATTRIBUTES.items()
    ):
        return None
    return _Node(span, context.span_id, attributes, kind, is_simple)


def _index(node: _Node, keys: Callable[[str], bool]) -> AttributeIndex:
    """The index of the attributes with these keys, if no others can matter."""
    span = node.span
    return AttributeIndex(peek_record(span, keys) if node.is_simple else record_from_readable(span))


def _key_filter(fields: Iterable[str], kinds: Iterable[OperationKind]) -> Callable[[str], bool]:
    """Says of a key whether one of the fields may be read from it; remembers the last keys."""
    sources = {
        source.key for name in fields for kind in kinds for source in SOURCES_BY_FIELD[name][kind]
    }

    @lru_cache(maxsize=4_096)
    def may_hold(key: str) -> bool:
        return key.startswith(starts)

    starts = tuple(sources)
    return may_hold


# Where reading looks first for the text of a generation.
FIRST_OUTPUT = SOURCES_BY_FIELD["output"][OperationKind.LLM][0].key
_holds_output = _key_filter(["output"], OperationKind)
_holds_documents = _key_filter(["documents", "system", "variables"], RETRIEVAL_KINDS)


def _output(node: _Node) -> FieldValue:
    index = _index(node, _holds_output)
    if node.kind is OperationKind.LLM and (text := flat_message_text(index.rows(FIRST_OUTPUT))):
        return FieldValue(text)
    return read_field(index, "output", node.kind)


def _uncited_answer(generations: Sequence[_Place]) -> _Place | None:
    """The generation whose text is the only answer, if it cites nothing."""
    found = [
        (place, _output(place.node))
        for place in generations
        if not place.is_inside(AUXILIARY_KINDS)
    ]
    if not found or any(place.turn is not found[0][0].turn for place, _ in found):
        return None
    told = [(place, output) for place, output in found if not _only_calls(output)]
    answer, output = told[0] if len(told) == 1 else _choose(found)
    if not output.text.strip() or _may_cite(answer, output.text):
        return None
    return answer


def _only_calls(output: FieldValue) -> bool:
    return output.calls_tools and not output.text


def _choose(found: Sequence[tuple[_Place, FieldValue]]) -> tuple[_Place, FieldValue]:
    """Of several generations of one turn the one that reading chooses."""
    turn = found[0][0].turn
    views = {
        node.span_id: SpanView(
            record_from_readable(node.span),
            node.kind,
            output=_output(node).text if node is turn else "",
        )
        for place, _ in found
        for node in place.path
    }
    for place, output in found:
        view = views[place.node.span_id]
        views[place.node.span_id] = replace(
            view, output=output.text, calls_tools_only=_only_calls(output)
        )
    answers = find_answers(SpanTree.of_views(views.values()))
    chosen = answers[format_span_id(turn.span_id)].span.span_id
    return next(one for one in found if format_span_id(one[0].node.span_id) == chosen)


def _may_cite(answer: _Place, output: str) -> bool:
    """True if the text of the answer, which may be a part of the output, may cite or quote."""
    if not any_part_may_cite(normalize_text(output)):
        return False
    if answer.turn is answer.node:
        return may_cite(output)
    views = [
        SpanView(record_from_readable(node.span), node.kind, output=text)
        for node, text in ((answer.node, output), (answer.turn, _output(answer.turn).text))
    ]
    return may_cite(answer_text(*views))


def _has_context(answer: _Place, searches: Sequence[_Place]) -> bool:
    """True if there are retrievals with documents, all whole and before the end of the answer.

    Then it does not matter which of them reached the answer: at least one did. The last reranker
    counts, or without any all retrievers. A retrieval without documents does not count.
    """
    found = [search for search in searches if not search.is_inside(CHECK_KINDS)]
    if any(search.turn is not answer.turn and _may_answer(search.turn) for search in found):
        return False
    end, states = answer.node.span.end_time or 0, set()
    for search in found:
        is_whole = _has_whole_documents(search.node)
        if is_whole is False or (is_whole and (search.node.span.start_time or 0) > end):
            return False
        states.add(is_whole)
    return True in states


def _may_answer(turn: _Node) -> bool:
    """True if the turn's own output may be an answer beside that of a generation."""
    return turn.kind in ROOT_KINDS and bool(_output(turn).text.strip())


def _has_whole_documents(search: _Node) -> bool | None:
    """True for documents of which none was redacted or lost, None for certainly none at all."""
    if search.span.dropped_attributes or search.span.dropped_events:
        return False
    index = _index(search, _holds_documents)
    for field in ("system", "variables"):
        # If these were cut, so would be the answer's context.
        if any(source.key in index.present for source in SOURCES_BY_FIELD[field][search.kind]):
            return False
    for source in SOURCES_BY_FIELD["documents"][search.kind]:
        if source.key in index.present and index.span.scope_name.startswith(source.scope):
            rows = index.rows(source.key)
            if rows and all(map(is_flat_document, rows)):
                return True
            raw = index.raw(source.key)
            is_whole = False if raw.is_cut else has_whole_documents(raw.value)
            if is_whole is not None:
                return is_whole
    return None


def _route(answer: _Place, nodes: Mapping[int, _Node]) -> str:
    """As the route of an answer that is read: a name near it, else that of a span above it."""
    has_names = any(not node.attributes.keys().isdisjoint(ROUTE_KEY_SET) for node in nodes.values())
    named = _named_route(answer, nodes) if has_names else ""
    service = as_text(answer.node.span.resource.attributes.get(semconv.SERVICE_NAME))
    above = [node.span.name for node in reversed(answer.path) if node.kind in ROOT_KINDS]
    return bounded_name(named or route_from_names([answer.path[-1].span.name, *above], service))


def _named_route(answer: _Place, nodes: Mapping[int, _Node]) -> str:
    near = sorted(
        nodes.values(),
        key=lambda node: (node.span.start_time or 0, node.span.end_time or 0, node.span_id),
    )
    outside = (node for node in near if _place(node, nodes).turn is not answer.turn)
    return explicit_route(
        [node.attributes for node in (*answer.path, *near)],
        [node.attributes for node in (*answer.path, *outside)],
    )
