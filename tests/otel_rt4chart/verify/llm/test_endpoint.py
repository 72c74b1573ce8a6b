from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import openai
import pytest

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.llm.conversation import Completion, UnsentError
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage
from otel_rt4chart.verify.llm.reply_limit import (
    MAX_REPLY_BYTES,
    ReplyLimitError,
    bounded_client,
)
from tests.endpoint_server import (
    Answer,
    EndpointServer,
    Seen,
    as_json,
    error,
    hang,
    text,
    truncated,
)

KEY = "sk-test-0123456789"
PROMPT = Prompt(
    (PromptMessage("system", "Judge."), PromptMessage("user", "A claim.")), "reply", {}, 50, 42
)


@contextmanager
def serving(
    script: Callable[[Seen], Answer] | Sequence[Answer],
    *,
    retries: int = 0,
    timeout_s: float = 20.0,
    concurrency: int = 8,
    per_minute: Budget | None = None,
    latency_s: float = 0.0,
) -> Iterator[tuple[EndpointServer, Endpoint]]:
    """A server with this script and an endpoint that knows it, both closed at the end."""
    with EndpointServer(script, latency_s=latency_s) as server:
        endpoint = Endpoint(
            base_url=server.base_url,
            api_key=KEY,
            max_retries=retries,
            timeout_s=timeout_s,
            concurrency=concurrency,
            per_minute=per_minute,
            clock=lambda: 0.0,
        )
        try:
            yield server, endpoint
        finally:
            endpoint.close()


def failure(answer: Answer, *, retries: int = 0, timeout_s: float = 20.0) -> str:
    """What is told where the server answers like this."""
    with serving([answer], retries=retries, timeout_s=timeout_s) as (_, endpoint):
        (told,) = endpoint.send([PROMPT])
    assert isinstance(told, JudgeError), told
    return str(told)


def test_a_completion_comes_with_what_it_used() -> None:
    """Text, and the tokens that the endpoint counted, those of its prompt cache too."""
    with serving([text("Yes.", cached=3)]) as (server, endpoint):
        (told,) = endpoint.send([PROMPT])

    assert told == Completion("Yes.", input_tokens=3, cached_tokens=3, output_tokens=1)
    (seen,) = server.seen
    assert (seen.body["temperature"], seen.body["seed"], seen.body["model"]) == (
        0,
        42,
        "gpt-4o-mini",
    )
    assert seen.body["response_format"]["type"] == "json_schema"
    assert seen.headers["authorization"] == f"Bearer {KEY}"


def test_redirect_is_not_followed() -> None:
    """Questions and passages go to the address that was configured, and to no other."""
    with EndpointServer([text("Yes.")]) as other:
        to_other = {"location": f"{other.base_url}/chat/completions"}
        told = failure(Answer(b"", 307, to_other))

    assert told == "gpt-4o-mini: 307: the address redirects; redirects are not followed"
    assert other.seen == []


def test_replies_come_in_the_order_of_the_prompts_and_side_by_side() -> None:
    """Concurrency is bounded, order is kept."""
    with serving(lambda seen: text(seen.user), concurrency=3, latency_s=0.1) as (server, endpoint):
        prompts = [
            Prompt((PROMPT.messages[0], PromptMessage("user", str(n))), "r", {}, 5, 1)
            for n in range(9)
        ]
        told = endpoint.send(prompts)

    assert [one.text for one in told if isinstance(one, Completion)] == [str(n) for n in range(9)]
    assert server.most_at_once == 3


