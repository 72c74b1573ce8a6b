"""`Convention`: the keys that determine the kind of a span, and those that hold its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otel_rt4chart.spans.model.span_view import OperationKind

ALL_KINDS = frozenset(OperationKind)
# Names of the context among the variables of a prompt template. A question never has one of these.
CONTEXT_NAMES = frozenset(
    f"{stem}{ending}"
    for stem in ("context", "document", "doc", "source", "passage", "chunk", "retrieved_document")
    for ending in ("", "s")
) | {"context_str", "context_text", "retrieved_context", "retrieved_contexts", "search_results"}


class ValueShape(StrEnum):
    """How the value of a key is read; the enum's values are the words of the documentation."""

    TEXT = "text"
    WHOLE = "text, or JSON with the text in it"
    JSON = "JSON with the text in it"
    MESSAGES = "messages"
    LAST = "messages, of which the last one counts"
    CALLS = "tool calls"
    DOCUMENTS = "documents"
    VARIABLES = "the context among template variables"


@dataclass(frozen=True, slots=True)
class AttributeSource:
    """A key, the shape of its value, and the kinds of span on which it is read.

    A source that `is_last` is read after the other sources of all conventions: it holds a whole
    input or output, of which the others hold the relevant part. `scope` restricts a key that an
    application may use itself to spans whose scope has this prefix. `role` is the role of messages
    that name none.
    """

    key: str
    shape: ValueShape = ValueShape.TEXT
    kinds: frozenset[OperationKind] = ALL_KINDS
    is_last: bool = False
    scope: str = ""
    role: str = ""


Sources = tuple[AttributeSource, ...]
Derivation = Callable[[object, Mapping[str, object]], Mapping[str, object]]
Hints = tuple[tuple[str, OperationKind], ...]


@dataclass(frozen=True, slots=True)
class EventMapping:
    """How a span event is read: as an item of the list `key`, or as attributes of the span.

    `prefix` is removed from the names of its attributes, `role` is the role of a message that names
    none, `body` is an attribute whose JSON is merged into the item.
    """

    key: str = ""
    prefix: str = ""
    role: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """The table of one convention.

    `kinds`: attributes whose value, in lower case, names the kind of the span; `vague`: those
    values that yield to the kind of another convention. `hints`: keys (whole, of a list, or the
    first part of a key) that determine the kind if no attribute does. `names`: prefixes of span
    names that do so, on spans with a key of the convention or with one of its `scopes`.
    `derived`: functions that compute values of other keys from a key that holds several, given its
    value and all attributes.
    `placeholders` and `placeholder_starts`: texts, and prefixes of texts, that replace redacted
    text. `datastore`: attributes that mark a tool as one that looks up data.

    The other fields are those of `SpanView`, each with its sources in the order of reading, and
    `system` for instructions that are separate from the messages of the prompt.
    """

    name: str
    source: str
    kinds: Mapping[str, Mapping[str, OperationKind]] = field(default_factory=dict)
    vague: frozenset[str] = frozenset()
    hints: Hints = ()
    names: Hints = ()
    scopes: tuple[str, ...] = ()
    events: Mapping[str, EventMapping] = field(default_factory=dict)
    derived: Mapping[str, Derivation] = field(default_factory=dict)
    placeholders: tuple[str, ...] = ()
    placeholder_starts: tuple[str, ...] = ()
    input: Sources = ()
    output: Sources = ()
    system: Sources = ()
    prompt: Sources = ()
    documents: Sources = ()
    input_documents: Sources = ()
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
    "input_documents",
    "variables",
    "model",
    "prompt_version",
    "session",
)
GENERATION_KINDS = frozenset({OperationKind.LLM})
RETRIEVER_KINDS = frozenset({OperationKind.RETRIEVER})
RERANKER_KINDS = frozenset({OperationKind.RERANKER})
TOOL_KINDS = frozenset({OperationKind.TOOL})
DOCUMENT_KINDS = RETRIEVER_KINDS | RERANKER_KINDS | TOOL_KINDS
