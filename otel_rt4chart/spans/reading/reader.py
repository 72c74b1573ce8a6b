"""`read_span`: the kind of a span, then each field from the first source that has a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from otel_rt4chart.core.semconv import SHORTENED_ATTRIBUTES
from otel_rt4chart.spans.conventions.convention import (
    CONTEXT_NAMES,
    FIELDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.conventions.registry import (
    ATTRIBUTE_KEYS,
    CONVENTIONS,
    DATASTORE_ATTRIBUTES,
    DERIVED_ATTRIBUTES,
    DISTINCTIVE_PREFIXES,
    EVENTS,
    JSON_KEYS,
    KEY_PREFIXES,
    KIND_ATTRIBUTES,
    PREFIXES_BY_CONVENTION,
    SCOPES,
    SOURCES_BY_FIELD,
    VARIABLE_KEYS,
)
from otel_rt4chart.spans.model.record import Attributes, SpanEvent, SpanRecord
from otel_rt4chart.spans.model.shortening import is_shortened
from otel_rt4chart.spans.model.span_view import ChatMessage, OperationKind, SpanView
from otel_rt4chart.spans.model.values import as_mapping, as_text, nest_dotted_keys, parse_json
from otel_rt4chart.spans.reading.documents import (
    explicit_ids,
    has_explicit_ids,
    read_documents,
    read_template_context,
    read_tool_result,
)
from otel_rt4chart.spans.reading.messages import (
    calls_tools,
    input_text,
    is_empty_output,
    is_left_over,
    is_placeholder,
    is_written_empty,
    last_text,
    output_text,
    read_messages,
    result_text,
)
from otel_rt4chart.verify.core.model import Passage

# The first number in a key is the index in a list: `llm.input_messages.0.message.role`.
INDEX = re.compile(r"\.([0-9]{1,6})(?:\.|\Z)")
IndexedRows = dict[int, dict[str, object]]


class Origin(Enum):
    """Whether a value was one attribute, or many keys or events of which a limit may drop some."""

    WHOLE = auto()
    KEYS = auto()
    EVENTS = auto()


@dataclass(frozen=True, slots=True)
class RawValue:
    """The value of a key: text or a structure; None if there is none, or if it `is_cut`."""

    value: object = None
    is_cut: bool = False
    origin: Origin = Origin.WHOLE


class AttributeIndex:
    """The attributes and events of a span, indexed by the keys of the convention tables.

    `present` are the keys of the tables that have a value, in one attribute, in many, or in events;
    `prefixes` are the known first parts of the span's keys. A value that was shortened to be stored
    is not used: its key is cut, and so is that of a list one of whose items was shortened.
    """

    __slots__ = ("_cut", "_events", "_parsed", "_rows", "attributes", "prefixes", "present", "span")

    def __init__(self, span: SpanRecord) -> None:
        """One pass over keys and names of events; values are parsed on first access."""
        self.span = span
        # Only in such a span is the mark at the end of a text ours, and not a part of the text.
        is_shortened_span = span.shortened_attributes or SHORTENED_ATTRIBUTES in span.attributes
        self._cut: set[str] | None = set() if is_shortened_span else None
        self.attributes: Mapping[str, object] = self._whole(span.attributes)
        self.prefixes: set[str] = set()
        self.present: set[str] = set()
        self._rows: dict[str, IndexedRows] = {}
        self._events: dict[str, list[object]] = {}
        self._parsed: dict[str, RawValue] = {}
        self._index_keys(span.attributes)
        for event in span.events:
            if event.name in EVENTS:
                self._add_event(event)
        for key in DERIVED_ATTRIBUTES:
            if key in self.attributes:
                self._derive(key)

    @property
    def has_known_convention(self) -> bool:
        """True if a convention knows any key, event or the scope of the span."""
        return bool(
            self.present
            or not self.prefixes.isdisjoint(DISTINCTIVE_PREFIXES)
            or self.span.scope_name.startswith(SCOPES)
        )

    def has(self, key: str) -> bool:
        """True if the key has a value or is the first part of one that has."""
        return key in self.present or key in self.prefixes

    def text(self, key: str) -> str:
        """The attribute as text, JSON or not."""
        return as_text(self.attributes.get(key))

    def is_cut(self, key: str) -> bool:
        """True if the value of the key, or a part of it, was shortened to be stored."""
        return self._cut is not None and key in self._cut

    def rows(self, key: str) -> Collection[Mapping[str, object]]:
        """The rows of a list that only flattened keys hold, each with the rest of its keys."""
        is_flat = key not in self.attributes and not self.is_cut(key)
        return self._rows.get(key, {}).values() if is_flat else ()

    def raw(self, key: str) -> RawValue:
        """The value of the key: JSON, a structure, flattened keys, events, or plain text."""
        found = self._parsed.get(key)
        if found is None:
            found = self._parsed[key] = self._open(key)
        return found

    def _open(self, key: str) -> RawValue:
        if self.is_cut(key):
            return RawValue(is_cut=True)
        value = self.attributes.get(key)
        is_cut = False
        if isinstance(value, str):
            parsed = parse_json(value)
            if parsed.is_json:
                return RawValue(parsed.value)
            # An unterminated quotation is plain text, except under a key that only holds JSON.
            is_cut = parsed.is_cut and (key in JSON_KEYS or not value.lstrip().startswith('"'))
        elif value is not None:
            return RawValue(value)
        if rows := self._rows.get(key):
            return RawValue([_list_item(rows[index]) for index in sorted(rows)], origin=Origin.KEYS)
        if events := self._events.get(key):
            return RawValue(events, origin=Origin.EVENTS)
        return RawValue(is_cut=True) if is_cut else RawValue(value)

    def _index_keys(self, attributes: Attributes) -> None:
        for key in attributes:
            prefix = key.partition(".")[0]
            if prefix not in KEY_PREFIXES:
                continue
            self.prefixes.add(prefix)
            if key in ATTRIBUTE_KEYS:
                start = key
            elif key in VARIABLE_KEYS:
                start = VARIABLE_KEYS[key]
            elif (found := INDEX.search(key)) and (start := key[: found.start()]) in ATTRIBUTE_KEYS:
                rows = self._rows.setdefault(start, {})
                rows.setdefault(int(found[1]), {})[key[found.end() :]] = attributes[key]
            else:
                continue
            self.present.add(start)
            if self._cut is not None and is_shortened(attributes[key]):
                self._cut.add(start)

    def _whole(self, attributes: Attributes) -> Attributes:
        """The attributes without those that were shortened."""
        if self._cut is None:
            return attributes
        return {key: value for key, value in attributes.items() if not is_shortened(value)}

    def _add_event(self, event: SpanEvent) -> None:
        mapping = EVENTS[event.name]
        if not mapping.key:
            # Attributes of the span itself take precedence.
            self.attributes = {**self._whole(event.attributes), **self.attributes}
            self._index_keys(event.attributes)
            return
        if self._cut is not None and any(map(is_shortened, event.attributes.values())):
            self._cut.add(mapping.key)
        item: dict[str, object] = {
            key.removeprefix(mapping.prefix): value for key, value in event.attributes.items()
        }
        if mapping.body:
            item |= as_mapping(item.pop(mapping.body, None))
        self._events.setdefault(mapping.key, []).append({"role": mapping.role, **item})
        self.present.add(mapping.key)

    def _derive(self, key: str) -> None:
        if derived := DERIVED_ATTRIBUTES[key](self.raw(key).value, self.attributes):
            self.attributes = {**derived, **self.attributes}
            self.present.update(derived)


def _list_item(row: dict[str, object]) -> object:
    """An item of a flattened list; a scalar has no name after its index."""
    return row[""] if "" in row and len(row) == 1 else nest_dotted_keys(row)


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of a field from one source, and whether text was redacted or cut.

    `is_blank` says that the source was recorded, and recorded without text.
    """

    text: str = ""
    messages: tuple[ChatMessage, ...] = ()
    passages: tuple[Passage, ...] = ()
    calls_tools: bool = False
    is_redacted: bool = False
    is_cut: bool = False
    is_blank: bool = False
    origin: Origin = Origin.WHOLE

    @property
    def is_empty(self) -> bool:
        """True if there is no usable value."""
        return not (self.text or self.messages or self.passages or self.calls_tools)


