from __future__ import annotations

import asyncio

from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Endpoint, Exchange, Label, Passage, Verifier
from otel_rt4chart.verify.link import Linker
from otel_rt4chart.verify.llm.embedder import OpenAIEmbedder
from otel_rt4chart.verify.segment import segment
from tests.endpoint_server import EndpointServer

PASSAGES = [Passage("p", "The pool is open.")]
TEXTS = ["the pool is heated", "dogs are welcome", "the pool is heated and warm"]


def test_texts_that_share_words_are_near() -> None:
    """The endpoint's vectors come back in order, each text asked once."""
    with EndpointServer([]) as server:
        embedder = OpenAIEmbedder(Endpoint("small", base_url=server.base_url), dimensions=64)
        vectors = embedder.embed([*TEXTS, TEXTS[0]])
        again = embedder.embed(TEXTS)
        awaited = asyncio.run(awaited_once(server))

    pool, dogs, warm, same = vectors
    assert pool == same
    assert dot(pool, warm) > dot(pool, dogs)
    assert again == vectors[:3] == awaited
    assert [one.body["input"] for one in server.seen] == [TEXTS, TEXTS]
    assert server.seen[0].body["dimensions"] == 64


async def awaited_once(server: EndpointServer) -> list[list[float]]:
    """The same over the asynchronous client."""
    endpoint = Endpoint("small", base_url=server.base_url)
    try:
        return [[*v] for v in await OpenAIEmbedder(endpoint, dimensions=64).embed_async(TEXTS)]
    finally:
        await endpoint.close_async()
        endpoint.close()


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
