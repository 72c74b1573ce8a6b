"""200 secrets in twelve places: none leaves the process, and nothing else changes.

In full with RT4CHART_ATTACK=full; `pytest -s` shows the share that is found by kind and place.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rt4chart_collector.demo as demo
from otel_rt4chart.core.guard import LOG, Guard
from otel_rt4chart.marking.exporter import MarkingExporter, keep_unmarked, mark_and_redact
from otel_rt4chart.redaction import build_redactor
from otel_rt4chart.redaction.patterns import BUILT_IN, find_matches
from rt4chart_collector.core.redacted_error import redacted_error
from tests.attacks.scale import scaled
from tests.attacks.secrets import Secret, SecretMaker

MASK = build_redactor("mask")
SECRETS = SecretMaker(16).make(scaled(36, 200))
BEFORE, AFTER = "Pay to ", " by Friday."
LARGEST_EXACT_FLOAT = 2**53
DEMO = Path(demo.__file__).parent / "data"
Place = Callable[[Secret], tuple[Any, Any]]


def exported(attributes: dict[str, Any], event: dict[str, Any] | None = None) -> ReadableSpan:
    """The span of these attributes as an exporter receives it."""
    received = InMemorySpanExporter()
    provider = TracerProvider()
    exporter = MarkingExporter(received, mark_and_redact(keep_unmarked, MASK), hides=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("attack").start_as_current_span("ask") as span:
        span.set_attributes(attributes)
        if event is not None:
            span.add_event("note", event)
    (found,) = received.get_finished_spans()
    return found


def value_of(key: str, value: Any) -> Any:  # noqa: ANN401 attribute values are of many types
    """The value under this key after redaction."""
    return (exported({key: value}).attributes or {})[key]


def in_text(key: str, write: Callable[[str], str] = str) -> Place:
    """A place in a text; `write` encodes the secret."""

    def place(secret: Secret) -> tuple[Any, Any]:
        text = f"{BEFORE}{write(secret.text)}{AFTER}"
        return value_of(key, text), f"{BEFORE}[{secret.pattern}]{AFTER}"

    return place


def in_json(secret: Secret) -> tuple[Any, Any]:
    """JSON in JSON: the structure and the other values stay."""
    inner = json.dumps({"note": f"{BEFORE}{secret.text}", "count": 3})
    found = value_of("llm.input_messages", json.dumps([{"role": "user", "arguments": inner}]))
    (message,) = json.loads(found)
    return (
        {**message, "arguments": json.loads(message["arguments"])},
        {"role": "user", "arguments": {"note": f"{BEFORE}[{secret.pattern}]", "count": 3}},
    )


def in_url(secret: Secret) -> tuple[Any, Any]:
    """A parameter, percent-encoded."""
    found = value_of("url.full", f"https://example.org/pay?to={quote(secret.text, safe='')}&n=1")
    return found, f"https://example.org/pay?to=[{secret.pattern}]&n=1"


def in_number(secret: Secret) -> tuple[Any, Any]:
    """An integer and a float, if the secret is a number; else an item of a list."""
    mask = f"[{secret.pattern}]"
    if not secret.text.isdecimal():
        return value_of("acme.list", ("a", secret.text)), ("a", mask)
    number = int(secret.text)
    numbers = [number, float(number)] if number < LARGEST_EXACT_FLOAT else [number]
    return [value_of("acme.number", one) for one in numbers], [mask] * len(numbers)


def in_event(secret: Secret) -> tuple[Any, Any]:
    """An attribute of an event under a key of the application."""
    (event,) = exported({}, {"acme.note": f"{BEFORE}{secret.text}"}).events
    return dict(event.attributes or {}), {"acme.note": f"{BEFORE}[{secret.pattern}]"}


def in_exception(secret: Secret) -> tuple[Any, Any]:
    """The message of an exception, in the event and in the status."""
    received = InMemorySpanExporter()
    provider = TracerProvider()
    exporter = MarkingExporter(received, mark_and_redact(keep_unmarked, MASK), hides=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with (
        pytest.raises(ValueError, match="Pay to"),
        provider.get_tracer("attack").start_as_current_span("ask"),
    ):
        raise ValueError(f"{BEFORE}{secret.text}")
    (span,) = received.get_finished_spans()
    (event,) = span.events
    attributes = event.attributes or {}
    masked = f"{BEFORE}[{secret.pattern}]"
    leaks = [key for key, value in attributes.items() if secret.text in str(value)]
    told = attributes["exception.message"], span.status.description, leaks
    return told, (masked, f"ValueError: {masked}", [])


def in_log(secret: Secret) -> tuple[Any, Any]:
    """What we log of an exception of the application's callable."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    LOG.addHandler(handler)
    try:
        with Guard()("reading a span"):
            raise ValueError(secret.text)
    finally:
        LOG.removeHandler(handler)
    return lines, ["reading a span failed (ValueError); the application is not affected"]