@pytest.mark.parametrize(
    "first",
    [error(429, "slow down", headers={"retry-after": "0.05"}), error(500, "oops"), error(503, "")],
    ids=["429", "500", "503"],
)
def test_what_may_pass_is_tried_again_by_the_client(first: Answer) -> None:
    """A rate limit or a server's error costs a retry, not a verdict."""
    with serving([first, text("Yes.")], retries=1) as (server, endpoint):
        (told,) = endpoint.send([PROMPT])

    assert isinstance(told, Completion)
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (error(429, "slow down"), "gpt-4o-mini: 429: too many requests, also after waiting"),
        (error(500, "disk is full"), "gpt-4o-mini: 500: "),
        (error(401, f"Incorrect API key {KEY}"), "401: the key was refused; check OPENAI_API_KEY"),
        (error(404, f"no model for {KEY}"), "no model for ***"),
        (truncated("Yes."), "cannot be reached, or broke off"),
        (as_json(["not", "a", "completion"]), "not what the protocol says"),
        (as_json({"choices": "none"}), "not what the protocol says"),
        (as_json({"choices": [{"message": {"content": 7}}]}), "not what the protocol says"),
        (Answer(b"<html>busy</html>"), "not what the protocol says"),
        (Answer(b"[" * 100_000), "nested too deeply"),
        (Answer(b'{"choices":' * 50_000), "nested too deeply"),
    ],
    ids=[
        "429",
        "500",
        "401",
        "404",
        "truncated",
        "list",
        "choices",
        "content",
        "html",
        "deep list",
        "deep object",
    ],
)
def test_a_failure_says_what_happened_and_never_the_key(answer: Answer, told: str) -> None:
    """Each way to fail has words of its own."""
    said = failure(answer)

    assert told in said
    assert KEY not in said


def test_a_hanging_endpoint_is_given_up() -> None:
    """Every wait has an end."""
    assert "no reply within 0.2 s" in failure(hang(60.0), timeout_s=0.2)


def test_a_slow_reply_is_not_asked_for_again() -> None:
    """A slow model would begin anew, and the caller would wait for it four times."""
    with serving([hang(60.0)], retries=3, timeout_s=0.3) as (server, endpoint):
        began = time.monotonic()
        (told,) = endpoint.send([PROMPT])

    assert str(told) == (
        "gpt-4o-mini: no reply within 0.3 s: the model is slow or busy; raise "
        "RT4CHART_JUDGE_TIMEOUT_S, or lower RT4CHART_JUDGE_CONCURRENCY"
    )
    assert len(server.seen) == 1
    assert time.monotonic() - began < 10


def test_a_text_that_does_not_fit_the_models_context_is_sent_once() -> None:
    """As llama.cpp says it; no parameter is to blame, and the setting that helps is named."""
    refused = error(400, "request (6031 tokens) exceeds the available context size (4096 tokens)")

    with serving([refused]) as (server, endpoint):
        (told,) = endpoint.send([replace(PROMPT, asks_odds=True)])

    assert "4096 tokens); lower RT4CHART_JUDGE_INPUT_LIMIT" in str(told)
    assert len(server.seen) == 1


def test_a_reply_that_drips_is_given_up() -> None:
    """Bytes that come in time do not keep a caller waiting for ever."""
    slow = Answer(text("Yes.").body, drip_s=0.1)

    said = failure(slow, timeout_s=0.5)

    # Whichever of the two limits is noticed first.
    assert "no reply within 0.5 s" in said or "the reply was not whole in time" in said


def test_a_reply_without_usage_is_charged_as_estimated() -> None:
    """What an endpoint does not tell is not taken for nothing."""
    told = json.loads(text("y" * 30).body or b"")
    del told["usage"]

    with serving([as_json(told)]) as (_, endpoint):
        (found,) = endpoint.send([PROMPT])

    assert found == Completion("y" * 30, PROMPT.input_tokens, output_tokens=10, is_estimated=True)


def test_an_endpoint_that_is_not_there_is_told() -> None:
    """A refused connection is no verdict."""
    endpoint = Endpoint(base_url="http://127.0.0.1:9/v1", max_retries=0)

    (told,) = endpoint.send([PROMPT])
    endpoint.close()

    assert "cannot be reached" in str(told)


