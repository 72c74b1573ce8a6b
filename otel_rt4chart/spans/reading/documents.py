"""Reads documents that were retrieved, reranked or returned by a tool, in every known form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from otel_rt4chart.core.text import MAX_NAME_CHARS, bounded_name
from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES
from otel_rt4chart.spans.model.values import (
    as_list,
    as_mapping,
    as_number,
    as_text,
    nest_dotted_keys,
    parse_json,
)
from otel_rt4chart.spans.reading.messages import is_placeholder, read_content
from otel_rt4chart.verify.core.model import Passage

MAX_DEPTH = 8
# Python's `repr` of an object, such as LlamaIndex's nodes: it is not the document's text.
PYTHON_OBJECT = re.compile(r"<[A-Z]\w*\(")
# OpenTelemetry does not define the key of a document's text; these are in use.
CONTENT_KEYS = (
    "content", "text", "page_content", "document", "body", "chunk", "snippet", "passage",
)  # fmt: skip
ID_KEYS = ("id", "doc_id", "document_id", "chunk_id", "node_id", "_id", "id_")
SCORE_KEYS = ("score", "relevance_score", "similarity", "_score")
# Metadata that name a document, and the part of it. The exact ones first.
NAME_KEYS = (
    "id", "_id", "id_", "node_id", "doc_id", "document_id", "ref_doc_id", "source", "file_path",
    "path", "file_name", "filename", "url", "source_url",
)  # fmt: skip
PAGE_KEYS = ("page_label", "page", "page_number")
CHUNK_KEYS = ("chunk_id", "chunk_index", "chunk", "chunk_number", "start_index")
METADATA_KEYS = ("metadata", "entity", "payload", "extra_info", "meta")
# Keys of wrappers around a document, and of wrappers around a list of documents.
DOCUMENT_WRAPPERS = ("document", "node", "kwargs")
WRAPPER_FIELDS = ("id", "lc", "type")
LIST_WRAPPERS = (
    "documents", "source_documents", "retrieved_documents", "docs", "results", "matches",
    "hits", "nodes", "source_nodes", "passages", "chunks", "contexts", "context",
    "retrieved_contexts", "data", "result", "output", "outputs", "response",
)  # fmt: skip
# Fields of a document that are neither its text nor metadata.
NO_METADATA = {*ID_KEYS, *SCORE_KEYS, *CONTENT_KEYS, "role", "type", "embedding", "vector"}
DOCUMENT_FIELDS = {*ID_KEYS, *SCORE_KEYS, *METADATA_KEYS} | {
    "distance", "vector", "embedding", "type", "role", "lc", "name", "title", "source", "url",
    "status", "isError", "artifact", "tool_call_id", "additional_kwargs", "response_metadata",
    "annotations", "index",
}  # fmt: skip
# A result of a tool of the Model Context Protocol, and the most parts of it that are read.
MCP_FIELDS = {"content", "isError", "is_error", "structuredContent", "meta", "_meta"}
MAX_PARTS = 1_000

# A document that needs no unwrapping: see `is_flat_document`.
FLAT_DOCUMENT = "document."
FLAT_CONTENT = f"{FLAT_DOCUMENT}content"

DocumentsFound = tuple[tuple[Passage, ...], bool]


def read_documents(value: object) -> DocumentsFound:
    """The documents in a value, and whether any of them was redacted."""
    items = list(_find_documents(value, 0))
    found = [(passage, item) for item in items if (passage := _passage(item)).text]
    return _distinct(found), any(map(_has_placeholder, items))


def has_whole_documents(value: object) -> bool | None:
    """True for documents; False if any of them was redacted; None if there are none."""
    items = list(_find_documents(value, 0))
    if any(map(_has_placeholder, items)):
        return False
    return any(map(_text, items)) or None


def is_flat_document(row: Mapping[str, object]) -> bool:
    """True for a document with dotted keys that has a text, and nothing redacted: certainly.

    Of OpenInference, whose retrievals have one key for each field of each document.
    """
    content = row.get(FLAT_CONTENT)
    return isinstance(content, str) and content != "" and all(map(_is_flat_field, row.items()))


def _is_flat_field(field: tuple[str, object]) -> bool:
    key, value = field
    is_placed = key.startswith(FLAT_DOCUMENT) and not key.startswith(f"{FLAT_CONTENT}.")
    return is_placed and not (isinstance(value, str) and is_placeholder(value))


def has_explicit_ids(value: object) -> bool:
    """True if the first document in a value has an id itself."""
    return any(bool(_own_id(item)) for item in islice(_find_documents(value, 0), 1))


def explicit_ids(value: object) -> dict[str, str]:
    """The ids that documents in a value have themselves, by their texts."""
    items = ((_text(item), _own_id(item)) for item in _find_documents(value, 0))
    return {text: name for text, name in items if text and name}


def read_tool_result(value: object, text: str) -> DocumentsFound:
    """The result of a tool: documents if it has that shape, else one passage of its `text`.

    A row with further columns is no document: the question may be about one of them.
    """
    value, text = _without_envelope(value, text)
    items = list(_find_documents(value, 0)) if not isinstance(value, str) else []
    if items and all(_is_document(item) for item in items):
        return read_documents(value)
    if is_placeholder(text):
        return (), True
    return ((_passage({"content": text}),) if text.strip() else ()), False


def _without_envelope(value: object, text: str) -> tuple[object, str]:
    """The value and the text of a result of the Model Context Protocol without what is around it.

    Its parts are texts, of which each may be a document in JSON. Clients put these one below the
    other; OpenLLMetry records the first as `result`.
    """
    if isinstance(value, Mapping):
        parts = value.get("content")
        if value.keys() <= MCP_FIELDS and isinstance(parts, list | tuple) and parts:
            texts = [one.get("text") if isinstance(one, Mapping) else None for one in parts]
            text = "\n".join(one for one in texts if isinstance(one, str))
        elif value.keys() == {"result"} and isinstance(value["result"], str):
            text = value["result"]
        else:
            return value, text
        value = parse_json(text).value
    return (_json_below_each_other(text) or None) if value is None else value, text


def _json_below_each_other(text: str) -> list[object]:
    """The maps that a text of several JSON maps has; empty for any other text."""
    found: list[object] = []
    at, decoder = 0, json.JSONDecoder()
    while (at := _next_word(text, at)) < len(text):
        if text[at] != "{" or len(found) >= MAX_PARTS:
            return []
        try:
            one, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        found.append(one)
    return found


def _next_word(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def read_template_context(variables: Mapping[str, object]) -> DocumentsFound:
    """The context among the variables of a prompt template; never the question."""
    passages: tuple[Passage, ...] = ()
    is_redacted = False
    for name, value in variables.items():
        if name.lower() in CONTEXT_NAMES:
            parsed = parse_json(value).value or value if isinstance(value, str) else value
            found, redacted = read_documents(parsed)
            passages += found
            is_redacted |= redacted
    return passages, is_redacted


def _find_documents(value: object, depth: int) -> Iterator[Mapping[str, object]]:
    """The maps that are documents, at any depth; a string is a document itself."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if not PYTHON_OBJECT.match(value):
            yield {"content": value}
    elif isinstance(value, Mapping):
        if rows := as_list(value) or _rows_from_columns(value):
            yield from _find_documents(rows, depth + 1)
            return
        item = _unwrapped(value)
        if _text(item) or _has_placeholder(item):
            yield item
            return
        inner = next((value[name] for name in LIST_WRAPPERS if value.get(name)), None)
        if inner is not None and not isinstance(inner, str):
            yield from _find_documents(inner, depth + 1)
    else:
        for element in as_list(value):
            yield from _find_documents(element, depth + 1)


