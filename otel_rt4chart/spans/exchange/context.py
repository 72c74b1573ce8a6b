"""Where an answer's context came from, with the results of rerankers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.spans.exchange.answers import is_retrieval
from otel_rt4chart.spans.exchange.prompt_context import prompt_context
from otel_rt4chart.spans.exchange.tree import CHECKS, RETRIEVAL, Tree
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.spans.model.view import Kind, Message, View
from otel_rt4chart.spans.reading.documents import content_id, results
from otel_rt4chart.spans.reading.texts import head, plain
from otel_rt4chart.verify.core.model import Passage


def came_out(found: Sequence[View]) -> tuple[View, ...]:
    """The views but those that a later reranker chose from; they come in the order of time."""
    later = _Later()
    out: list[View] = []
    for one in reversed(found):
        if one.kind is Kind.RERANKER:
            if not later.ranked_again(one):
                out.append(one)
            later.add(one)
        elif not later.chose_from(one):
            out.append(one)
    return tuple(reversed(out))


class _Later:
    """What the rerankers after a point in time were given, found by text and by id."""

    def __init__(self) -> None:
        self._is_empty = True
        self._is_all_known = True
        self._texts: set[str] = set()
        self._by_id: dict[str, str] = {}
        # What one chose from, or at least kept, by the first of its texts.
        self._choices: dict[str, frozenset[str]] = {}

    def add(self, reranker: View) -> None:
        """A limit may have taken a part of what it was given: then that is not known."""
        is_known = bool(reranker.given) and not reranker.span.dropped_attributes
        self._is_empty = False
        self._is_all_known &= is_known
        texts = [plain(one.text) for one in (reranker.given if is_known else reranker.documents)]
        if texts:
            self._choices.setdefault(texts[0], frozenset(texts))
        if is_known:
            self._texts.update(texts)
            self._by_id |= {
                one.id: text for one, text in zip(reranker.given, texts, strict=True)
            }  # fmt: skip

    def chose_from(self, retrieval: View) -> bool:
        """True where a reranker was given any of its documents; a cut may stand in between.

        Where it is not known which, a reranker was given what there was.
        """
        if self._is_empty or not self._is_all_known:
            return not self._is_empty
        return not retrieval.documents or any(map(self._was_given, retrieval.documents))

    def ranked_again(self, reranker: View) -> bool:
        """True where one was given all that this one kept, or chose from nothing else.

        A part is not enough: rerankers beside each other may choose from the same documents.
        """
        texts = {plain(one.text) for one in reranker.documents}
        chosen = (self._choices.get(text) for text in texts)
        return bool(texts) and (
            texts <= self._texts or any(one is not None and one <= texts for one in chosen)
        )

    def _was_given(self, document: Passage) -> bool:
        """The same text, or a part of it under the same id."""
        text = plain(document.text)
        part = self._by_id.get(document.id)
        return text in self._texts or (part is not None and (part in text or text in part))


TOOL_ROLES = ("tool", "function")


@dataclass(frozen=True, slots=True)
class Context:
    """The final context, and what was left out of it on the way.

    `views` are the retrievals that it came from. `missing` says why it is not whole, else None.
    """

    passages: tuple[Passage, ...] = ()
    views: tuple[View, ...] = ()
    missing: Decision | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What may speak of an answer: the `prompt` that it was given and the views `before` it.

    `retrievals` are those of the views, and of linked traces, whose documents reached it.
    """

    answer: View
    prompt: tuple[Message, ...]
    before: tuple[View, ...]
    retrievals: tuple[View, ...]
    tree: Tree


def context_of(scene: Scene) -> Context:
    """What the generator was given, from the best source that there is.

    In this order: rerankers and retrievers, and tools on a data store beside them; the context
    among a prompt template's variables; tools on a data store; other tools' results together with
    the context sections of the prompt. Where documents of a retrieval were hidden or cut, the
    template's variables or the prompt's sections give the same text whole.
    """
    searches = [one for one in scene.retrievals if one.kind in RETRIEVAL]
    # Not a source of the first rank on its own: a template shows what came of it.
    stores = [one for one in scene.retrievals if one.kind is Kind.TOOL]
    found = _from(scene.retrievals) if searches else Context()
    if found.passages and found.missing is None:
        return found
    if variables := _variables(scene):
        return Context(variables, found.views)
    sections = _sections(scene.prompt)
    if searches:
        return replace(found, passages=sections, missing=None) if sections else found
    if stores:
        return _from(stores)
    return _last_resort(scene, sections)


