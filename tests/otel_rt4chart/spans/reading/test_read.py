"""What holds for every span, whatever its attributes hold."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_rt4chart.spans.conventions.registry import (
    ATTRIBUTE_KEYS,
    CONVENTIONS,
    EVENTS,
    KIND_ATTRIBUTES,
    kind_indicators,
)
from otel_rt4chart.spans.model.record import SpanEvent, SpanRecord
from otel_rt4chart.spans.model.shortening import shorten_text
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.reading.reader import read_span
from tests.otel_rt4chart.spans.conventions.golden.all import GOLDEN

WORDS = (
    "message", "content", "contents", "parts", "kwargs", "role", "type", "text", "document", "id",
    "metadata", "messages", "documents", "ids", "choices", "tool_calls", "0", "1", "", "context",
    "\ud800", "human", "system", "reasoning",
    "__REDACTED__", "{'a': 1}", "{\"a\": [1", "null", "[]",
)  # fmt: skip
NAMED = st.sampled_from(WORDS) | st.text(max_size=5)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | NAMED,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.dictionaries(NAMED, inner),
    max_leaves=12,
)
GIVEN = VALUES | VALUES.map(lambda value: json.dumps(value)) | st.just("x" * 99)
STEMS = st.sampled_from(sorted(ATTRIBUTE_KEYS))
TAILS = st.lists(NAMED, max_size=4).map(lambda words: "".join(f".{word}" for word in words))
NAMES = st.builds(str.__add__, STEMS, TAILS)
LLM = ("openinference.span.kind", "LLM")
KINDS = st.sampled_from(
    [(attribute, value) for _, attribute, kinds in KIND_ATTRIBUTES for value in kinds]
)


def span(attributes: Mapping[str, object], **more: object) -> SpanRecord:
    """A finished span."""
    return SpanRecord("a" * 32, "b" * 16, "s", 1, 2, attributes=attributes, **more)  # type: ignore[arg-type]


@given(KINDS, st.dictionaries(NAMES, GIVEN, max_size=6), st.integers(0, 1))
@example(LLM, {"events.0": "x"}, 0)
@example(LLM, {"llm.input_messages": ({"role": "user", "content": ({"type": ["a"]},)},)}, 0)
@example(LLM, {"llm.input_messages": ({"role": "user", "parts": ({"type": {}},)},)}, 0)
@example(LLM, {"llm.output_messages": ({"type": {"a": "b"}},)}, 0)
@example(LLM, {"output.value": "[" * 100_000}, 0)
@example(LLM, {"output.value": '{"messages":' * 900 + "1" + "}" * 900}, 0)
def test_any_attributes_are_read(
    kind: tuple[str, str], attributes: Mapping[str, object], dropped: int
) -> None:
    """Nothing is raised, texts are texts, and a passage has one."""
    event = SpanEvent(sorted(EVENTS)[0], 1, attributes)  # type: ignore[arg-type]

    found = read_span(
        span({**attributes, kind[0]: kind[1]}, events=(event,), dropped_attributes=dropped)
    )

    assert isinstance(found.output, str)
    assert isinstance(found.input, str)
    assert all(isinstance(one.text, str) for one in found.prompt)
    passages = (*found.documents, *found.input_documents, *found.variables)
    assert all(one.text and one.id for one in passages)
    assert not any(one.text == "__REDACTED__" for one in passages)


@given(st.dictionaries(st.text(max_size=12), GIVEN))
def test_attributes_of_others_say_nothing(attributes: Mapping[str, object]) -> None:
    """A span with none of our keys is one of no kind."""
    others = {f"x.{key}": value for key, value in attributes.items()}

    assert read_span(span(others)) == SpanView(span(others))


@pytest.mark.parametrize(
    "value",
    [
        "x" * 3_000_000,
        "[" * 3_000_000,
        '{"a":"' + '\\"' * 1_000_000,
        '{"a":' * 300_000,
        "{'a': '" + "x" * 3_000_000,
        "{'a':" + "-" * 60_000 + "1}",
    ],
    ids=["text", "brackets", "quotes", "maps", "literal", "signs"],
)
@pytest.mark.parametrize("key", ["output.value", "retrieval.documents.0.document.metadata"])
def test_a_huge_value_does_not_hang(key: str, value: str) -> None:
    """A megabyte costs milliseconds: the reader runs on the thread that exports."""
    started = time.process_time()

    read_span(span({"openinference.span.kind": "RETRIEVER", key: value}))

    assert time.process_time() - started < 2


def test_signs_of_a_generation_find_every_golden_one() -> None:
    """Attributes alone tell it, but for one whose kind was evicted and only the name is left."""
    signs = kind_indicators(OperationKind.LLM)

    def is_marked(attributes: Mapping[str, object]) -> bool:
        named = any(
            str(attributes.get(key, "")).strip('"').lower() in kinds
            for key, kinds in signs.kinds.items()
        )
        return named or any(key.startswith(signs.prefixes) for key in attributes)

    missed = [
        one.name
        for one in GOLDEN
        if one.read.get("kind") is OperationKind.LLM
        and not is_marked(one.attributes)
        and not one.dropped_attributes
    ]
    assert missed == []
    assert not is_marked({"http.method": "POST", "db.system": "postgresql"})


def test_each_convention_has_golden_spans() -> None:
    """One that nobody reads would go unnoticed."""
    told = {one.read.get("convention") for one in GOLDEN}

    assert [one.name for one in CONVENTIONS if one.name not in told] == []


def test_golden_spans_have_names_of_their_own() -> None:
    """They are looked up by name."""
    assert len({one.name for one in GOLDEN}) == len(GOLDEN)


MARKED = shorten_text("Fees are $20. " * 99, 999)
LARGE = {
    "one document of a list": {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.content": "whole",
        "retrieval.documents.1.document.content": MARKED,
    },
    "a list of documents": {"openinference.span.kind": "RETRIEVER", "retrieval.documents": MARKED},
    "plain output of a retriever": {"openinference.span.kind": "RETRIEVER", "output.value": MARKED},
    "a result of a tool": {"openinference.span.kind": "TOOL", "output.value": MARKED},
    "an answer": {"openinference.span.kind": "LLM", "output.value": MARKED},
    "a message of an answer": {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.content": MARKED,
    },
    "a message of a prompt": {
        "openinference.span.kind": "LLM",
        "output.value": "whole",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "whole",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": MARKED,
    },
    "instructions beside a prompt": {
        "gen_ai.operation.name": "chat",
        "gen_ai.system_instructions": MARKED,
        "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"q"}]}]',
        "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"a"}]}]',
    },
    "a variable of a template": {
        "openinference.span.kind": "LLM",
        "output.value": "whole",
        "llm.prompt_template.variables.context": MARKED,
    },
}


@pytest.mark.parametrize("name", LARGE)
def test_value_that_was_shortened_is_not_read_as_if_it_were_whole(name: str) -> None:
    """The span is truncated; nothing of the list in which the value stood is used."""
    read = read_span(span(LARGE[name], shortened_attributes=1))

    found = repr((read.input, read.output, read.prompt, read.documents, read.variables))
    assert read.is_truncated
    assert "shortened from" not in found
    assert (read.documents, read.prompt, read.variables) == ((), (), ())


def test_shortened_event_is_not_read_as_if_it_were_whole() -> None:
    """A prompt in events lacks a message: it is none."""
    events = (
        SpanEvent("gen_ai.system.message", 1, {"content": MARKED}),
        SpanEvent("gen_ai.user.message", 2, {"content": "How much?"}),
    )
    read = read_span(span({"gen_ai.operation.name": "chat"}, events=events, shortened_attributes=1))

    assert (read.prompt, read.is_truncated) == ((), True)


def test_mark_is_ours_only_in_a_span_that_counts_it() -> None:
    """Else a passage with these words at its end would keep its answer from being verified."""
    read = read_span(span(LARGE["plain output of a retriever"]))

    assert ([document.text for document in read.documents], read.is_truncated) == ([MARKED], False)
