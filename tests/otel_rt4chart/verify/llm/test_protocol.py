from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.llm.conversation import Completion
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage
from otel_rt4chart.verify.llm.protocol import Dialect
from tests.endpoint_server import Answer, EndpointServer, Seen, as_json, error, text

OPTIONAL = {"response_format", "seed", "temperature", "max_tokens", "max_completion_tokens"}
RENAMED = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
TOO_LONG = (
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context "
    "length is 4096 tokens and your request has 3000 input tokens"
)
FILTERED = (
    "The response was filtered due to the prompt triggering content management policy. "
    "Please modify your prompt, seed or temperature, and retry"
)


def prompt(said: str) -> Prompt:
    """A prompt with these words."""
    return Prompt(
        (PromptMessage("system", "Judge."), PromptMessage("user", said)), "reply", {}, 50, 42
    )


def asked(
    script: Callable[[Seen], Answer], *said: str
) -> tuple[list[Completion | JudgeError], list[Seen]]:
    """The replies to prompts that are sent one after the other, and the requests."""
    with EndpointServer(script) as server, Endpoint(base_url=server.base_url) as endpoint:
        replies = [endpoint.send([prompt(one)])[0] for one in said]
    return replies, server.seen


def sent(seen: Seen) -> set[str]:
    """Which of the parameters that an endpoint may not know a request has."""
    return OPTIONAL & set(seen.body)


def test_parameters_that_an_endpoint_refuses_are_left_out_from_then_on() -> None:
    """Structured output, seed and temperature are used where they are known."""

    def script(seen: Seen) -> Answer:
        for name in ("response_format", "seed", "temperature", "max_tokens"):
            if name in seen.body:
                return error(400, f"Unsupported parameter: '{name}'")
        return text("Yes.")

    replies, seen = asked(script, "one", "two")

    assert [type(one) for one in replies] == [Completion] * 2
    assert len(seen) == 6 + 1
    assert sent(seen[-1]) == set()


def test_the_limit_has_another_name_with_newer_models() -> None:
    """It is kept under the name that the error tells."""

    def script(seen: Seen) -> Answer:
        return error(400, RENAMED) if "max_tokens" in seen.body else text("Yes.")

    (reply,), seen = asked(script, "one")

    assert isinstance(reply, Completion)
    assert sent(seen[-1]) == OPTIONAL - {"max_tokens"}


@pytest.mark.parametrize("message", [TOO_LONG, FILTERED, "maximum context length is 8192 tokens"])
def test_a_refused_text_is_not_mistaken_for_a_dialect(message: str) -> None:
    """The same text would be refused again; the next one is asked with everything."""

    def script(seen: Seen) -> Answer:
        return error(400, message) if "bad" in seen.user else text("Yes.")

    (reply, _), seen = asked(script, "bad", "good")

    assert message[:60] in str(reply)
    assert len(seen) == 2
    assert sent(seen[1]) == sent(seen[0]) == OPTIONAL - {"max_completion_tokens"}


@pytest.mark.parametrize("message", ["Bad request", "Change seed or temperature"])
def test_what_did_not_help_is_not_remembered(message: str) -> None:
    """A prompt that fails whatever is left out spoils nothing for the others."""

    def script(seen: Seen) -> Answer:
        return error(422, message) if "bad" in seen.user else text("Yes.")

    (reply, other), seen = asked(script, "bad", "good")

    assert isinstance(reply, JudgeError)
    assert isinstance(other, Completion)
    assert len(seen) <= 3 + 1
    assert sent(seen[-1]) == OPTIONAL - {"max_completion_tokens"}


def test_an_error_that_names_nothing_is_tried_once_without_structured_output() -> None:
    """Where that helps, it is remembered."""

    def script(seen: Seen) -> Answer:
        return error(400, "Bad request") if "response_format" in seen.body else text("Yes.")

    replies, seen = asked(script, "one", "two")

    assert [type(one) for one in replies] == [Completion] * 2
    assert ["response_format" in one.body for one in seen] == [True, False, False]


def test_the_parameter_that_an_error_points_at_counts_more_than_its_words() -> None:
    """An error about the messages is not one about the seed that it mentions."""
    spoken = Dialect()

    assert spoken.without("Invalid value near seed", "messages[0].content") is None
    assert spoken.without("Invalid value", "response_format.json_schema") == Dialect("json_object")
    assert spoken.without("The proceeds were unseeded") == Dialect("none")


@pytest.mark.parametrize("told", [10**30, 2.5, [3], 2**32])
def test_a_number_of_tokens_that_no_reply_has_is_estimated(told: object) -> None:
    """Else the verdict could not be stored, and the answer would be judged again and again."""

    def script(_: Seen) -> Answer:
        reply = json.loads(text("yes").body or b"")
        return as_json(reply | {"usage": {"prompt_tokens": told, "completion_tokens": told}})

    replies, _ = asked(script, "Hello?")

    (reply,) = replies
    assert isinstance(reply, Completion)
    assert reply.is_estimated
    assert 0 < reply.input_tokens + reply.output_tokens < 1_000
