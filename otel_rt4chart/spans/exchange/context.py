"""Finds the context of an answer: which spans, or which parts of the prompt, hold its passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.spans.exchange.answers import is_retrieval
from otel_rt4chart.spans.exchange.prompt_context import prompt_context
from otel_rt4chart.spans.exchange.span_tree import CHECK_KINDS, RETRIEVAL_KINDS, SpanTree
from otel_rt4chart.spans.model.span_view import ChatMessage, OperationKind, SpanView
from otel_rt4chart.spans.model.values import normalize_text, parse_json, passage_start
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.spans.reading.documents import content_id, read_tool_result
from otel_rt4chart.verify.core.model import Passage


def drop_reranker_inputs(views: Sequence[SpanView]) -> tuple[SpanView, ...]:
    """Remove the retrievals whose results a later reranker ranked. `views` are in time order."""
    later = _LaterRerankers()
    remaining: list[SpanView] = []
    for view in reversed(views):
        if view.kind is OperationKind.RERANKER:
            if not later.was_reranked(view):
                remaining.append(view)
            later.add(view)
        elif not later.consumed(view):
            remaining.append(view)
    return tuple(reversed(remaining))


class _LaterRerankers:
    """The input documents of the rerankers after a point in time, by text and by id."""

    def __init__(self) -> None:
        self._is_empty = True
        self._is_all_known = True
        self._texts: set[str] = set()
        self._by_id: dict[str, str] = {}
        # The input documents of each reranker, or else those it kept, by the first of their texts.
        self._choices: dict[str, frozenset[str]] = {}

    def add(self, reranker: SpanView) -> None:
        """Add a reranker. If a limit dropped attributes, its input documents are unknown."""
        is_known = bool(reranker.input_documents) and not reranker.span.dropped_attributes
        self._is_empty = False
        self._is_all_known &= is_known
        texts = [
            normalize_text(document.text)
            for document in (reranker.input_documents if is_known else reranker.documents)
        ]
        if texts:
            self._choices.setdefault(texts[0], frozenset(texts))
        if is_known:
            self._texts.update(texts)
            documents = zip(reranker.input_documents, texts, strict=True)
            self._by_id |= {document.id: text for document, text in documents}

    def consumed(self, retrieval: SpanView) -> bool:
        """True if a later reranker ranked any of these documents, possibly shortened.

        If the input of a reranker is unknown, it is assumed to be everything retrieved before.
        """
        if self._is_empty or not self._is_all_known:
            return not self._is_empty
        return not retrieval.documents or any(map(self._was_given, retrieval.documents))

    def was_reranked(self, reranker: SpanView) -> bool:
        """True if a later reranker ranked all that this one kept, or nothing else.

        An overlap is not enough: parallel rerankers may rank the same documents.
        """
        texts = {normalize_text(document.text) for document in reranker.documents}
        chosen = (self._choices.get(text) for text in texts)
        return bool(texts) and (
            texts <= self._texts
            or any(
                texts_of_other is not None and texts_of_other <= texts for texts_of_other in chosen
            )
        )

    def _was_given(self, document: Passage) -> bool:
        """True if its text was ranked, or a part of its text under the same id."""
        text = normalize_text(document.text)
        part = self._by_id.get(document.id)
        return text in self._texts or (part is not None and (part in text or text in part))


TOOL_ROLES = ("tool", "function")


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The final context of an answer.

    `views` are the retrievals that it came from. `missing` is the reason why it is incomplete,
    otherwise None.
    """

    passages: tuple[Passage, ...] = ()
    views: tuple[SpanView, ...] = ()
    missing: Decision | None = None


@dataclass(frozen=True, slots=True)
class ContextSources:
    """Everything that may hold the context of an answer: its `prompt` and the views `before` it.

    `retrievals` are those views, also of linked traces, whose documents reached the answer.
    """

    answer: SpanView
    prompt: tuple[ChatMessage, ...]
    before: tuple[SpanView, ...]
    retrievals: tuple[SpanView, ...]
    tree: SpanTree


def find_context(sources: ContextSources) -> AnswerContext:
    """The context that the generator received, from the best available source.

    In this order: rerankers and retrievers, with tools on a data store beside them; the context
    among the variables of a prompt template; tools on a data store; results of other tools together
    with the context sections of the prompt. If documents of a retrieval were redacted or cut, the
    variables or the sections may hold the same text complete.
    """
    searches = [retrieval for retrieval in sources.retrievals if retrieval.kind in RETRIEVAL_KINDS]
    # Not preferred: the variables of a template show what the application made of the results.
    stores = [retrieval for retrieval in sources.retrievals if retrieval.kind is OperationKind.TOOL]
    found = _context_from(sources.retrievals) if searches else AnswerContext()
    if found.passages and found.missing is None:
        return found
    if variables := _template_passages(sources):
        return AnswerContext(variables, found.views)
    sections = _prompt_sections(sources.prompt)
    if searches:
        return replace(found, passages=sections, missing=None) if sections else found
    if stores:
        return _context_from(stores)
    return _context_from_tools_and_prompt(sources, sections)


