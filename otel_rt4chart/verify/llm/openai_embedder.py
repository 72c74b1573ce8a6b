"""Embeddings from an endpoint, cached by text: the same passages are retrieved repeatedly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.core.text import encodable
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.llm.conversation import UnsentError, batches
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.protocol import Embeddings, tokens_in

# Vectors are compared in plain Python, so short ones are requested. A model that cannot shorten
# its vectors refuses once and then gives whole ones.
DIMENSIONS = 256
_TEXTS_A_CALL = 256


class OpenAIEmbedder:
    """Maps texts to vectors by an endpoint's model; the last `most` vectors are cached."""

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
        """`model` defaults to the endpoint's; `dimensions` None requests whole vectors."""
        self._endpoint = endpoint
        self._model = model or endpoint.model
        self._dimensions = dimensions
        self._most = most
        self._price = prices.get(self._model)
        self._kept: OrderedDict[str, Sequence[float]] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text; JudgeError where the endpoint fails. Blocks."""
        return self.embed_metered(texts, Meter())

    def embed_metered(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """The same; nothing is sent unless the budget allows all of it."""
        found = ((text, self._kept.get(text)) for text in dict.fromkeys(texts))
        known = {text: vector for text, vector in found if vector is not None}
        missing = batches(
            [text for text in dict.fromkeys(texts) if text not in known], _TEXTS_A_CALL
        )
        asked = [_sent(some) for some in missing]
        # All or nothing: cosines of some texts alone would link claims to the wrong sentences.
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
            embeddings = self._endpoint.embed(texts, model=self._model, dimensions=self._dimensions)
        except UnsentError:
            meter.calls -= 1
            raise
        is_known = self._price is not None and not embeddings.is_estimated
        cost = self._price.of(embeddings.tokens, 0, 0) if self._price and is_known else None
        meter.charge(embeddings.tokens, 0, 0, cost)
        return embeddings


def _sent(texts: Sequence[str]) -> list[str]:
    """The texts as sent: valid Unicode, and never empty, for endpoints refuse empty texts."""
    return [encodable(text).strip() or "-" for text in texts]