@dataclass(frozen=True, slots=True)
class FieldSource:
    """A source, with the span and the field for which it is read."""

    index: AttributeIndex
    source: AttributeSource
    field: str
    kind: OperationKind


NO_VALUE = FieldValue()


def read_field(index: AttributeIndex, field: str, kind: OperationKind) -> FieldValue:
    """The field from the first source with a value; else why there is no text."""
    lost = NO_VALUE
    for source in SOURCES_BY_FIELD[field][kind]:
        # The index makes a source that is absent, which nearly all are, cost one lookup.
        if source.key not in index.present:
            continue
        if source.scope and not index.span.scope_name.startswith(source.scope):
            continue
        at = FieldSource(index, source, field, kind)
        found = READERS[source.shape](at)
        if field == "output" and kind is OperationKind.LLM and is_left_over(found.text):
            found = FieldValue(is_blank=True, origin=found.origin)
        if not found.is_empty:
            return _with_explicit_ids(found, at) if found.passages else found
        if found.is_redacted or found.is_cut or found.is_blank:
            lost = FieldValue(
                is_redacted=lost.is_redacted or found.is_redacted,
                is_cut=lost.is_cut or found.is_cut,
                is_blank=lost.is_blank or found.is_blank,
            )
    return lost


def _with_explicit_ids(found: FieldValue, at: FieldSource) -> FieldValue:
    """The documents of a retrieval with the ids that another of its sources has for their texts.

    OpenInference's LangChain package writes the ids into the output alone.
    """
    if at.kind not in (OperationKind.RETRIEVER, OperationKind.RERANKER):
        return found
    sources = SOURCES_BY_FIELD[at.field][at.kind]
    others = [one for one in sources if one.key in at.index.present and one != at.source]
    # Most spans have one source.
    if not others or has_explicit_ids(_raw_value(at).value):
        return found
    names: dict[str, str] = {}
    for source in others:
        names = {**explicit_ids(at.index.raw(source.key).value), **names}
    named = (replace(one, id=names.get(one.text, one.id)) for one in found.passages)
    return replace(found, passages=tuple(named)) if names else found