def find_retrievals(views: Iterable[SpanView], tree: SpanTree) -> tuple[SpanView, ...]:
    """The retrievals whose documents are results: rerankers, and what was not reranked.

    `views` are in time order. Of nested retrievals the outer one counts; of a retrieval inside a
    tool, the retrieval, because the tool's output is text made of it.
    """
    found = [
        view
        for view in views
        if is_retrieval(view) and _has_documents(view) and not tree.is_inside(view, CHECK_KINDS)
    ]
    searches = {view.span.span_id for view in found if view.kind in RETRIEVAL_KINDS}
    enclosing = {
        parent.span.span_id
        for view in found
        if view.kind in RETRIEVAL_KINDS
        for parent in tree.ancestors(view)
    }
    outer = [
        view
        for view in found
        if searches.isdisjoint(parent.span.span_id for parent in tree.ancestors(view))
        and not (view.kind is OperationKind.TOOL and view.span.span_id in enclosing)
    ]
    return drop_reranker_inputs(outer)


def merge_passages(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages in order without duplicates; a different text under a known id gets a new id."""
    texts: dict[str, str] = {}
    result: list[Passage] = []
    for passage in passages:
        passage_id = unique_passage_id(passage, texts)
        if passage_id not in texts:
            texts[passage_id] = passage.text
            result.append(replace(passage, id=passage_id))
    return tuple(result)


def unique_passage_id(passage: Passage, texts: dict[str, str]) -> str:
    """The passage's id, with a number appended if it belongs to a different text."""
    passage_id, number = passage.id, 1
    while texts.get(passage_id, passage.text) != passage.text:
        number += 1
        passage_id = f"{passage.id}~{number}"
    return passage_id


def missing_text_reason(views: Sequence[SpanView]) -> Decision | None:
    """Why documents may be missing. Partial documents are not enough: any may matter."""
    if any(view.is_redacted for view in views):
        return Decision.REDACTED
    return Decision.TRUNCATED if any(view.is_truncated for view in views) else None


def tool_result_passages(prompt: Sequence[ChatMessage]) -> tuple[Passage, ...]:
    """Tool results in the prompt: documents if they have that shape, otherwise one text each."""
    texts = [message.text for message in prompt if message.role in TOOL_ROLES]
    return tuple(
        passage for text in texts for passage in read_tool_result(parse_json(text).value, text)[0]
    )


def _context_from(views: Sequence[SpanView]) -> AnswerContext:
    documents = (document for view in views for document in view.documents)
    return AnswerContext(merge_passages(documents), tuple(views), missing_text_reason(views))


def _has_documents(view: SpanView) -> bool:
    return bool(view.documents) or view.is_redacted or view.is_truncated


def _template_passages(sources: ContextSources) -> tuple[Passage, ...]:
    """The variables of the answer's template, else of the last prompt before it, else above."""
    prompts = [view for view in sources.before if view.kind is OperationKind.PROMPT]
    order = [sources.answer, *reversed(prompts), *sources.tree.ancestors(sources.answer)]
    found = next((view for view in order if view.variables), None)
    if found is None or (found.kind is OperationKind.PROMPT and missing_text_reason([found])):
        return ()
    return merge_passages(found.variables)


def _prompt_sections(prompt: Sequence[ChatMessage]) -> tuple[Passage, ...]:
    return merge_passages(_passages_from_texts(prompt_context(prompt)))


def _context_from_tools_and_prompt(
    sources: ContextSources, sections: Sequence[Passage]
) -> AnswerContext:
    """Results of other tools of the turn, and the context sections of the prompt."""
    turn = sources.tree.turn(sources.answer)
    tools = [
        view
        for view in sources.before
        if view.kind is OperationKind.TOOL
        and sources.tree.turn(view) is turn
        and _has_documents(view)
        and not sources.tree.is_inside(view, (OperationKind.TOOL, *RETRIEVAL_KINDS, *CHECK_KINDS))
    ]
    in_prompt = tool_result_passages(sources.prompt)
    documents = [document for tool in tools for document in tool.documents]
    known_text = normalize_text("\n".join(document.text for document in documents))
    # The prompt may hold the same result in another shape.
    new = [view for view in in_prompt if passage_start(view.text) not in known_text]
    passages = merge_passages([*documents, *new, *sections])
    missing = None if in_prompt else missing_text_reason(tools)
    if not sources.prompt and sources.answer.kind is OperationKind.LLM:
        # A redacted prompt is the application's choice; one that was cut may hold more passages.
        missing = missing or (Decision.TRUNCATED if sources.answer.is_truncated else None)
    return AnswerContext(
        passages, tuple(tools), missing or (None if passages else _no_context_reason(sources))
    )


def _no_context_reason(sources: ContextSources) -> Decision:
    """Why there is no context: a redacted or cut prompt may have held it."""
    return missing_text_reason([sources.answer]) or Decision.NO_CONTEXT


def _passages_from_texts(texts: Iterable[str]) -> tuple[Passage, ...]:
    """Texts as passages; the id is derived from the text, as for documents without one."""
    return tuple(Passage(content_id(text), text) for text in texts if text.strip())
