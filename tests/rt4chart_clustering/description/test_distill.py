"""Phrases of a model for failures: what is sent, what is refused, what a run may cost."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.llm.cache import MemoryCache
from rt4chart_clustering.description.model_writer import (
    MAX_PHRASE,
    FailureText,
    Writer,
    is_generic,
    is_phrase,
    write_phrases,
)
from tests.endpoint_server import Answer, Seen, error, hang, text
from tests.otel_rt4chart.verify.llm.served import served

ATLANTIS = FailureText(
    "Atlantis carried 14 tonnes for Houston.", "contradicted", ("Discovery carried 11 tonnes.",)
)
RENT = FailureText("The rent is due in May 2021.", "baseless", ("The rent is due.",))
PHRASE = "another vessel is named than in the source"


def answered(content: str) -> Callable[[Seen], Answer]:
    """A model that always says that."""
    return lambda seen: text(content)


def phrases(script: Callable[[Seen], Answer], *failing: FailureText) -> list[str]:
    """What comes of it, in a run of its own."""
    with served(script) as (_, endpoint):
        return write_phrases(Writer(endpoint), failing)


def test_a_phrase_is_asked_for_and_taken() -> None:
    """Claim, label and source go out quoted; the phrase comes back without its full stop."""
    with served(answered(json.dumps({"phrase": f"{PHRASE}."}))) as (server, endpoint):
        found = write_phrases(Writer(endpoint), [ATLANTIS])

    (seen,) = server.chats
    assert found == [PHRASE]
    assert '"Atlantis carried 14 tonnes for Houston."' in seen.user
    assert '"Discovery carried 11 tonnes."' in seen.user
    assert "contradicted" in seen.user
    assert "No names, no numbers" in seen.system


@pytest.mark.parametrize(
    "phrase",
    [
        "Atlantis stands in the place of another vessel",
        "the claim puts atlantis in the wrong place",
        "the answer has houston as its customer",
        "a load of 14 instead of another is given",
        "a tonnage of 11 is told otherwise",
        "the claim names NASA without support",
        "a [red]number[/red] differs from the source",
        "a <b>number</b> differs from the source",
        "a number\x1b[31m differs from the source",
        "see https:example for what differs there",
        "differs",
        "the claim says something else " * 9,
        "",
    ],
)
def test_a_phrase_that_tells_too_much_or_nothing_is_refused(phrase: str) -> None:
    """Names and numbers would divide a pattern by its topics; markup has no place in a name."""
    assert phrases(answered(json.dumps({"phrase": phrase})), ATLANTIS) == [""]


@pytest.mark.parametrize(
    "reply",
    ["", "no idea", "[1, 2]", '{"phrase": 7}', '{"text": "x"}', '{"phrase": ' + "[" * 5_000 + "}"],
)
def test_a_reply_of_another_shape_is_no_phrase(reply: str) -> None:
    """Whatever an endpoint sends, the template does."""
    assert phrases(answered(reply), ATLANTIS) == [""]


def test_a_phrase_in_a_code_fence_is_read() -> None:
    """Models wrap JSON in prose."""
    reply = f'Sure:\n```json\n{{"phrase": "{PHRASE}"}}\n```'

    assert phrases(answered(reply), ATLANTIS) == [PHRASE]


def test_an_endpoint_that_fails_costs_a_phrase_and_nothing_else() -> None:
    """A 500 for one, an answer for the other."""

    def script(seen: Seen) -> Answer:
        if "Atlantis" in seen.user:
            return error(500, "overloaded")
        return text(json.dumps({"phrase": "a date is added to the source"}))

    assert phrases(script, ATLANTIS, RENT) == ["", "a date is added to the source"]


def test_equal_failures_are_asked_once_and_remembered() -> None:
    """A phrase, and one that was refused, is kept for the next run."""
    cache = MemoryCache()

    def script(seen: Seen) -> Answer:
        return text(json.dumps({"phrase": "5 of them" if "rent" in seen.user else PHRASE}))

    with served(script) as (server, endpoint):
        first = write_phrases(Writer(endpoint, cache=cache), [ATLANTIS, RENT, ATLANTIS])
        again = write_phrases(Writer(endpoint, cache=cache), [RENT, ATLANTIS])

    assert first == [PHRASE, "", PHRASE]
    assert again == ["", PHRASE]
    assert len(server.chats) == 2


def test_a_run_asks_no_more_than_its_bound() -> None:
    """What is over it has the template."""
    with served(answered(json.dumps({"phrase": PHRASE}))) as (server, endpoint):
        writer = Writer(endpoint, most=1)
        found = [*write_phrases(writer, [ATLANTIS, RENT]), *write_phrases(writer, [RENT])]

    assert found == [PHRASE, "", ""]
    assert len(server.chats) == 1


def test_a_failed_call_is_not_remembered() -> None:
    """The next run asks again."""
    cache = MemoryCache()
    with served(lambda seen: error(503, "later")) as (_, endpoint):
        assert write_phrases(Writer(endpoint, cache=cache), [RENT]) == [""]

    assert not cache._kept


def test_long_texts_are_shown_in_part() -> None:
    """A megabyte of claim is not paid for."""
    long = FailureText("the rent is due " * 70_000, "baseless", ("due " * 300_000,) * 9)
    with served(answered(json.dumps({"phrase": PHRASE}))) as (server, endpoint):
        assert write_phrases(Writer(endpoint), [long]) == [PHRASE]

    assert len(server.chats[0].user) < 8_000


@given(st.text(), st.text())
def test_what_is_bare_has_no_digit_and_no_control_character(said: str, source: str) -> None:
    """Whatever the texts."""
    if is_generic(said, [source]):
        assert said.isprintable()
        assert not any(letter.isdigit() for letter in said)
        assert not set("<>[]{}`|*\\") & set(said)


@given(st.text(min_size=MAX_PHRASE + 1))
def test_a_phrase_is_short(said: str) -> None:
    """It is embedded and shown in a line."""
    assert is_phrase(said, RENT) is False


def test_a_hanging_endpoint_is_given_up() -> None:
    """The client's time-out ends the wait."""
    from otel_rt4chart.verify import Endpoint
    from tests.endpoint_server import EndpointServer

    with (
        EndpointServer([hang(30)]) as server,
        Endpoint(base_url=server.base_url, max_retries=0, timeout_s=0.2) as endpoint,
    ):
        assert write_phrases(Writer(endpoint), [RENT]) == [""]
