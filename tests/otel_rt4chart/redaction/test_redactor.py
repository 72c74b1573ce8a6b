from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.util.types import AttributeValue

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import guard
from otel_rt4chart.redaction import Redactor, build_redactor
from otel_rt4chart.verify import Exchange, Passage

MASK = build_redactor("mask")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def test_none_changes_nothing() -> None:
    """The default, and it says that it is off."""
    redactor = build_redactor("none", "", None)

    assert not redactor.is_on
    assert redactor.text("bob@example.com") == "bob@example.com"
    assert redactor.attributes({"input.value": "bob@example.com"}) == {
        "input.value": "bob@example.com"
    }


def test_a_mark_says_what_stood_there() -> None:
    """The rest of the text stays as it is."""
    assert MASK.text("bob@example.com lives at 10.0.0.1") == "[email] lives at [ip]"


def test_equal_values_have_equal_hashes_under_one_key() -> None:
    """However they are written; under another key they are others."""
    one, other = build_redactor("hash", salt="k"), build_redactor("hash", salt="l")

    first, second = one.text("+49 171 1234567 / +491711234567").split(" / ")

    assert first == second
    assert first.startswith("[phone:")
    assert other.text("+49 171 1234567") != first
    assert one.text("a.b@c.org") != one.text("ab@c.org")


def test_drop_leaves_no_text_and_the_structure() -> None:
    """Roles, ids and scores tell what was there."""
    messages = [{"role": "user", "parts": [{"type": "text", "content": "my name is Bob"}]}]

    dropped = build_redactor("drop").attributes(
        {
            "gen_ai.input.messages": json.dumps(messages),
            "output.value": "Bob",
            "retrieval.documents.0.document.id": "d1",
            "llm.model_name": "m",
        }
    )

    assert json.loads(dropped.pop("gen_ai.input.messages")) == [
        {"role": "user", "parts": [{"type": "text", "content": "__REDACTED__"}]}
    ]
    assert dropped == {
        "output.value": "__REDACTED__",
        "retrieval.documents.0.document.id": "d1",
        "llm.model_name": "m",
    }


def test_json_in_json_stays_json() -> None:
    """Arguments of a tool are JSON in a text in JSON; a number that is a card's becomes a text."""
    inner = json.dumps({"mail": "bob@example.com", "card": 4111111111111111, "count": 3})

    (text,) = MASK.attributes({"llm.input_messages": json.dumps([{"arguments": inner}])}).values()

    assert json.loads(json.loads(text)[0]["arguments"]) == {
        "mail": "[email]",
        "card": "[card]",
        "count": 3,
    }


def test_json_that_was_cut_is_a_text() -> None:
    """A limit of the SDK breaks it; nothing of it gets through unread."""
    assert MASK.attributes({"output.value": '{"mail": "bob@example.com", "te'}) == {
        "output.value": '{"mail": "[email]", "te'
    }


def test_every_attribute_is_redacted_but_names_of_kinds_and_routes() -> None:
    """Whoever set it, and whatever its key and its type."""
    known: dict[str, AttributeValue] = {
        "http.route": "/bob@example.com",
        "rt4chart.sample_rate": 0.25,
        "n": 12345678901234,
    }

    assert MASK.attributes(
        {
            **known,
            "net.peer.ip": "10.0.0.1",
            "user.id": "bob@example.com",
            "db.statement": "select 1 from t where mail = 'bob@example.com'",
            "url.full": "https://example.org/?to=bob%40example.com&n=1",
            "acme.payer": ("4111 1111 1111 1111", "Bob"),
            "acme.card": 4111111111111111.0,
            "acme.raw": "{'mail': 'bob\\u0040example.com'}",
            "acme.wide": "４１１１１１１１１１１１１１１１",
            "order.id": 4111111111111111,
        }
    ) == {
        **known,
        "net.peer.ip": "[ip]",
        "user.id": "[email]",
        "db.statement": "select 1 from t where mail = '[email]'",
        "url.full": "https://example.org/?to=[email]&n=1",
        "acme.payer": ("[card]", "Bob"),
        "acme.card": "[card]",
        "acme.raw": "{'mail': '[email]'}",
        "acme.wide": "[card]",
        "order.id": 4111111111111111,
    }


def test_ids_keep_their_numbers_and_lose_addresses() -> None:
    """An id of sixteen digits is a card's number by chance, one with an @ is not."""
    passage = Passage("bob@example.com/4111111111111111", "x")

    (found,) = MASK.exchange(Exchange("?", (passage,), "x")).passages

    assert found.id == "[email]/4111111111111111"


