"""What a convention's table says: which keys tell the kind of a span, which hold its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otel_rt4chart.spans.model.view import Kind

EVERY_KIND = frozenset(Kind)
# What the context is called among a prompt template's variables; a question never is.
CONTEXT_NAMES = frozenset(
    f"{stem}{ending}"
    for stem in ("context", "document", "doc", "source", "passage", "chunk", "retrieved_document")
    for ending in ("", "s")
) | {"context_str", "context_text", "retrieved_context", "retrieved_contexts", "search_results"}


class Shape(StrEnum):
    """What is read from a key; the values are what the documentation calls it."""

    TEXT = "text"
    WHOLE = "text, or JSON with the text in it"
    JSON = "JSON with the text in it"
    MESSAGES = "messages"
    LAST = "messages, of which the last one counts"
    CALLS = "tool calls"
    DOCUMENTS = "documents"
    VARIABLES = "the context among template variables"


@dataclass(frozen=True, slots=True)
class Source:
    """A key, what stands there, and the kinds of span on which it is read.

    A source that `is_last` is read after those of every convention that are not: it holds a whole
    input or output of which others hold the part that is meant. `scope` limits a key that may be
    the application's own to spans whose scope starts so. `role` is that of messages without one.
    """

    key: str
    shape: Shape = Shape.TEXT
    kinds: frozenset[Kind] = EVERY_KIND
    is_last: bool = False
    scope: str = ""
    role: str = ""


Sources = tuple[Source, ...]
Hints = tuple[tuple[str, Kind], ...]


@dataclass(frozen=True, slots=True)
class Event:
    """What a span event holds: an item of the list `key`, or, without one, attributes of the span.

    `prefix` stands before the names of its attributes, `role` is that of a message without one,
    `body` an attribute whose JSON holds what others have as attributes.
    """

    key: str = ""
    prefix: str = ""
    role: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """One convention's table.

    `kinds` are attributes whose value, in lower case, names the kind; `vague` are values that go
    behind another convention's. `hints` are keys (whole, of a list, or the first part of any) that
    tell the kind where no attribute does, `names` beginnings of span names that do on a span that
    has one of the convention's keys or `scopes`. `derived` makes values for other keys from one
    that holds several. `placeholders` stand for text that was taken out, as a whole or, in
    `placeholder_starts`, by their beginning. The fields are those of the View, in the order in
    which their sources are read, and `system` for instructions that stand apart from the prompt's
    messages; `datastore` are attributes that mark a tool as one that looks things up.
    """

    name: str
    source: str
    kinds: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    vague: frozenset[str] = frozenset()
    hints: Hints = ()
    names: Hints = ()
    scopes: tuple[str, ...] = ()
    events: Mapping[str, Event] = field(default_factory=dict)
    derived: Mapping[str, Callable[[object], Mapping[str, object]]] = field(default_factory=dict)
    placeholders: tuple[str, ...] = ()
    placeholder_starts: tuple[str, ...] = ()
    input: Sources = ()
    output: Sources = ()
    system: Sources = ()
    prompt: Sources = ()
    documents: Sources = ()
    given: Sources = ()
    variables: Sources = ()
    model: Sources = ()
    prompt_version: Sources = ()
    session: Sources = ()
    datastore: Mapping[str, str] = field(default_factory=dict)


FIELDS = (
    "input",
    "output",
    "system",
    "prompt",
    "documents",
    "given",
    "variables",
    "model",
    "prompt_version",
    "session",
)
GENERATION = frozenset({Kind.LLM})
RETRIEVAL = frozenset({Kind.RETRIEVER})
RERANKING = frozenset({Kind.RERANKER})
TOOL = frozenset({Kind.TOOL})
FOUND = RETRIEVAL | RERANKING | TOOL