def _read_text(at: FieldSource) -> FieldValue:
    if at.index.is_cut(at.source.key):
        return FieldValue(is_cut=True)
    text = at.index.text(at.source.key)
    if is_placeholder(text):
        return FieldValue(is_redacted=True)
    return FieldValue(text, is_blank=not text.strip())


def _read_whole(at: FieldSource) -> FieldValue:
    raw, original = _raw_value(at), at.index.text(at.source.key)
    if raw.value is None:
        return FieldValue(is_cut=raw.is_cut, is_blank=not raw.is_cut)
    if isinstance(raw.value, str) and is_placeholder(raw.value):
        return FieldValue(is_redacted=True)
    if at.field == "input":
        return FieldValue(input_text(raw.value, original), origin=raw.origin)
    if at.kind is OperationKind.TOOL:
        return FieldValue(result_text(raw.value, original), origin=raw.origin)
    if at.kind is OperationKind.LLM and calls_tools(raw.value):
        text = output_text(raw.value, "")
        return FieldValue(text, calls_tools=True, origin=raw.origin)
    text = output_text(raw.value, original)
    if is_written_empty(text):
        return FieldValue(is_blank=True, origin=raw.origin)
    return FieldValue(text, origin=raw.origin)


def _read_messages(at: FieldSource) -> FieldValue:
    raw = _raw_value(at)
    role = at.source.role or ("assistant" if at.field == "output" else "user")
    if at.field == "prompt" and isinstance(raw.value, str):
        # A whole prompt, not a turn of a conversation: it may hold more than the user's words.
        role = "prompt"
    found, is_redacted = read_messages(raw.value, role=role)
    lost = FieldValue(is_redacted=is_redacted, is_cut=raw.is_cut, origin=raw.origin)
    if at.field != "output":
        return replace(lost, messages=found)
    calls = any(message.calls_tools for message in found)
    if at.source.shape is ValueShape.LAST:
        return replace(lost, text=last_text(found, role="assistant"))
    text = "\n".join(message.text for message in found if message.text)
    is_blank = not text and not raw.is_cut and is_empty_output(raw.value)
    return replace(lost, text=text, calls_tools=calls, is_blank=is_blank)


def _read_calls(at: FieldSource) -> FieldValue:
    raw = _raw_value(at)
    return FieldValue(calls_tools=bool(raw.value) or raw.is_cut)


def _read_documents(at: FieldSource) -> FieldValue:
    raw = _raw_value(at)
    if at.kind is OperationKind.TOOL and raw.value is not None:
        original = at.index.text(at.source.key)
        found, is_redacted = read_tool_result(
            raw.value, raw.value if isinstance(raw.value, str) else original
        )
    else:
        found, is_redacted = read_documents(raw.value)
    return FieldValue(
        passages=found, is_redacted=is_redacted, is_cut=raw.is_cut, origin=raw.origin
    )  # fmt: skip


def _read_variables(at: FieldSource) -> FieldValue:
    raw = _raw_value(at)
    if at.index.is_cut(at.source.key):
        return FieldValue(is_cut=True)
    variables = as_mapping(raw.value) if isinstance(raw.value, Mapping) else {}
    attributes = at.index.attributes
    keys = {name: f"{at.source.key}.{name}" for name in CONTEXT_NAMES}
    separate = {name: attributes[key] for name, key in keys.items() if key in attributes}
    found, is_redacted = read_template_context(variables or separate)
    is_hidden = isinstance(raw.value, str) and is_placeholder(raw.value)
    return FieldValue(passages=found, is_redacted=is_redacted or is_hidden, is_cut=raw.is_cut)


def _raw_value(at: FieldSource) -> RawValue:
    return at.index.raw(at.source.key)


READERS: Mapping[ValueShape, Callable[[FieldSource], FieldValue]] = {
    ValueShape.TEXT: _read_text,
    ValueShape.WHOLE: _read_whole,
    ValueShape.JSON: _read_whole,
    ValueShape.MESSAGES: _read_messages,
    ValueShape.LAST: _read_messages,
    ValueShape.CALLS: _read_calls,
    ValueShape.DOCUMENTS: _read_documents,
    ValueShape.VARIABLES: _read_variables,
}


