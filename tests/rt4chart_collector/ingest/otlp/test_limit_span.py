"""A span is stored with values, names and a size that the database can hold, and says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.record import AttributeValue, SpanEvent, SpanLink, SpanRecord
from otel_rt4chart.spans.model.shortening import is_shortened
from rt4chart_collector.ingest.otlp.limit_span import (
    ITEM_BYTES,
    NAME_BYTES,
    VALUES_PER_SPAN,
    limit_resource,
    limit_span,
    most_span_bytes,
)
from rt4chart_collector.store.answers.spans import text_of
from tests.attacks.stored import stored_bytes

SPAN = SpanRecord("1" * 32, "1" * 16, "answer", 1, 2)
LIMIT = 10_000


def test_span_within_the_limits_stays_as_it_is() -> None:
    """Texts of exactly the limit too; lists become the text as which they are stored."""
    span = replace(SPAN, attributes={"whole": "x" * LIMIT, "n": 7, "list": ("a", {"b": True})})
    stored = replace(span, attributes={**span.attributes, "list": '["a",{"b":true}]'})

    assert limit_span(span, LIMIT) == (stored, {})


def test_long_value_ends_with_a_mark_of_its_length() -> None:
    """Its beginning stays; the span counts it."""
    span = replace(SPAN, attributes={"long": "x" * (LIMIT + 1), "short": "y"})

    limited, counts = limit_span(span, LIMIT)

    mark = "… [shortened from 10001 bytes]"
    kept = "x" * (LIMIT - len(mark.encode()))
    assert limited == replace(
        span, attributes={"long": kept + mark, "short": "y"}, shortened_attributes=1
    )
    assert counts == {"value": 1}


@pytest.mark.parametrize("character", ["ä", "漢", "🦀", "x"])
def test_value_is_cut_between_two_characters(character: str) -> None:
    """The limit is one of bytes, as the database counts; no half character is stored."""
    for extra in range(4):
        text = "x" * extra + character * LIMIT
        limited, _ = limit_span(replace(SPAN, status_message=text), LIMIT - 1)
        start = limited.status_message.partition("…")[0]

        assert text.startswith(start)
        assert LIMIT - 5 <= len(limited.status_message.encode()) <= LIMIT - 1
        assert is_shortened(limited.status_message)


def test_every_text_of_a_span_is_limited() -> None:
    """Values, lists, events, links, the state and the scope; names and ids to less."""
    long, name = "x" * 3 * LIMIT, "n" * 2 * NAME_BYTES
    span = replace(
        SPAN,
        name=name,
        parent_span_id=name,
        status_message=long,
        trace_state=long,
        scope_name=long,
        scope_version=long,
        attributes={"text": long, "list": (long, (long,)), "map": {"a": long}},
        events=(SpanEvent(name, 1, {"text": long}),),
        links=(SpanLink(name, name, {"text": long}, long),),
    )

    limited, counts = limit_span(span, LIMIT)

    assert stored_bytes(limited) <= VALUES_PER_SPAN * LIMIT
    assert limited.shortened_attributes == 5 + 10
    assert counts == {"value": 10, "name": 5}
    assert all(map(is_shortened, (limited.name, limited.parent_span_id, limited.scope_name)))
    assert all(map(is_shortened, limited.attributes.values()))


def test_of_a_large_span_the_largest_values_are_shortened_alike() -> None:
    """What is small, such as a model's name, stays whole wherever it stands."""
    many = {f"k{number}": "x" * LIMIT for number in range(20)}
    span = replace(SPAN, attributes={**many, "llm.model_name": "m"})

    limited, counts = limit_span(span, LIMIT)

    sizes = {
        len(text_of(value).encode()) for key, value in limited.attributes.items() if key in many
    }
    assert len(limited.attributes) == 21
    assert limited.attributes["llm.model_name"] == "m"
    assert len(sizes) == 1
    assert 0.9 * VALUES_PER_SPAN * LIMIT < stored_bytes(limited) <= VALUES_PER_SPAN * LIMIT
    assert counts == {"span": 20}


def test_what_does_not_fit_at_all_is_dropped_and_counted() -> None:
    """As OpenTelemetry counts attributes for which there is no room, or with too long a name."""
    attributes = {f"k{number}": "x" * LIMIT for number in range(1_000)}
    events = tuple(SpanEvent("e" * 300, number) for number in range(1_000))
    span = replace(SPAN, attributes=attributes, events=events, dropped_attributes=1)

    limited, counts = limit_span(span, LIMIT)

    gone = 1_000 - len(limited.attributes)
    assert 0 < gone < 1_000
    assert stored_bytes(limited) <= VALUES_PER_SPAN * LIMIT
    assert limited.dropped_attributes == 1 + gone
    assert limited.dropped_events == 1_000 - len(limited.events)
    assert counts["dropped"] == gone + limited.dropped_events

    named, counts = limit_span(replace(SPAN, attributes={"k" * 5_000: 1, "a": 2}), LIMIT)
    assert (named.attributes, named.dropped_attributes, counts) == ({"a": 2}, 1, {"dropped": 1})


def test_resource_may_take_one_value_in_all() -> None:
    """Each span is stored with a copy of it."""
    resource: dict[str, AttributeValue] = {
        "service.name": "shop",
        "a": "x" * LIMIT,
        "b": ("y" * LIMIT,),
    }

    limited, counts = limit_resource(resource, LIMIT)

    assert limited["service.name"] == "shop"
    assert sum(len(key) + len(text_of(value).encode()) for key, value in limited.items()) <= LIMIT
    assert counts == {"span": 1, "value": 1}


def test_limited_span_is_limited_to_itself() -> None:
    """A span that comes twice, or through a second service, is the same."""
    span = replace(SPAN, attributes={"a": "ü" * LIMIT, "b": ("x" * LIMIT,)})
    limited, _ = limit_span(span, LIMIT)

    assert limit_span(limited, LIMIT) == (limited, {})


def test_estimate_is_never_below_what_is_stored() -> None:
    """By it, spans are passed without a closer look."""
    nasty = '\x00"\\é漢🦀'
    nested: AttributeValue = (nasty, {nasty: (nasty, 1.5, True, 2**63, ((), {}))})
    span = replace(
        SPAN,
        status_message=nasty,
        attributes={"text": nasty, "list": nested, "n": 1},
        events=(SpanEvent("e", 1, {"list": nested}),),
        links=(SpanLink("1" * 32, "2" * 16, {"list": nested}, nasty),),
    )

    assert stored_bytes(span) <= most_span_bytes(span) + ITEM_BYTES * 8