def in_our_error(secret: Secret) -> tuple[Any, Any]:
    """What the service tells of an exception."""
    try:
        raise ValueError(secret.text)
    except ValueError as error:
        told = redacted_error(error)
    return told.partition(" < ")[0] == "ValueError" and secret.text not in told, True


def both(first: Place, second: Place) -> Place:
    """Two places as one."""

    def place(secret: Secret) -> tuple[Any, Any]:
        (got, expected), (other, other_expected) = first(secret), second(secret)
        return (got, other), (expected, other_expected)

    return place


PLACES: dict[str, Place] = {
    "answer": in_text("llm.output_messages.0.message.content"),
    "passage": in_text("retrieval.documents.0.document.content"),
    "question": in_text("input.value"),
    "db.statement": in_text("db.statement"),
    "custom key": in_text("acme.note"),
    "percent-encoded url.full": in_url,
    "nested JSON": in_json,
    "\\u-escaped": in_text("acme.raw", lambda text: "".join(f"\\u{ord(c):04x}" for c in text)),
    "full-width": in_text(
        "acme.wide",
        lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    ),
    "number or list": in_number,
    "event and exception": both(in_event, in_exception),
    "log and error of ours": both(in_log, in_our_error),
}


def test_no_secret_leaves_and_nothing_else_changes() -> None:
    """The text around a secret is the same to the character, however the secret is written."""
    found: Counter[tuple[str, str]] = Counter()
    wrong = []
    for secret in SECRETS:
        for name, place in PLACES.items():
            got, expected = place(secret)
            if got == expected:
                found[secret.kind, name] += 1
            else:
                wrong.append((secret.kind, name, secret.text, got))
    for line in table(found):
        print(line)  # noqa: T201

    assert wrong == []


def table(found: Counter[tuple[str, str]]) -> Iterator[str]:
    """The share that was found, by kind and by place."""
    kinds = Counter(secret.kind for secret in SECRETS)
    for kind, number in kinds.items():
        share = sum(found[kind, name] for name in PLACES) / number / len(PLACES)
        yield f"{kind:>24} {share:7.1%} of {number} in {len(PLACES)} places"
    for name in PLACES:
        share = sum(found[kind, name] for kind in kinds) / len(SECRETS)
        yield f"{name:>24} {share:7.1%} of {len(SECRETS)}"


def demo_texts() -> Iterator[str]:
    """Real questions, passages and answers."""
    for path in sorted(DEMO.rglob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield from strings(json.loads(line))


def strings(value: object) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.values() for text in strings(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in strings(item))


def test_real_texts_raise_no_false_alarm() -> None:
    """Each of these, checked by eye, is an address or a telephone number in an advertisement."""
    matches = [match for text in demo_texts() for match in find_matches(text, BUILT_IN)]

    assert Counter(match.name for match in matches) == {"email": 11, "phone": 15}
    assert all("@" in match.text for match in matches if match.name == "email")
    assert all(
        len(match.text) == len("(555) 123-4567") for match in matches if match.name == "phone"
    )


NO_SECRETS = (
    "1732288187000", "1732288187000000", "1732288187000000000", "4111111111111112",
    "0000000000000000", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "550e8400-e29b-41d4-a716-446655440000", "otel_rt4chart/redaction/patterns/TestCase2",
    "100%", "50%25 off", "C:\\new\\users", "v1.2.3", "12:30:45", "2026-01-01T10:00:00Z", "sk-learn",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_SECRETS)
def test_times_digests_and_paths_are_no_secrets(text: str) -> None:
    """As a text and, if they are numbers, as one."""
    assert value_of("acme.note", f"see {text} there") == f"see {text} there"
    if text.isdecimal():
        assert value_of("acme.number", int(text)) == int(text)
        assert value_of("acme.number", float(text)) == float(text)


@settings(max_examples=scaled(100, 2_000))
@given(st.text(max_size=200))
@example("\\u0062ob@example.com")
@example("%E4%BD%A0 %FF %2540 a%40b.de")
def test_redaction_is_idempotent_and_cuts_by_offsets(text: str) -> None:
    """A redacted text stays as it is, and the rest of a text is a subsequence of it, in order."""
    once = MASK.text(text)

    assert MASK.text(once) == once
    position = 0
    for match in find_matches(text, BUILT_IN):
        kept = text[position : match.start]
        assert kept in once
        position = match.end


PARTS = st.lists(
    st.sampled_from([secret.text for secret in SECRETS])
    | st.sampled_from([*" ,1+/a-٣１\u200b", "%40", "\\u0040", "\\n"]),
    max_size=8,
).map("".join)


@settings(max_examples=scaled(100, 5_000))
@given(PARTS)
def test_secrets_beside_each_other_are_cut_once(text: str) -> None:
    """Whatever stands between them, a second pass finds nothing more."""
    once = MASK.text(text)

    assert MASK.text(once) == once