def _rows_from_columns(value: Mapping[str, object]) -> list[object]:
    """Rows from Chroma's result: parallel lists of ids and texts, for each query."""
    ids, texts = value.get("ids"), value.get("documents")
    if not isinstance(ids, list | tuple) or not isinstance(texts, list | tuple):
        return []
    if all(isinstance(column, list | tuple) for column in (*ids, *texts)):
        ids, texts = (list(chain.from_iterable(columns)) for columns in (ids, texts))
    if len(ids) != len(texts):
        return []
    return [{"id": name, "content": text} for name, text in zip(ids, texts, strict=True)]


def _unwrapped(item: Mapping[str, object]) -> Mapping[str, object]:
    """A document without its wrapper, whose fields, such as the score, are kept."""
    if any("." in key for key in item):
        item = nest_dotted_keys(item)
    for name in DOCUMENT_WRAPPERS:
        inner = item.get(name)
        if isinstance(inner, Mapping):
            outer = {
                key: value for key, value in item.items() if key not in (name, *WRAPPER_FIELDS)
            }
            return {**outer, **inner}
    return item


def _text(item: Mapping[str, object]) -> str:
    return _text_of(item) or _text_of(_named_metadata(item))


def _text_of(item: Mapping[str, object]) -> str:
    # In the order of preference: a document may have both a text and a `snippet` of it.
    for name in CONTENT_KEYS:
        value = item.get(name)
        if isinstance(value, str) and value:
            return "" if is_placeholder(value) else value
        if value and (text := read_content(value).text):
            return text
    return ""