@pytest.mark.parametrize("redactor", [build_redactor("drop"), build_redactor(call=str.upper)])
def test_what_is_no_text_is_masked_where_texts_are_dropped(redactor: Redactor) -> None:
    """A call or `drop` would leave no attribute readable."""
    assert redactor.attributes({"acme.by": "by bob@example.com", "db.system": "mysql"}) == {
        "acme.by": "by [email]",
        "db.system": "mysql",
    }


@given(JSON)
def test_values_without_anything_to_redact_come_back_as_they_were(value: object) -> None:
    """Redaction that finds nothing changes nothing, not even the spelling of JSON."""
    text = json.dumps(value)
    quiet = build_redactor("mask", "\ue000never\ue000")

    assert quiet.attributes({"input.value": text}) == {"input.value": text}


@given(JSON)
def test_what_is_json_stays_json(value: object) -> None:
    """Whatever its texts become."""
    changed = build_redactor(call=lambda text: f'"{text}\\').attributes(
        {"metadata": json.dumps([value])}
    )

    assert isinstance(json.loads(changed["metadata"]), list)


@pytest.mark.parametrize("returned", [None, 3, b"x"])
def test_a_callable_that_fails_leaves_a_placeholder(returned: object) -> None:
    """What it could not clean is not sent as it is, is no missing text, and is counted."""

    def raises(text: str) -> str:
        raise KeyError(text)

    before = guard.swallowed
    failing = build_redactor(call=raises)
    silly = build_redactor(call=lambda text: returned)  # type: ignore[arg-type, return-value]

    assert (failing.text("Bob"), silly.text("Bob")) == ("__REDACTED__", "__REDACTED__")
    assert (failing.failures, silly.failures) == (1, 1)
    assert guard.swallowed == before + 1


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_callable_that_ends_the_process_loses_its_text_alone(
    error: type[BaseException],
) -> None:
    """It runs while spans are exported: all spans of the batch would be lost."""

    def ends(text: str) -> str:
        raise error(text)

    assert build_redactor(call=ends).text("Bob") == "__REDACTED__"


def test_a_text_that_is_emptied_leaves_a_placeholder() -> None:
    """A text that was taken out must not look like one that never was; an empty one stays."""
    emptying = build_redactor(call=lambda text: " ")

    assert (emptying.text("Bob"), build_redactor("drop").text("Bob")) == ("__REDACTED__",) * 2
    assert build_redactor("drop").text("") == ""


def test_a_key_that_stands_twice_hides_nothing() -> None:
    """Readers take the last one; the first one is on the wire all the same."""
    twice = '{"query": "bob@example.com", "query": "x", "in": {"a": "b@c.de", "a": 1}}'

    assert MASK.attributes({"input.value": twice}) == {
        "input.value": '{"query": "x", "in": {"a": 1}}'
    }


def test_keys_are_redacted_but_for_the_names_of_fields() -> None:
    """Somebody may be a key; two that become alike both stay."""
    known = '{"a@b.de": {"content": "x"}, "c@d.de": 1, "document.content": "y"}'

    assert MASK.attributes({"output.value": known}) == {
        "output.value": '{"[email]": {"content": "x"}, "[email]~2": 1, "document.content": "y"}'
    }
    assert build_redactor("drop").attributes({"metadata": '{"Bob": 1, "content": "x"}'}) == {
        "metadata": '{"__REDACTED__": 1, "content": "__REDACTED__"}'
    }


def test_a_text_as_json_is_read_as_one() -> None:
    """MLflow writes every value as JSON; what is escaped there is found."""
    assert MASK.attributes({"mlflow.spanOutputs": '"m\\u00fcller\\u0040example.com is in"'}) == {
        "mlflow.spanOutputs": '"[email] is in"'
    }
    assert build_redactor("drop").attributes({"output.value": '"Bob"'}) == {
        "output.value": "__REDACTED__"
    }


def test_an_exchange_is_redacted_whole() -> None:
    """Question, passages with what is known of them, and the answer."""
    exchange = Exchange(
        "who is a@b.de?", (Passage("p1", "a@b.de is Bob", metadata={"by": "c@d.de"}),), "a@b.de"
    )

    assert MASK.exchange(exchange) == Exchange(
        "who is [email]?", (Passage("p1", "[email] is Bob", metadata={"by": "[email]"}),), "[email]"
    )


def test_an_unknown_way_is_refused() -> None:
    """A mistake in the setting must not seem to work."""
    with pytest.raises(SettingsError, match="expected one of none, drop, mask, hash, got 'blur'"):
        build_redactor("blur")