def retrievals(views: Iterable[View], tree: Tree) -> tuple[View, ...]:
    """The retrievals whose documents came out: rerankers, and what did not go through them.

    `views` come in the order of time. A retrieval inside another one, or inside a tool, is a step
    of it: the outer one's documents are what came out, the inner one's where the outer is a tool.
    """
    found = [
        one
        for one in views
        if is_retrieval(one) and _has_documents(one) and not tree.is_under(one, CHECKS)
    ]
    searches = {one.span.span_id for one in found if one.kind in RETRIEVAL}
    around = {
        parent.span.span_id for one in found if one.kind in RETRIEVAL for parent in tree.above(one)
    }
    outer = [
        one
        for one in found
        if searches.isdisjoint(parent.span.span_id for parent in tree.above(one))
        and not (one.kind is Kind.TOOL and one.span.span_id in around)
    ]
    return came_out(outer)


def merged(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages in order, each once; another text under a known id gets an id of its own."""
    texts: dict[str, str] = {}
    found: list[Passage] = []
    for passage in passages:
        name = free_name(passage, texts)
        if name not in texts:
            texts[name] = passage.text
            found.append(replace(passage, id=name))
    return tuple(found)


def free_name(passage: Passage, texts: dict[str, str]) -> str:
    """The passage's id, numbered where another text is known under it."""
    name, number = passage.id, 1
    while texts.get(name, passage.text) != passage.text:
        number += 1
        name = f"{passage.id}~{number}"
    return name


def missing_in(views: Sequence[View]) -> Decision | None:
    """Why documents may be missing; some of them are not enough: any may bear the answer out."""
    if any(one.is_redacted for one in views):
        return Decision.REDACTED
    return Decision.TRUNCATED if any(one.is_truncated for one in views) else None


def tool_messages(prompt: Sequence[Message]) -> tuple[Passage, ...]:
    """What tools returned, as it stands in the prompt: documents where it has their shape."""
    texts = [one.text for one in prompt if one.role in TOOL_ROLES]
    return tuple(one for text in texts for one in results(values.opened(text).value, text)[0])


def _from(views: Sequence[View]) -> Context:
    documents = (document for view in views for document in view.documents)
    return Context(merged(documents), tuple(views), missing_in(views))


def _has_documents(one: View) -> bool:
    return bool(one.documents) or one.is_redacted or one.is_truncated


def _variables(scene: Scene) -> tuple[Passage, ...]:
    """Of the answer's own template, else of the last prompt before it, else of what is above."""
    prompts = [one for one in scene.before if one.kind is Kind.PROMPT]
    order = [scene.answer, *reversed(prompts), *scene.tree.above(scene.answer)]
    found = next((one for one in order if one.variables), None)
    if found is None or (found.kind is Kind.PROMPT and missing_in([found])):
        return ()
    return merged(found.variables)


def _sections(prompt: Sequence[Message]) -> tuple[Passage, ...]:
    return merged(_texts(prompt_context(prompt)))


def _last_resort(scene: Scene, sections: Sequence[Passage]) -> Context:
    """What other tools of the turn returned, and what the prompt shows."""
    turn = scene.tree.turn(scene.answer)
    tools = [
        one
        for one in scene.before
        if one.kind is Kind.TOOL
        and scene.tree.turn(one) is turn
        and _has_documents(one)
        and not scene.tree.is_under(one, (Kind.TOOL, *RETRIEVAL, *CHECKS))
    ]
    shown = tool_messages(scene.prompt)
    documents = [document for tool in tools for document in tool.documents]
    told = plain("\n".join(one.text for one in documents))
    # The same result may stand in the prompt in another shape.
    new = [one for one in shown if head(one.text) not in told]
    passages = merged([*documents, *new, *sections])
    missing = None if shown else missing_in(tools)
    return Context(passages, tuple(tools), missing or (None if passages else _lost(scene)))


def _lost(scene: Scene) -> Decision:
    """Why there is no context at all: a prompt that is hidden or cut may have held it."""
    return missing_in([scene.answer]) or Decision.NO_CONTEXT


def _texts(texts: Iterable[str]) -> tuple[Passage, ...]:
    """Texts as passages, with ids from their content, as documents without an id have."""
    return tuple(Passage(content_id(text), text) for text in texts if text.strip())
