"""Links a claim to candidate sentences by words and meaning; similarity never decides a label."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from heapq import nsmallest
from operator import mul
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import BatchJudge, Embed, Embedder, Judge, ModelJudge
from otel_rt4chart.verify.core.meter import TOO_LARGE
from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.core.steps import Batch, Steps
from otel_rt4chart.verify.language.tokens import content

# A claim is unlinked where no sentence reaches either floor.
FLOOR, DENSE_FLOOR, MAX_CANDIDATES = 0.05, 0.3, 8
# Texts that are embedded, and cosines computed, for one answer: each bound is about five seconds.
MAX_EMBEDDED, MAX_COSINES = 2_000, 300_000
_RANK = 60  # the usual constant of reciprocal rank fusion (Cormack et al., 2009)

Vector = Sequence[float]


class CandidateSentence(NamedTuple):
    """A candidate: `score` is the share of the claim's content that it holds, by rarity.

    `score` and `cosine` are in [0, 1]; `cosine` is 0 without an embedder.
    """

    sentence: int
    score: float
    cosine: float = 0.0


def embed_texts(
    embedder: Embedder | None, context: Sequence[Sentence], claims: Sequence[str]
) -> Steps[tuple[list[Vector], str]]:
    """Unit vectors of the context's sentences, then of the claims; or none, and the reason."""
    if embedder is None:
        return [], ""
    texts = (*(sentence.reading for sentence in context), *claims)
    if len(texts) > MAX_EMBEDDED or len(context) * len(claims) > MAX_COSINES:
        return [], (
            f"{TOO_LARGE}: {len(context):,} sentences and {len(claims):,} claims, expected at most "
            f"{MAX_EMBEDDED:,} together and {MAX_COSINES:,} pairs to compare by meaning"
        )
    (reply,) = yield Batch(embedder, (Embed(texts),))
    if isinstance(reply, JudgeError):
        return [], str(reply)
    vectors = [_unit(vector) for vector in reply] if isinstance(reply, Sequence) else []
    # A wrong number of vectors would attach meanings to the wrong sentences.
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
        return [], f"the embedder gave {len(vectors)} vectors for {len(texts)} texts"
    return vectors, ""


def decides_unlinked_claims(
    embedder: Embedder | None, error: str, judge: Judge | BatchJudge
) -> bool:
    """True where an unlinked claim is baseless without asking the judge.

    So it is where meaning was compared, or where the judge itself compares words alone.
    """
    if embedder is not None:
        return not error
    return not isinstance(judge, BatchJudge | CascadeJudge | ModelJudge)


class Linker:
    """An index of sentences by word and by vector; a sentence is identified by its `index`."""

    def __init__(self, sentences: Sequence[Sentence], vectors: Sequence[Vector] = ()) -> None:
        """`vectors` are unit vectors, one for each sentence, or none for a lexical index alone."""
        self._sentences = {sentence.index: sentence for sentence in sentences}
        self._vectors = {one.index: v for one, v in zip(sentences, vectors, strict=False)}
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for sentence in sentences:
            for stem in content(sentence.reading):
                self._holders[stem].append(sentence.index)

    def sentence(self, index: int) -> Sentence:
        """The sentence with that index."""
        return self._sentences[index]

    def candidates(
        self, text: str, vector: Vector = (), *, limit: int = MAX_CANDIDATES
    ) -> tuple[CandidateSentence, ...]:
        """At most `limit` sentences, best first, by their ranks in words and in meaning.

        A word counts by its rarity; of equal sentences the earlier one comes first.
        """
        shares, cosines = self._shares(text), self._cosines(vector)
        scores = _fuse_ranks(shares, cosines) if cosines else shares
        ranked = nsmallest(limit, ((-score, index) for index, score in scores.items()))
        return tuple(
            CandidateSentence(index, shares.get(index, 0.0), cosines.get(index, 0.0))
            for _, index in ranked
        )

    def _shares(self, text: str) -> dict[int, float]:
        rarities = content(text)
        total = sum(rarities.values())
        shares: defaultdict[int, float] = defaultdict(float)
        for stem, rarity in rarities.items():
            for index in self._holders.get(stem, ()):
                shares[index] += rarity / total
        return shares

    def _cosines(self, vector: Vector) -> dict[int, float]:
        if not vector:
            return {}
        return {
            index: max(0.0, sum(map(mul, vector, other))) for index, other in self._vectors.items()
        }


def _fuse_ranks(*scores: dict[int, float]) -> dict[int, float]:
    """Reciprocal rank fusion: it compares ranks, so the scores need no common scale."""
    fused: defaultdict[int, float] = defaultdict(float)
    for one in scores:
        for rank, index in enumerate(sorted(one, key=lambda index: (-one[index], index)), start=1):
            fused[index] += 1.0 / (_RANK + rank)
    return fused


def _unit(vector: object) -> Vector:
    values = [float(value) for value in vector] if isinstance(vector, Sequence) else []
    norm = math.sqrt(sum(map(mul, values, values)))
    return [value / norm for value in values] if norm else values
