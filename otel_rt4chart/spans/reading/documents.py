"""Documents that were retrieved, reranked or returned by a tool, in every form they come in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import chain

from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.reading.messages import is_placeholder, said
from otel_rt4chart.verify.core.model import Passage

MAX_DEPTH = 8
# What Python shows of an object, such as LlamaIndex's nodes: it holds a text, but is none.
OBJECT = re.compile(r"<[A-Z]\w*\(")
# OpenTelemetry leaves the key of a document's text open: what its instrumentations write.
CONTENT_KEYS = (
    "content", "text", "page_content", "document", "body", "chunk", "snippet", "passage",
)  # fmt: skip
ID_KEYS = ("id", "doc_id", "document_id", "chunk_id", "node_id", "_id", "id_")
SCORE_KEYS = ("score", "relevance_score", "similarity", "_score")
METADATA_KEYS = ("metadata", "entity", "payload", "extra_info", "meta")
# What stands around a document, and what stands around a list of them.
AROUND_ONE = ("document", "node", "kwargs")
NO_FIELDS = ("id", "lc", "type")
AROUND_MANY = (
    "documents", "source_documents", "retrieved_documents", "docs", "results", "matches",
    "hits", "nodes", "source_nodes", "passages", "chunks", "contexts", "context",
    "retrieved_contexts", "data", "result", "output", "outputs", "response",
)  # fmt: skip
# What a document may have beside its text that is no part of what it says.
NO_METADATA = {*ID_KEYS, *SCORE_KEYS, *CONTENT_KEYS, "role", "type", "embedding", "vector"}
BESIDE = {*ID_KEYS, *SCORE_KEYS, *METADATA_KEYS} | {
    "distance", "vector", "embedding", "type", "role", "lc", "name", "title", "source", "url",
    "status", "isError", "artifact", "tool_call_id", "additional_kwargs", "response_metadata",
    "annotations", "index",
}  # fmt: skip

Found = tuple[tuple[Passage, ...], bool]


def documents(value: object) -> Found:
    """The documents in a value, and whether a placeholder stood for any of them."""
    items = list(_items(value, 0))
    found = [_passage(item) for item in items]
    return tuple(one for one in found if one.text), any(map(_is_hidden, items))


def results(value: object, text: str) -> Found:
    """What a tool returned: documents where it has that shape, else one passage of its `text`.

    A row with more than a text in it is no document: what else it says may be what was asked.
    """
    items = list(_items(value, 0)) if not isinstance(value, str) else []
    if items and all(_is_document(item) for item in items):
        return documents(value)
    if is_placeholder(text):
        return (), True
    return ((_passage({"content": text}),) if text.strip() else ()), False


def context(variables: Mapping[str, object]) -> Found:
    """The context among a prompt template's variables; never the question."""
    passages: tuple[Passage, ...] = ()
    is_redacted = False
    for name, value in variables.items():
        if name.lower() in CONTEXT_NAMES:
            whole = values.opened(value).value or value if isinstance(value, str) else value
            found, hidden = documents(whole)
            passages += found
            is_redacted |= hidden
    return passages, is_redacted


def _items(value: object, depth: int) -> Iterator[Mapping[str, object]]:
    """The maps that are documents, wherever they stand; a text is a document of its own."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if not OBJECT.match(value):
            yield {"content": value}
    elif isinstance(value, Mapping):
        if rows := values.listed(value) or _columns(value):
            yield from _items(rows, depth + 1)
            return
        item = _opened(value)
        if _text(item) or _is_hidden(item):
            yield item
            return
        inner = next((value[name] for name in AROUND_MANY if value.get(name)), None)
        if inner is not None and not isinstance(inner, str):
            yield from _items(inner, depth + 1)
    else:
        for one in values.listed(value):
            yield from _items(one, depth + 1)


def _columns(value: Mapping[str, object]) -> list[object]:
    """Chroma's answer: a list of ids beside one of texts, each for every query."""
    ids, texts = value.get("ids"), value.get("documents")
    if not isinstance(ids, list | tuple) or not isinstance(texts, list | tuple):
        return []
    if all(isinstance(one, list | tuple) for one in (*ids, *texts)):
        ids, texts = (list(chain.from_iterable(columns)) for columns in (ids, texts))
    if len(ids) != len(texts):
        return []
    return [{"id": name, "content": one} for name, one in zip(ids, texts, strict=True)]


def _opened(item: Mapping[str, object]) -> Mapping[str, object]:
    """A document without what stands around it; the score may stand outside."""
    if any("." in key for key in item):
        item = values.nested(item)
    for name in AROUND_ONE:
        inner = item.get(name)
        if isinstance(inner, Mapping):
            outer = {key: one for key, one in item.items() if key not in (name, *NO_FIELDS)}
            return {**outer, **inner}
    return item


def _text(item: Mapping[str, object]) -> str:
    return _text_of(item) or _text_of(_named_metadata(item))


def _text_of(item: Mapping[str, object]) -> str:
    for name in CONTENT_KEYS:
        value = item.get(name)
        if isinstance(value, str) and value:
            return "" if is_placeholder(value) else value
        if value and (text := said(value).text):
            return text
    return ""


def _metadata(item: Mapping[str, object]) -> Mapping[str, object]:
    """The metadata, or, where none is named, what stands beside the text."""
    if any(item.get(name) is not None for name in METADATA_KEYS):
        return _named_metadata(item)
    return values.mapping({key: one for key, one in item.items() if key not in NO_METADATA})


def _named_metadata(item: Mapping[str, object]) -> Mapping[str, object]:
    named = _first(item, METADATA_KEYS)
    return values.mapping(named) if named is not None else {}


def _passage(item: Mapping[str, object]) -> Passage:
    """A document; one without an id gets one from its content, the same wherever it occurs."""
    content = _text(item)
    name = values.text(_first(item, ID_KEYS))
    return Passage(
        id=name or content_id(content),
        text=content,
        score=values.number(_first(item, SCORE_KEYS)),
        metadata=_metadata(item),
    )


def content_id(content: str) -> str:
    """The id of a text that has none: the same wherever it occurs."""
    return f"sha256:{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _first(item: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _is_hidden(item: Mapping[str, object]) -> bool:
    return any(isinstance(one, str) and is_placeholder(one) for one in item.values())


def _is_document(item: Mapping[str, object]) -> bool:
    return sum(key in CONTENT_KEYS for key in item) <= 1 and all(
        key in BESIDE or key in CONTENT_KEYS for key in item
    )
