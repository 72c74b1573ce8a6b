from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from otel_rt4chart.judges.verdict_cache import FileCache
from otel_rt4chart.verify import (
    AnswerLabel,
    Budget,
    Endpoint,
    Exchange,
    OpenAIJudge,
    SingleJudge,
    Verifier,
)
from otel_rt4chart.verify.llm.cache import MemoryCache
from tests.endpoint_server import Answer, EndpointServer, Seen, as_json, error
from tests.oracle import Oracle
from tests.otel_rt4chart.verify.llm.served import POOL, WARM, served

ORACLE = Oracle(judge=lambda claim, sentences: WARM)


def without_usage(seen: Seen) -> Answer:
    """A model whose endpoint does not tell tokens."""
    told = json.loads(ORACLE(seen).body or b"")
    del told["usage"]
    return as_json(told)


def test_tokens_that_are_not_told_are_estimated_and_have_no_price() -> None:
    """A budget of tokens holds all the same; a cost of 0 would be a lie."""
    with served(without_usage) as (_, endpoint):
        free = Verifier(OpenAIJudge(endpoint)).verify(POOL)
    with served(without_usage) as (server, endpoint):
        bounded = Verifier(OpenAIJudge(endpoint), budget=Budget(tokens=1_400)).verify(POOL)

    assert free.usage.cost_usd is None
    assert free.usage.input_tokens > free.usage.output_tokens > 0
    assert bounded.claims[0].reason == "over_budget: 1400 tokens an answer"
    assert bounded.usage.calls == len(server.seen) == 1


def test_what_a_minute_does_not_allow_is_not_counted_as_a_call() -> None:
    """Nothing was sent."""
    with (
        EndpointServer(ORACLE) as server,
        Endpoint(base_url=server.base_url, per_minute=Budget(calls=1)) as endpoint,
    ):
        report = Verifier(OpenAIJudge(endpoint)).verify(POOL)

    assert report.claims[0].reason == "over_budget: 1 calls a minute"
    assert report.usage.calls == len(server.seen) == 1


@pytest.mark.parametrize("kind", [OpenAIJudge, SingleJudge])
def test_the_same_models_name_at_another_address_is_asked_itself(
    kind: type[OpenAIJudge] | type[SingleJudge],
) -> None:
    """Verdicts of a cache that both share are those of one endpoint."""
    cache = MemoryCache()
    with served(ORACLE) as (first, here), served(ORACLE) as (second, there):
        for endpoint in (here, there, here):
            Verifier(kind(endpoint, cache=cache)).verify(POOL)

    assert len(first.seen) == len(second.seen) > 0


@pytest.mark.parametrize(
    "text",
    ['{"label": "bogus", "sentences": []}', '{"label": "entailed", "sentences": [99]}', "[1]"],
)
def test_damaged_verdicts_are_asked_for_again(text: str, tmp_path: Path) -> None:
    """Whatever stands in the file, verification ends well."""
    path = tmp_path / "verdicts.db"
    cache = FileCache(str(path))
    with served(ORACLE) as (server, endpoint):
        verifier = Verifier(OpenAIJudge(endpoint, cache=cache))
        before = verifier.verify(POOL)
        count = len(server.seen)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE verdicts SET value = ?", (text,))
        database.close()
        after = verifier.verify(POOL)

    assert (before.label, after.label) == (AnswerLabel.ENTAILED, AnswerLabel.ENTAILED)
    assert len(server.seen) == 2 * count
    cache.close()


def test_a_prompt_that_a_content_filter_refuses_costs_one_request() -> None:
    """Its claims are undecided with the filter's words; the next answer is asked as before."""

    def script(seen: Seen) -> Answer:
        if "evil" in seen.user:
            return error(400, "The prompt triggered our content management policy; change the seed")
        return ORACLE(seen)

    with served(script) as (server, endpoint):
        verifier = Verifier(OpenAIJudge(endpoint))
        refused = verifier.verify(Exchange("", POOL.passages, "The pool is evil."))
        count = len(server.seen)
        verifier.verify(POOL)

    assert count == refused.usage.calls == 1
    assert "content management policy" in refused.claims[0].reason
    sent = [one.body.keys() - {"logprobs", "top_logprobs"} for one in server.seen]
    assert all(keys == sent[0] for keys in sent)
