"""Embeddings from an endpoint, kept by text: the same passages come again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from otel_rt4chart.verify.llm.conversation import batches
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prompt import printable

# Vectors are compared in plain Python, so short ones are asked for; OpenAI's models can shorten.
DIMENSIONS = 256
_TEXTS_A_CALL = 256


class OpenAIEmbedder:
    """Texts to vectors by an endpoint's embedding model; the last `most` vectors are kept."""

    def __init__(
        self, endpoint: Endpoint, *, dimensions: int | None = DIMENSIONS, most: int = 20_000
    ) -> None:
        """`dimensions` is None for models that cannot shorten their vectors."""
        self._endpoint = endpoint
        self._dimensions = dimensions
        self._most = most
        self._kept: OrderedDict[str, Sequence[float]] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text; JudgeError where the endpoint fails. Blocks."""
        known = self._known(texts)
        for some in batches(_missing(texts, known), _TEXTS_A_CALL):
            told = self._endpoint.embed(_sent(some), dimensions=self._dimensions)
            known.update(zip(some, told, strict=True))
        return self._keep(texts, known)

    async def embed_async(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The same, awaited."""
        known = self._known(texts)
        for some in batches(_missing(texts, known), _TEXTS_A_CALL):
            told = await self._endpoint.embed_async(_sent(some), dimensions=self._dimensions)
            known.update(zip(some, told, strict=True))
        return self._keep(texts, known)

    def _known(self, texts: Sequence[str]) -> dict[str, Sequence[float]]:
        found = ((text, self._kept.get(text)) for text in texts)
        return {text: vector for text, vector in found if vector is not None}

    def _keep(
        self, texts: Sequence[str], known: dict[str, Sequence[float]]
    ) -> list[Sequence[float]]:
        self._kept.update(known)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return [known[text] for text in texts]


def _missing(texts: Sequence[str], known: dict[str, Sequence[float]]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in known]


def _sent(texts: Sequence[str]) -> list[str]:
    """What is sent: valid Unicode, never empty, which endpoints refuse."""
    return [printable(text).strip() or "-" for text in texts]
