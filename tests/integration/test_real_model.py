"""The judges behind an endpoint with a real model on a real server.

What the model says is not tested, for it is small and mostly wrong: that every reply becomes a
verdict or a reason, whatever it says, in time, with what it cost.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.judges.judge_failure import failure_in_report
from otel_rt4chart.verify import Exchange, Passage, SingleJudge, Verifier
from otel_rt4chart.verify.llm.conversation import Completion, with_label_odds
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage
from tests.integration.llama import (
    ANSWER,
    CONTEXT,
    MODEL,
    PASSAGE,
    PATIENCE_S,
    SLOTS,
    Llama,
    labelled_answers,
    llama,
    use_llama,
)

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """One server for all tests."""
    with llama(tmp_path_factory.mktemp("llama")) as running:
        yield running


@pytest.fixture
def configured(server: Llama, monkeypatch: pytest.MonkeyPatch) -> Llama:
    """The server as the settings' endpoint."""
    use_llama(server, monkeypatch)
    return server


@pytest.fixture
def endpoint(server: Llama) -> Iterator[Endpoint]:
    """A client of the server that waits as long as it takes."""
    with Endpoint(MODEL, base_url=server.base_url, timeout_s=PATIENCE_S) as opened:
        yield opened


def prompt(
    said: str, schema: dict[str, Any] | None = None, *, tokens: int = 60, asks_odds: bool = False
) -> Prompt:
    """A prompt of one turn."""
    return Prompt((PromptMessage("user", said),), "reply", schema or {}, tokens, 42, asks_odds)


def schema(**values: object) -> dict[str, Any]:
    """A JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": values,
        "required": list(values),
        "additionalProperties": False,
    }


def only(endpoint: Endpoint, one: Prompt) -> Completion:
    """The reply to one prompt, which must be there."""
    (reply,) = endpoint.send([one])
    assert isinstance(reply, Completion), reply
    return reply


LABELLED = schema(
    claimed={"enum": ["\N{SLEUTH OR SPY} caf\N{LATIN SMALL LETTER E WITH ACUTE}"]},
    label={"enum": ["entailed", "contradicted", "baseless"]},
)


def test_a_reply_has_the_form_that_was_asked_for(endpoint: Endpoint) -> None:
    """Structured output, and the tokens as the server counts them."""
    reply = only(endpoint, prompt("Is the pool warm?", LABELLED))

    assert json.loads(reply.text).keys() == {"claimed", "label"}
    assert reply.input_tokens > 0
    assert reply.output_tokens > 0
    assert not reply.is_estimated
    assert not reply.is_cut


def test_a_labels_confidence_is_the_probability_of_its_tokens(endpoint: Endpoint) -> None:
    """Also behind characters of several bytes, and in a code fence that the server cuts off."""
    reply = only(endpoint, prompt("Is the pool warm?", LABELLED, asks_odds=True))

    # Near 0 where the schema forced a label that the model itself would not have said.
    assert 0 <= json.loads(with_label_odds(reply))["label_probability"] < 1


def test_a_reply_at_its_limit_is_known_to_be_cut(endpoint: Endpoint) -> None:
    """It is not read as if it were whole."""
    reply = only(endpoint, prompt("Count from one to one thousand.", tokens=8))

    assert reply.is_cut
    assert reply.output_tokens == 8


def test_the_same_prompt_has_the_same_reply(endpoint: Endpoint) -> None:
    """Temperature 0 and a seed."""
    first, second = (only(endpoint, prompt("Name a town.", tokens=12)) for _ in range(2))

    assert first.text == second.text


def test_a_slow_model_is_asked_once_and_given_up(server: Llama) -> None:
    """After one time-out, not after three; and the server is free for the next one."""
    before, began = server.requests, time.monotonic()
    with Endpoint(MODEL, base_url=server.base_url, timeout_s=2.0) as hasty:
        (told,) = hasty.send([prompt("Tell a long story.", tokens=3000)])
        taken = time.monotonic() - began

    assert "no reply within 2 s: the model is slow or busy" in str(told)
    assert taken < 15
    assert server.requests == before + 1
    with Endpoint(MODEL, base_url=server.base_url, timeout_s=PATIENCE_S) as patient:
        assert only(patient, prompt("Name a town.", tokens=4)).text


def test_a_context_that_does_not_fit_is_refused_once(endpoint: Endpoint) -> None:
    """The reason names the setting that helps, and another attempt would not."""
    long = Passage("p1", "The pool is heated. " * CONTEXT)
    report = Verifier(SingleJudge(endpoint)).verify(Exchange("", [long], "The pool is warm."))

    (claim,) = report.claims
    failure = failure_in_report(report)
    assert "exceeds the available context size" in claim.reason
    assert "RT4CHART_JUDGE_INPUT_LIMIT" in claim.reason
    assert failure is not None
    assert (failure.kind, failure.is_temporary) == ("too_long", False)


def test_a_limit_of_the_input_lets_a_long_context_be_read(endpoint: Endpoint) -> None:
    """In parts that fit the model."""
    sentences = [f"Pool {n} of the old town is heated in winter." for n in range(150)]
    exchange = Exchange("", [Passage("p1", " ".join(sentences))], "Pool 7 is heated.")
    report = Verifier(SingleJudge(endpoint, input_limit=1500)).verify(exchange)

    assert report.usage.calls > 1
    assert not any("context size" in claim.reason for claim in report.claims)


def test_more_requests_than_slots_are_all_answered(endpoint: Endpoint) -> None:
    """The rest wait at the server."""
    several = [prompt(f"Name town number {n}.", tokens=8) for n in range(3 * SLOTS)]

    replies = endpoint.send(several)

    assert [type(reply) for reply in replies] == [Completion] * len(several)


def test_the_doctor_says_what_the_model_did(
    configured: Llama, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reaches the model; whether that is strong enough is told, too."""
    main(["doctor", "--judge", "single", "--json"])

    (check,) = [one for one in json.loads(capsys.readouterr().out) if "single" in one["name"]]
    assert any(
        words in check["detail"]
        for words in (f"{MODEL} answered", "reply was not usable", "reply was cut")
    ), check


def test_check_tells_a_verdict_or_why_there_is_none(
    configured: Llama, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a real probability as the confidence, and never 1; an undecided claim has its reason."""
    given = ["--answer", ANSWER, "--passage", PASSAGE]
    status = main(["check", "--judge", "openai", *given])

    row = json.loads(capsys.readouterr().out)
    assert row["usage"]["calls"] > 0
    assert row["usage"]["output_tokens"] > 0
    for claim in row["claims"]:
        if claim["label"] == "undecided":
            assert claim["reason"]
        else:
            assert claim["confidence"] is None or 0 <= claim["confidence"] < 1
    assert status == int(all(claim["label"] == "undecided" for claim in row["claims"]))


@pytest.mark.parametrize("judge", ["single", "openai"])
def test_bench_measures_the_model(
    configured: Llama, judge: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each answer has its verdict and its cost, also where the model was of no use."""
    main(["bench", str(labelled_answers(tmp_path)), "--judge", judge, "--json"])

    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [one["id"] for one in run["answers"]] == ["a1", "a2"]
    assert all(one["usage"]["calls"] > 0 for one in run["answers"])
    assert all(one["usage"]["output_tokens"] > 0 for one in run["answers"])
