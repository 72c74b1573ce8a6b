"""Which context sentences a claim may stand on: similarity finds candidates, it decides nothing."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.drive import Batch, Steps
from otel_rt4chart.verify.core.judge import BatchJudge, Embed, Embedder, Judge, ModelJudge
from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.language.tokens import content

# A claim under both floors with every sentence is unlinked.
FLOOR, DENSE_FLOOR, LIMIT = 0.05, 0.3, 8
_RANK = 60  # the usual constant of reciprocal rank fusion (Cormack et al., 2009)

Vector = Sequence[float]


class Link(NamedTuple):
    """A candidate sentence: the share of the claim's content it holds, and how near its meaning.

    Both are in [0, 1]; `cosine` is 0 where no embedder was given.
    """

    sentence: int
    score: float
    cosine: float = 0.0


def embedded(
    embedder: Embedder | None, context: Sequence[Sentence], claims: Sequence[str]
) -> Steps[tuple[list[Vector], str]]:
    """Unit vectors of the context's sentences, then of the claims; or none, and why."""
    if embedder is None:
        return [], ""
    texts = (*(sentence.reading for sentence in context), *claims)
    (reply,) = yield Batch(embedder, (Embed(texts),))
    if isinstance(reply, JudgeError):
        return [], str(reply)
    vectors = [_unit(vector) for vector in reply] if isinstance(reply, Sequence) else []
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
        return [], f"the embedder gave {len(vectors)} vectors for {len(texts)} texts"
    return vectors, ""


def is_conclusive(embedder: Embedder | None, error: str, judge: Judge | BatchJudge) -> bool:
    """True where an unlinked claim is baseless without asking the judge.

    Meaning was compared, or the judge is one that itself compares words alone.
    """
    if embedder is not None:
        return not error
    return not isinstance(judge, BatchJudge | CascadeJudge | ModelJudge)


class Linker:
    """An index over a context's sentences, each known by its own `index`: words, and meanings."""

    def __init__(self, sentences: Sequence[Sentence], vectors: Sequence[Vector] = ()) -> None:
        """`vectors` are unit vectors, one a sentence, or none for a lexical index alone."""
        self._vectors = {one.index: v for one, v in zip(sentences, vectors, strict=False)}
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for sentence in sentences:
            for stem in content(sentence.reading):
                self._holders[stem].append(sentence.index)

    def candidates(self, text: str, vector: Vector = (), *, limit: int = LIMIT) -> tuple[Link, ...]:
        """At most `limit` sentences, best first, by their ranks in words and in meaning together.

        A word counts by its rarity; ties go to the earlier sentence.
        """
        shares, cosines = self._shares(text), self._cosines(vector)
        if not cosines:
            ranked = sorted(shares, key=lambda index: (-shares[index], index))
        else:
            fused = _fused(shares, cosines)
            ranked = sorted(fused, key=lambda index: (-fused[index], index))
        return tuple(
            Link(index, shares.get(index, 0.0), cosines.get(index, 0.0)) for index in ranked[:limit]
        )

    def _shares(self, text: str) -> dict[int, float]:
        rarities = content(text)
        total = sum(rarities.values())
        held: defaultdict[int, float] = defaultdict(float)
        for stem, rarity in rarities.items():
            for index in self._holders.get(stem, ()):
                held[index] += rarity / total
        return held

    def _cosines(self, vector: Vector) -> dict[int, float]:
        if not vector:
            return {}
        return {
            index: max(0.0, sum(map(mul, vector, other))) for index, other in self._vectors.items()
        }


def _fused(*scores: dict[int, float]) -> dict[int, float]:
    """Reciprocal rank fusion: neither kind of score needs to be on the other's scale."""
    fused: defaultdict[int, float] = defaultdict(float)
    for one in scores:
        for rank, index in enumerate(sorted(one, key=lambda index: (-one[index], index)), start=1):
            fused[index] += 1.0 / (_RANK + rank)
    return fused


def _unit(vector: object) -> Vector:
    values = [float(value) for value in vector] if isinstance(vector, Sequence) else []
    norm = math.sqrt(sum(map(mul, values, values)))
    return [value / norm for value in values] if norm else values
