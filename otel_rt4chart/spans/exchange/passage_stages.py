"""The stages between retrieval and prompt at which each passage was seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from otel_rt4chart.spans.exchange.context import (
    AnswerContext,
    ContextSources,
    tool_result_passages,
    unique_passage_id,
)
from otel_rt4chart.spans.exchange.span_tree import CHECK_KINDS
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import normalize_text, passage_start
from otel_rt4chart.spans.model.verdict import Stage, StagedPassage
from otel_rt4chart.verify.core.model import Passage

# In addition to the passages of the final context, which are all kept.
MAX_LOST_PASSAGES = 500


def find_passage_stages(
    sources: ContextSources, context: AnswerContext, linked: Iterable[SpanView] = ()
) -> tuple[StagedPassage, ...]:
    """All passages seen at any stage: those of the final context first, then those lost.

    Documents with the same text are one passage. A text of a template or a tool that contains known
    passages marks them as seen at that stage; one that contains none is a passage itself.
    """
    tracker = _StageTracker(context.passages)
    tree = sources.tree
    views = [view for view in sources.before if not tree.is_inside(view, CHECK_KINDS)]
    views += linked
    for view in views:
        if view.kind is OperationKind.RETRIEVER:
            tracker.add_documents(view.documents, Stage.RETRIEVED)
        elif view.kind is OperationKind.RERANKER:
            tracker.add_documents(view.input_documents, Stage.RETRIEVED)
            tracker.add_documents(view.documents, Stage.RERANKED)
    templates = [view for view in views if view.kind is OperationKind.PROMPT]
    templates += [sources.answer, *tree.ancestors(sources.answer)]
    tracker.add_texts(
        [variable for view in templates for variable in view.variables], Stage.TEMPLATE
    )
    used = {view.span.span_id for view in context.views}
    tools = [
        view
        for view in views
        if view.kind is OperationKind.TOOL and (view.is_datastore or view.span.span_id in used)
    ]
    tool_messages = tool_result_passages(sources.prompt)
    tracker.add_texts([document for tool in tools for document in tool.documents], Stage.TOOL)
    tracker.mark_contained((passage.text for passage in tool_messages), Stage.TOOL)
    tracker.mark_contained((message.text for message in sources.prompt), Stage.PROMPT)
    return tracker.passages()


class _StageTracker:
    """The passages seen so far by id, and their stages. A known text under a new id is not new."""

    def __init__(self, final: Sequence[Passage]) -> None:
        self._most = len(final) + MAX_LOST_PASSAGES
        self._known: dict[str, Passage] = {}
        self._texts: dict[str, str] = {}
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        self._heads: dict[str, str] = {}
        self._stages: defaultdict[str, set[Stage]] = defaultdict(set)
        for passage in final:
            self._register(passage, passage.id)

    def add_documents(self, found: Iterable[Passage], stage: Stage) -> None:
        """Add documents. A known passage that is a part of a document was also seen here."""
        for passage in found:
            whole = normalize_text(passage.text)
            names = self._names.get(whole)
            if names:
                same = [passage.id] if passage.id in names else names
                for name in same:
                    self._stages[name].add(stage)
                continue
            part = self._texts.get(passage.id)
            if part and normalize_text(part) in whole:
                self._stages[passage.id].add(stage)
            self._add(passage, stage)

    def add_texts(self, found: Sequence[Passage], stage: Stage) -> None:
        """Add texts that may contain several passages."""
        normalized = [normalize_text(passage.text) for passage in found]
        self.mark_contained(normalized, stage)
        for passage, text in zip(found, normalized, strict=True):
            if not any(start in text for start in self._heads.values()):
                self._add(passage, stage)

    def mark_contained(self, texts: Iterable[str], stage: Stage) -> None:
        """Mark each known passage that the texts contain as seen at this stage."""
        whole = normalize_text("\n".join(texts))
        for name, start in self._heads.items():
            if start in whole:
                self._stages[name].add(stage)

    def passages(self) -> tuple[StagedPassage, ...]:
        """All passages in the order of their addition."""
        return tuple(
            StagedPassage(value, tuple(stage for stage in Stage if stage in self._stages[name]))
            for name, value in self._known.items()
        )

    def _add(self, passage: Passage, stage: Stage) -> None:
        if len(self._known) < self._most and passage.text.strip():
            name = unique_passage_id(passage, self._texts)
            self._register(replace(passage, id=name), name)
            self._stages[name].add(stage)

    def _register(self, passage: Passage, name: str) -> None:
        self._known[name] = passage
        self._texts[name] = passage.text
        self._names[normalize_text(passage.text)].append(name)
        if start := passage_start(passage.text):
            self._heads[name] = start