# The fields that matter for a kind: if one was lost, the span is redacted or truncated.
NEEDED_FIELDS = {
    OperationKind.LLM: ("output", "prompt"),
    OperationKind.RETRIEVER: ("documents",),
    OperationKind.RERANKER: ("documents",),
    OperationKind.TOOL: ("documents",),
    OperationKind.PROMPT: ("variables",),
}


def read_span(span: SpanRecord) -> SpanView:
    """Read one span; never raises, whatever its attributes hold.

    A span without a recognised kind has the kind NONE; its input and output are read all the same.
    """
    index = AttributeIndex(span)
    # Most spans of an application are of HTTP or a database: they are not read any further.
    if not index.has_known_convention:
        return SpanView(span)
    kind, convention = detect_kind(index)
    found = {field: read_field(index, field, kind) for field in FIELDS}
    needed = [found[field] for field in NEEDED_FIELDS.get(kind, ("input", "output"))]
    output, system = found["output"], found["system"]
    return SpanView(
        span=span,
        kind=kind,
        input=found["input"].text,
        output=output.text,
        # Half a prompt may lack passages: it is none.
        prompt=() if system.is_cut else system.messages + found["prompt"].messages,
        documents=found["documents"].passages,
        input_documents=found["input_documents"].passages,
        variables=found["variables"].passages,
        is_datastore=any(index.text(key) == value for key, value in DATASTORE_ATTRIBUTES.items()),
        model=found["model"].text,
        prompt_version=found["prompt_version"].text,
        session=found["session"].text,
        is_redacted=any(value.is_redacted for value in needed),
        is_truncated=any(value.is_cut for value in (*needed, system, found["variables"]))
        or (kind in NEEDED_FIELDS and _may_have_lost_values(span, needed)),
        calls_tools_only=output.calls_tools and not output.text,
        is_blank=output.is_blank and output.is_empty,
        convention=convention,
    )


def detect_kind(index: AttributeIndex) -> tuple[OperationKind, str]:
    """The kind and its convention: by attribute, else by the span's name, else by keys."""
    return (
        kind_by_attribute(index.attributes)
        or _kind_by_name(index)
        or _kind_by_keys(index)
        or (OperationKind.NONE, "")
    )


def kind_by_attribute(attributes: Mapping[str, object]) -> tuple[OperationKind, str] | None:
    """The kind that an attribute names, and its convention; a vague one if no other names one."""
    fallback: tuple[OperationKind, str] | None = None
    for convention, attribute, kinds in KIND_ATTRIBUTES:
        if attribute not in attributes:
            continue
        # MLflow writes JSON, with quotation marks.
        value = as_text(attributes[attribute]).strip('" ').lower()
        if value in kinds:
            if value not in convention.vague:
                return kinds[value], convention.name
            fallback = fallback or (kinds[value], convention.name)
    return fallback


def kind_from_attributes(attributes: Mapping[str, object]) -> OperationKind:
    """The kind that an attribute names: a few lookups instead of a pass over all keys."""
    for _, attribute, kinds in KIND_ATTRIBUTES:
        # Asked before it is read: this runs for every span of an application, and most have none.
        if attribute in attributes:
            value = attributes[attribute]
            if isinstance(value, str) and (kind := kinds.get(value.strip('" ').lower())):
                return kind
    return OperationKind.NONE


def _kind_by_keys(index: AttributeIndex) -> tuple[OperationKind, str] | None:
    for convention in CONVENTIONS:
        for key, kind in convention.hints:
            if index.has(key):
                return kind, convention.name
    return None


def _kind_by_name(index: AttributeIndex) -> tuple[OperationKind, str] | None:
    """By the span's name, with a key or scope of the convention: any span may be named `chat`."""
    for convention in CONVENTIONS:
        for prefix, kind in convention.names:
            if index.span.name.startswith(prefix) and _is_written_by(index, convention):
                return kind, convention.name
    return None


def _is_written_by(index: AttributeIndex, convention: Convention) -> bool:
    return not index.prefixes.isdisjoint(PREFIXES_BY_CONVENTION[convention.name]) or (
        index.span.scope_name.startswith(convention.scopes)
    )


def _may_have_lost_values(span: SpanRecord, needed: Iterable[FieldValue]) -> bool:
    """True if a limit on attributes or events may have dropped what is missing."""
    attributes, events = span.dropped_attributes > 0, span.dropped_events > 0
    lost = {
        Origin.WHOLE: False,
        Origin.KEYS: attributes,
        Origin.EVENTS: events,
    }
    return any((attributes or events) if value.is_empty else lost[value.origin] for value in needed)