def test_a_refusal_is_a_completion_that_says_so() -> None:
    """The model's own words are kept."""
    with serving([text("", refusal="I cannot help with that.")]) as (_, endpoint):
        (told,) = endpoint.send([PROMPT])

    assert isinstance(told, Completion)
    assert told.refusal == "I cannot help with that."


@pytest.mark.parametrize(
    ("budget", "told"),
    [(Budget(calls=2), "2 calls a minute"), (Budget(tokens=150), "150 tokens a minute")],
)
def test_a_minutes_budget_refuses_what_goes_over_it(budget: Budget, told: str) -> None:
    """Money is not spent by waiting, and what was refused was not sent."""
    with serving([text("y" * 400)], per_minute=budget, concurrency=1) as (server, endpoint):
        replies = endpoint.send([PROMPT, PROMPT, PROMPT])

    assert told in str(replies[2])
    assert isinstance(replies[2], UnsentError)
    assert len(server.seen) < 3


def test_a_minutes_budget_holds_for_calls_side_by_side() -> None:
    """Each holds what it may use before it is sent."""
    budget = Budget(tokens=3 * PROMPT.tokens)
    with serving([text("Yes.")], per_minute=budget, latency_s=0.1) as (server, endpoint):
        replies = endpoint.send([PROMPT] * 8)

    assert len(server.seen) == sum(isinstance(one, Completion) for one in replies) == 3


def test_awaited_replies_are_the_same() -> None:
    """The event loop asks the same things."""
    with serving([text("Yes.")]) as (_, endpoint):
        awaited = asyncio.run(endpoint.send_async([PROMPT, PROMPT]))
        assert awaited == endpoint.send([PROMPT, PROMPT])


def test_awaited_failures_are_told_too() -> None:
    """One failed reply stands in its own place."""
    with serving([error(401, "no")]) as (_, endpoint):
        (told,) = asyncio.run(endpoint.send_async([PROMPT]))

    assert "key was refused" in str(told)


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"timeout_s": 0.0}, {"timeout_s": 1e9}, {"max_retries": -1}]
)
def test_limits_that_cannot_be_meant_are_refused(wrong: dict[str, int]) -> None:
    """Before anything is sent."""
    with pytest.raises(SettingsError, match="expected concurrency"):
        Endpoint(base_url="http://127.0.0.1:9/v1", **wrong)  # type: ignore[arg-type]


def packed(size: int, code: int = 200, encoding: str = "gzip") -> Answer:
    """A body of so many spaces, which gzip packs a thousandfold."""
    return Answer(gzip.compress(b" " * size), code, {"Content-Encoding": encoding})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(b" " * (MAX_REPLY_BYTES + 1)), "the reply is larger than 4 MiB"),
        (packed(64 * MAX_REPLY_BYTES), "the reply is larger than 4 MiB"),
        (packed(9, encoding="gzip, gzip"), "encoding 'gzip, gzip', expected gzip or none"),
        (packed(64 * MAX_REPLY_BYTES, 400), "400: "),
    ],
)
def test_a_reply_that_is_too_large_is_not_read_to_its_end(answer: Answer, message: str) -> None:
    """Neither as it comes nor unpacked: an endpoint must not fill the memory."""
    assert message in failure(answer)


def test_a_packed_reply_is_read() -> None:
    """Endpoints pack their replies where the client accepts it."""
    plain = text("yes")
    answer = Answer(gzip.compress(plain.body or b""), 200, {"Content-Encoding": "gzip"})

    with serving([answer]) as (_, endpoint):
        (told,) = endpoint.send([PROMPT])

    assert isinstance(told, Completion)


def test_a_reply_that_drips_for_ever_ends() -> None:
    """The time-out of each read never comes; that of the whole reply frees the thread."""
    client = bounded_client(openai.DefaultHttpxClient, 0.2)

    with (
        EndpointServer([Answer(b" " * 10**4, drip_s=0.02)]) as server,
        client() as http,
        pytest.raises(ReplyLimitError, match="not whole in time"),
    ):
        http.post(f"{server.base_url}/chat/completions", json={})
