"""Tells of a trace that its answer cites nothing, from the few of its spans that this needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.inline.peeked_spans import (
    PeekedSpan,
    holds_documents,
    index_of,
    peek_span,
    read_output,
)
from otel_rt4chart.spans.conventions.registry import SOURCES_BY_FIELD
from otel_rt4chart.spans.exchange.answers import answer_text, find_answers
from otel_rt4chart.spans.exchange.route import ROUTE_KEY_SET, explicit_route, route_from_names
from otel_rt4chart.spans.exchange.span_tree import (
    CHECK_KINDS,
    MAX_ANCESTORS,
    RETRIEVAL_KINDS,
    TURN_KINDS,
    SpanTree,
)
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import as_text, normalize_text
from otel_rt4chart.spans.reading.documents import has_whole_documents, is_flat_document
from otel_rt4chart.spans.reading.reader import FieldValue
from otel_rt4chart.spans.reading.sdk import record_from_readable
from otel_rt4chart.verify.findings.citations import any_part_may_cite, may_cite

AUXILIARY_KINDS = (*RETRIEVAL_KINDS, *CHECK_KINDS)
ROOT_KINDS = (*TURN_KINDS, OperationKind.NONE)
# Of one turn: with more, it is a batch job, and reading it once is enough.
MOST_GENERATIONS = 20


def uncited_routes(spans: Sequence[ReadableSpan]) -> Sequence[str] | None:
    """The routes of the answers of a trace that need not be read; None if it must be read.

    Either it has no answer, or one, which cites and quotes nothing and whose retrievals are all
    complete. Reading the trace would find the same answer, with this route, and nothing that
    prevents its verification. Any other trace must be read.
    """
    nodes: dict[int, PeekedSpan] = {}
    for span in spans:
        node = peek_span(span)
        if node is None or node.span_id in nodes:
            return None
        nodes[node.span_id] = node
    generations = [
        _find_place(node, nodes) for node in nodes.values() if node.kind is OperationKind.LLM
    ]
    searches = [_find_place(node, nodes) for node in nodes.values() if node.kind in RETRIEVAL_KINDS]
    if not generations and not searches:
        return ()
    if any(len(place.path) > MAX_ANCESTORS for place in (*generations, *searches)):
        return None
    answer = _uncited_answer(generations)
    if answer is None or not _has_context(answer, searches):
        return None
    return (_route(answer, nodes),)


class _Place(NamedTuple):
    """A span with its `path`: itself and its known ancestors, the nearest first.

    `turn` is the outermost chain or agent on it, else the root, as in `SpanTree`.
    """

    node: PeekedSpan
    path: Sequence[PeekedSpan]
    turn: PeekedSpan

    def is_inside(self, kinds: Collection[OperationKind]) -> bool:
        """True if an ancestor is of one of the kinds."""
        return any(node.kind in kinds for node in self.path[1:])


def _find_place(node: PeekedSpan, nodes: Mapping[int, PeekedSpan]) -> _Place:
    """The place of a span among those of its trace, which are given by their ids."""
    path, turn = [node], node
    above: PeekedSpan | None = node
    # One more than the limit says that there are too many, or a cycle.
    while above is not None and len(path) <= MAX_ANCESTORS + 1:
        if above.kind in TURN_KINDS or turn.kind not in TURN_KINDS:
            turn = above
        parent = above.span.parent
        above = None if parent is None else nodes.get(parent.span_id)
        if above is not None:
            path.append(above)
    return _Place(node, path, turn)


def _uncited_answer(generations: Sequence[_Place]) -> _Place | None:
    """The generation whose text is the only answer, if it cites nothing."""
    answers = [place for place in generations if not place.is_inside(AUXILIARY_KINDS)]
    if not 0 < len(answers) <= MOST_GENERATIONS or len({one.turn.span_id for one in answers}) > 1:
        return None
    found = [(place, read_output(place.node)) for place in answers]
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
            output=read_output(node).text if node is turn else "",
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
        for node, text in ((answer.node, output), (answer.turn, read_output(answer.turn).text))
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


def _may_answer(turn: PeekedSpan) -> bool:
    """True if the turn's own output may be an answer beside that of a generation."""
    return turn.kind in ROOT_KINDS and bool(read_output(turn).text.strip())


def _has_whole_documents(search: PeekedSpan) -> bool | None:
    """True for documents of which none was redacted or lost, None for certainly none at all."""
    if search.span.dropped_attributes or search.span.dropped_events:
        return False
    index = index_of(search, holds_documents)
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


def _route(answer: _Place, nodes: Mapping[int, PeekedSpan]) -> str:
    """As the route of an answer that is read: a name near it, else that of a span above it."""
    has_names = any(not node.attributes.keys().isdisjoint(ROUTE_KEY_SET) for node in nodes.values())
    named = _named_route(answer, nodes) if has_names else ""
    service = as_text(answer.node.span.resource.attributes.get(semconv.SERVICE_NAME))
    above = [node.span.name for node in reversed(answer.path) if node.kind in ROOT_KINDS]
    return bounded_name(named or route_from_names([answer.path[-1].span.name, *above], service))


def _named_route(answer: _Place, nodes: Mapping[int, PeekedSpan]) -> str:
    near = sorted(
        nodes.values(),
        key=lambda node: (node.span.start_time or 0, node.span.end_time or 0, node.span_id),
    )
    outside = (node for node in near if _find_place(node, nodes).turn is not answer.turn)
    return explicit_route(
        [node.attributes for node in (*answer.path, *near)],
        [node.attributes for node in (*answer.path, *outside)],
    )
