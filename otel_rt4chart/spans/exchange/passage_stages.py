"""Where each passage was seen on its way from the store to the prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from otel_rt4chart.spans.exchange.context import Context, Scene, free_name, tool_messages
from otel_rt4chart.spans.exchange.tree import CHECKS
from otel_rt4chart.spans.model.verdict import Stage, StagedPassage
from otel_rt4chart.spans.model.view import Kind, View
from otel_rt4chart.spans.reading.texts import head, plain
from otel_rt4chart.verify.core.model import Passage

# Beside those of the final context, which all are there.
MAX_LOST = 500


def staged(
    scene: Scene, context: Context, linked: Iterable[View] = ()
) -> tuple[StagedPassage, ...]:
    """All passages seen at any stage: those of the final context first, then those lost.

    Retrieved and reranked documents are one passage where their texts are the same. A template's
    or a tool's text that holds known passages says of these that they came so far; one that holds
    none is a passage of its own.
    """
    track = _Track(context.passages)
    tree = scene.tree
    seen = [one for one in scene.before if not tree.is_under(one, CHECKS)]
    seen += linked
    for one in seen:
        if one.kind is Kind.RETRIEVER:
            track.documents(one.documents, Stage.RETRIEVED)
        elif one.kind is Kind.RERANKER:
            track.documents(one.given, Stage.RETRIEVED)
            track.documents(one.documents, Stage.RERANKED)
    templates = [one for one in seen if one.kind is Kind.PROMPT]
    templates += [scene.answer, *tree.above(scene.answer)]
    track.texts([one for view in templates for one in view.variables], Stage.TEMPLATE)
    used = {view.span.span_id for view in context.views}
    tools = [
        one
        for one in seen
        if one.kind is Kind.TOOL and (one.is_datastore or one.span.span_id in used)
    ]
    shown = tool_messages(scene.prompt)
    track.texts([one for tool in tools for one in tool.documents], Stage.TOOL)
    track.stand_in((one.text for one in shown), Stage.TOOL)
    track.stand_in((one.text for one in scene.prompt), Stage.PROMPT)
    return track.passages()


class _Track:
    """The passages seen so far, by id, and where; a text under a new id is the known passage."""

    def __init__(self, final: Sequence[Passage]) -> None:
        self._most = len(final) + MAX_LOST
        self._known: dict[str, Passage] = {}
        self._texts: dict[str, str] = {}
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        self._heads: dict[str, str] = {}
        self._stages: defaultdict[str, set[Stage]] = defaultdict(set)
        for passage in final:
            self._enter(passage, passage.id)

    def documents(self, found: Iterable[Passage], stage: Stage) -> None:
        """Whole documents: the same text is the same passage, a part of it came from it."""
        for passage in found:
            whole = plain(passage.text)
            names = self._names.get(whole)
            if names:
                same = [passage.id] if passage.id in names else names
                for name in same:
                    self._stages[name].add(stage)
                continue
            part = self._texts.get(passage.id)
            if part and plain(part) in whole:
                self._stages[passage.id].add(stage)
            self._add(passage, stage)

    def texts(self, found: Sequence[Passage], stage: Stage) -> None:
        """Texts of any size: what stands in them came so far."""
        wholes = [plain(one.text) for one in found]
        self.stand_in(wholes, stage)
        for passage, whole in zip(found, wholes, strict=True):
            if not any(start in whole for start in self._heads.values()):
                self._add(passage, stage)

    def stand_in(self, texts: Iterable[str], stage: Stage) -> None:
        """Say of each passage that stands in the texts that it came so far."""
        whole = plain("\n".join(texts))
        for name, start in self._heads.items():
            if start in whole:
                self._stages[name].add(stage)

    def passages(self) -> tuple[StagedPassage, ...]:
        """All of them, in the order in which they came in."""
        return tuple(
            StagedPassage(one, tuple(stage for stage in Stage if stage in self._stages[name]))
            for name, one in self._known.items()
        )

    def _add(self, passage: Passage, stage: Stage) -> None:
        if len(self._known) < self._most and passage.text.strip():
            name = free_name(passage, self._texts)
            self._enter(replace(passage, id=name), name)
            self._stages[name].add(stage)

    def _enter(self, passage: Passage, name: str) -> None:
        self._known[name] = passage
        self._texts[name] = passage.text
        self._names[plain(passage.text)].append(name)
        if start := head(passage.text):
            self._heads[name] = start
