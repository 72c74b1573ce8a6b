"""Embeddings from an endpoint, kept by text: the same passages come again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.core.text import encodable
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.llm.ask import UnsentError
from otel_rt4chart.verify.llm.conversation import batches
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.protocol import Embeddings, tokens_in

# Vectors are compared in plain Python, so short ones are asked for; models that cannot shorten
# theirs refuse that once, and give whole ones.
DIMENSIONS = 256
_TEXTS_A_CALL = 256


class OpenAIEmbedder:
    """Texts to vectors by an endpoint's embedding model; the last `most` vectors are kept."""

    is_remote = True

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        model: str = "",
        dimensions: int | None = DIMENSIONS,
        most: int = 20_000,
        prices: Mapping[str, Price] = PRICES,
    ) -> None:
        """`model` is the endpoint's own unless given; `dimensions` of None asks for whole ones."""
        self._endpoint = endpoint
        self._model = model or endpoint.model
        self._dimensions = dimensions
        self._most = most
        self._price = prices.get(self._model)
        self._kept: OrderedDict[str, Sequence[float]] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text; JudgeError where the endpoint fails. Blocks."""
        return self.embed_metered(texts, Meter())

    def embed_metered(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """The same; nothing is sent where the budget does not allow all of it."""
        found = ((text, self._kept.get(text)) for text in dict.fromkeys(texts))
        known = {text: vector for text, vector in found if vector is not None}
        missing = batches(
            [text for text in dict.fromkeys(texts) if text not in known], _TEXTS_A_CALL
        )
        asked = [_sent(some) for some in missing]
        if asked and (refused := meter.refusal(len(asked), sum(map(tokens_in, asked)))) is not None:
            raise JudgeError(refused)
        for some, sent in zip(missing, asked, strict=True):
            vectors = self._asked(sent, meter).vectors
            known.update(zip(some, vectors, strict=True))
        self._kept.update(known)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return [known[text] for text in texts]

    def _asked(self, texts: Sequence[str], meter: Meter) -> Embeddings:
        meter.calls += 1
        try:
            told = self._endpoint.embed(texts, model=self._model, dimensions=self._dimensions)
        except UnsentError:
            meter.calls -= 1
            raise
        is_known = self._price is not None and not told.is_estimated
        cost = self._price.of(told.tokens, 0, 0) if self._price and is_known else None
        meter.charge(told.tokens, 0, 0, cost)
        return told


def _sent(texts: Sequence[str]) -> list[str]:
    """What is sent: valid Unicode, never empty, which endpoints refuse."""
    return [encodable(text).strip() or "-" for text in texts]