def _metadata(item: Mapping[str, object]) -> Mapping[str, object]:
    """The metadata, or the fields beside the text if there is no key for metadata."""
    if any(item.get(name) is not None for name in METADATA_KEYS):
        return _named_metadata(item)
    return as_mapping({key: value for key, value in item.items() if key not in NO_METADATA})


def _named_metadata(item: Mapping[str, object]) -> Mapping[str, object]:
    named = _first_value(item, METADATA_KEYS)
    return as_mapping(named) if named is not None else {}


def _passage(item: Mapping[str, object]) -> Passage:
    """A document as a passage; its id is its own, else from its metadata, else of its text."""
    content, metadata = _text(item), _metadata(item)
    return Passage(
        id=_own_id(item) or _name_in_metadata(metadata) or content_id(content),
        text=content,
        score=as_number(_first_value(item, SCORE_KEYS)),
        metadata=metadata,
    )


def _own_id(item: Mapping[str, object]) -> str:
    name = as_text(_first_value(item, ID_KEYS))
    # It is stored with every sentence that is evidence, and with every answer that saw the passage.
    return name if len(name) <= MAX_NAME_CHARS else bounded_name(name)


def _name_in_metadata(metadata: Mapping[str, object]) -> str:
    """The name of the document with its page and chunk: `returns.pdf#page=3&chunk=2`."""
    name, page, chunk = (_short_text(metadata, keys) for keys in (NAME_KEYS, PAGE_KEYS, CHUNK_KEYS))
    if not name:
        return _short_text(metadata, CHUNK_KEYS[:1])
    parts = [f"{key}={value}" for key, value in (("page", page), ("chunk", chunk)) if value]
    return f"{name}#{'&'.join(parts)}" if parts else name


def _short_text(metadata: Mapping[str, object], names: tuple[str, ...]) -> str:
    values = (metadata.get(name) for name in names)
    texts = (str(one).strip() for one in values if isinstance(one, str | int | float))
    return next((text for text in texts if text and len(text) <= MAX_NAME_CHARS), "")


def _distinct(found: Sequence[tuple[Passage, Mapping[str, object]]]) -> tuple[Passage, ...]:
    """The passages; chunks that share a name from their metadata get the digest of their text."""
    texts: dict[str, set[str]] = {}
    for passage, _ in found:
        texts.setdefault(passage.id, set()).add(passage.text)
    return tuple(
        passage
        if len(texts[passage.id]) == 1 or _own_id(item)
        else replace(passage, id=f"{passage.id}#{_digest(passage.text)}")
        for passage, item in found
    )


def content_id(content: str) -> str:
    """The id of a text that has none; equal texts have equal ids."""
    return f"sha256:{_digest(content)}"


def _digest(content: str) -> str:
    # `surrogatepass`, because JSON escapes can produce lone surrogates, which UTF-8 rejects.
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _first_value(item: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _has_placeholder(item: Mapping[str, object]) -> bool:
    return any(isinstance(value, str) and is_placeholder(value) for value in item.values())


def _is_document(item: Mapping[str, object]) -> bool:
    return sum(key in CONTENT_KEYS for key in item) <= 1 and all(
        key in DOCUMENT_FIELDS or key in CONTENT_KEYS for key in item
    )
