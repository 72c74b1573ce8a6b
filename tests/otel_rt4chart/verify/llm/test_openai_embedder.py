from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    Budget,
    Endpoint,
    Exchange,
    Label,
    Passage,
    RulesJudge,
    Usage,
    Verifier,
)
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.llm.openai_embedder import OpenAIEmbedder
from otel_rt4chart.verify.llm.prices import Price
from otel_rt4chart.verify.text.segment import segment
from tests.endpoint_server import Answer, EndpointServer, Seen, as_json, embedded, error

PASSAGES = [Passage("p", "The pool is open.")]
TEXTS = ["the pool is heated", "dogs are welcome", "the pool is heated and warm"]


@contextmanager
def embedding(
    embeds: Callable[[Seen], Answer] = embedded, *, per_minute: Budget | None = None
) -> Iterator[tuple[EndpointServer, Endpoint]]:
    """A server with this way to embed, and an endpoint that knows it."""
    with (
        EndpointServer([], embeds=embeds) as server,
        Endpoint(base_url=server.base_url, max_retries=0, per_minute=per_minute) as endpoint,
    ):
        yield server, endpoint


def test_texts_that_share_words_are_near() -> None:
    """The endpoint's vectors come back in order, each text asked once."""
    with embedding() as (server, endpoint):
        embedder = OpenAIEmbedder(endpoint, model="small", dimensions=64)
        vectors = embedder.embed([*TEXTS, TEXTS[0]])
        again = embedder.embed(TEXTS)

    pool, dogs, warm, same = vectors
    assert pool == same
    assert dot(pool, warm) > dot(pool, dogs)
    assert again == vectors[:3]
    (seen,) = server.seen
    assert (seen.body["input"], seen.body["model"], seen.body["dimensions"]) == (TEXTS, "small", 64)


def test_embeddings_are_part_of_what_an_answer_costs() -> None:
    """Calls, tokens and dollars, the same where verification is awaited."""
    exchange = Exchange("", PASSAGES, "The pool is open.")
    with embedding() as (server, endpoint):

        def verifier() -> Verifier:
            prices = {"small": Price(5.0, 5.0, 0.0)}
            embedder = OpenAIEmbedder(endpoint, model="small", prices=prices)
            return Verifier(RulesJudge(), embedder=embedder)

        told = verifier().verify(exchange)
        awaited = asyncio.run(verifier().verify_async(exchange))

    assert told == awaited
    assert told.usage == Usage(calls=1, input_tokens=1, cost_usd=5e-6)
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("budget", "per_minute", "told"),
    [
        (Budget(calls=1), None, "over_budget: 1 calls an answer"),
        (Budget(tokens=500), None, "over_budget: 500 tokens an answer"),
        (None, Budget(calls=0), "over_budget: 0 calls a minute"),
        (None, Budget(tokens=500), "over_budget: 500 tokens a minute"),
    ],
)
def test_a_budget_that_does_not_allow_all_embeddings_pays_for_none(
    budget: Budget | None, per_minute: Budget | None, told: str
) -> None:
    """Claims are linked by words, and the report says why."""
    passages = [Passage(str(n), f"The pool number {n} is open.") for n in range(300)]
    with embedding(per_minute=per_minute) as (server, endpoint):
        verifier = Verifier(RulesJudge(), embedder=OpenAIEmbedder(endpoint), budget=budget)
        report = verifier.verify(Exchange("", passages, "The pool number 7 is open."))

    assert report.usage == Usage()
    assert server.seen == []
    assert told in next(f.detail for f in report.findings if f.name == "linked_by_words_only")


@pytest.mark.parametrize("code", [400, 422])
def test_a_model_that_cannot_shorten_its_vectors_is_asked_for_whole_ones(code: int) -> None:
    """From the first refusal on."""

    def embeds(seen: Seen) -> Answer:
        if "dimensions" in seen.body:
            return error(code, "Model does not support matryoshka representation")
        return embedded(seen)

    with embedding(embeds) as (server, endpoint):
        embedder = OpenAIEmbedder(endpoint)
        vectors = [*embedder.embed(TEXTS[:1]), *embedder.embed(TEXTS[1:])]

    assert {len(vector) for vector in vectors} == {64}
    assert ["dimensions" in one.body for one in server.seen] == [True, False, False]


