from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from otel_rt4chart.errors import JudgeError, SettingsError
from otel_rt4chart.verify.llm.ask import Completion
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prompt import Message, Prompt
from otel_rt4chart.verify.meter import Budget
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
PROMPT = Prompt((Message("system", "Judge."), Message("user", "A claim.")), "reply", {}, 50, 42)


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


def test_replies_come_in_the_order_of_the_prompts_and_side_by_side() -> None:
    """Concurrency is bounded, order is kept."""
    with serving(lambda seen: text(seen.user), concurrency=3, latency_s=0.1) as (server, endpoint):
        prompts = [
            Prompt((PROMPT.messages[0], Message("user", str(n))), "r", {}, 5, 1) for n in range(9)
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
    ],
    ids=["429", "500", "401", "404", "truncated", "list", "choices", "content", "html"],
)
def test_a_failure_says_what_happened_and_never_the_key(answer: Answer, told: str) -> None:
    """Each way to fail has words of its own."""
    said = failure(answer)

    assert told in said
    assert KEY not in said


def test_a_hanging_endpoint_is_given_up() -> None:
    """Every wait has an end."""
    assert "no reply within 0.2 s" in failure(hang(60.0), timeout_s=0.2)


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


def test_parameters_that_an_endpoint_refuses_are_left_out_from_then_on() -> None:
    """Structured output, seed and temperature are used where they are known."""

    def script(seen: Seen) -> Answer:
        for name in ("response_format", "seed", "temperature", "max_tokens"):
            if name in seen.body:
                return error(400, f"Unsupported parameter: '{name}'")
        return text("Yes.")

    with serving(script) as (server, endpoint):
        first = endpoint.send([PROMPT])
        count = len(server.seen)
        second = endpoint.send([PROMPT])

    assert isinstance(first[0], Completion)
    assert isinstance(second[0], Completion)
    assert len(server.seen) == count + 1


def test_a_context_that_is_too_long_is_not_mistaken_for_a_dialect() -> None:
    """The same call without a parameter would fail again."""
    with serving([error(400, "maximum context length is 8192 tokens")]) as (server, endpoint):
        (told,) = endpoint.send([PROMPT])

    assert "maximum context length" in str(told)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("budget", "told"),
    [(Budget(calls=2), "2 calls a minute"), (Budget(tokens=150), "150 tokens a minute")],
)
def test_a_minutes_budget_refuses_what_goes_over_it(budget: Budget, told: str) -> None:
    """Money is not spent by waiting."""
    with serving([text("y" * 400)], per_minute=budget, concurrency=1) as (server, endpoint):
        replies = endpoint.send([PROMPT, PROMPT, PROMPT])

    assert told in str(replies[2])
    assert len(server.seen) < 3


def test_awaited_replies_are_the_same() -> None:
    """The asynchronous client is asked the same things."""

    async def ask(endpoint: Endpoint) -> Sequence[Completion | JudgeError]:
        try:
            return await endpoint.send_async([PROMPT, PROMPT])
        finally:
            await endpoint.close_async()

    with serving([text("Yes.")]) as (_, endpoint):
        awaited = asyncio.run(ask(endpoint))
        assert awaited == endpoint.send([PROMPT, PROMPT])


def test_awaited_failures_are_told_too() -> None:
    """One failed reply stands in its own place."""

    async def ask(endpoint: Endpoint) -> Sequence[Completion | JudgeError]:
        try:
            return await endpoint.send_async([PROMPT])
        finally:
            await endpoint.close_async()

    with serving([error(401, "no")]) as (_, endpoint):
        (told,) = asyncio.run(ask(endpoint))

    assert "key was refused" in str(told)


def test_without_a_key_or_an_address_the_judge_cannot_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error names the variables and the way without."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(SettingsError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL.*local judge"):
        Endpoint()


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"timeout_s": 0.0}, {"max_retries": -1}])
def test_limits_that_cannot_be_meant_are_refused(wrong: dict[str, int]) -> None:
    """Before anything is sent."""
    with pytest.raises(SettingsError, match="expected concurrency"):
        Endpoint(base_url="http://127.0.0.1:9/v1", **wrong)  # type: ignore[arg-type]