def test_a_refusal_that_is_not_about_dimensions_is_not_remembered() -> None:
    """What did not help is tried again with the next texts."""

    def embeds(seen: Seen) -> Answer:
        return error(400, "no") if seen.body["input"] == TEXTS[:1] else embedded(seen)

    with embedding(embeds) as (server, endpoint):
        embedder = OpenAIEmbedder(endpoint)
        with pytest.raises(JudgeError, match="400: "):
            embedder.embed(TEXTS[:1])
        embedder.embed(TEXTS[1:])

    assert ["dimensions" in one.body for one in server.seen] == [True, False, True]


def test_an_endpoint_that_does_not_tell_tokens_makes_the_cost_unknown() -> None:
    """They are estimated; a price of an estimate is none."""

    def embeds(seen: Seen) -> Answer:
        told = json.loads(embedded(seen).body or b"")
        del told["usage"]
        return as_json(told)

    meter = Meter()
    with embedding(embeds) as (_, endpoint):
        OpenAIEmbedder(endpoint, model="text-embedding-3-small").embed_metered(TEXTS, meter)

    assert (meter.calls, meter.cost_usd) == (1, None)
    assert meter.input_tokens == sum(-(-len(text) // 3) for text in TEXTS)


def dot(left: object, right: object) -> float:
    """The cosine of unit vectors."""
    return sum(a * b for a, b in zip(list(left), list(right), strict=True))  # type: ignore[call-overload]


def test_meaning_and_words_are_ranked_together() -> None:
    """A sentence without a common word is a candidate where it is near in meaning."""
    sentences = segment("The pool is heated. Dogs are welcome. Parking costs 5 euros.")
    linker = Linker(sentences, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])

    found = linker.candidates("Parking is free", [0.0, 1.0], limit=2)

    assert [link.sentence for link in found] == [2, 1]
    assert (round(found[1].score, 2), found[1].cosine) == (0.0, 1.0)


class Fixed:
    """An embedder of two directions: about pools, and about the rest."""

    def embed(self, texts: object) -> list[list[float]]:
        """One unit vector a text."""
        assert isinstance(texts, tuple)
        return [[1.0, 0.0] if "pool" in t or "swim" in t else [0.0, 1.0] for t in texts]


def test_a_claim_that_is_near_in_meaning_reaches_the_judge() -> None:
    """Words alone would have called it unlinked."""
    script = Script(Label.ENTAILED, evidence=("pool",))
    judge = ScriptedJudge({"You can swim here": script, "The pool is warm": script})
    exchange = Exchange("", PASSAGES, "The pool is warm. You can swim here")

    by_words = Verifier(judge).verify(exchange)
    by_meaning = Verifier(judge, embedder=Fixed()).verify(exchange)

    assert [claim.reason for claim in by_words.claims] == ["", "unlinked"]
    assert [claim.label for claim in by_meaning.claims] == [Label.ENTAILED] * 2


def test_an_embedder_that_fails_costs_no_verdict() -> None:
    """Claims are linked by words, none is called unlinked, and the report says so."""
    script = Script(Label.ENTAILED, evidence=("pool",))
    judge = ScriptedJudge({"You can swim here": script, "The pool is warm": script})
    exchange = Exchange("", PASSAGES, "The pool is warm. You can swim here")
    endpoint = Endpoint("small", base_url="http://127.0.0.1:9/v1", max_retries=0)

    report = Verifier(judge, embedder=OpenAIEmbedder(endpoint)).verify(exchange)
    endpoint.close()

    assert [claim.label for claim in report.claims] == [Label.ENTAILED] * 2
    told = next(one for one in report.findings if one.name == "linked_by_words_only")
    assert "cannot be reached" in told.detail
