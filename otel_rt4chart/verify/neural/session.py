"""A running classifier of pairs, with the scores of recent pairs kept for reuse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.neural.labels import LabelMap, Odds
from otel_rt4chart.verify.neural.model_folder import LONGEST, ModelFolder
from otel_rt4chart.verify.neural.runtime import Runtime, Source, Tokens
from otel_rt4chart.verify.neural.score_cache import Kept

_OUTPUT = "logits"
_BATCH_TOKENS = 4_096  # bounds the memory that a batch takes, whatever the model
_DIGITS = 4  # what lies beneath differs with the padding of a batch
_AGAIN = "export it for text classification, with dynamic axes (docs/deploy/judges.md)"

Pair = tuple[str, str]


class Session:
    """A model that gives probabilities for pairs of premise and hypothesis; threads may share it.

    `width` is the number of its logits, `longest` the tokens that a pair may have. The same pair
    always gets the same probabilities, whichever pairs are asked beside it; `one_by_one` is for
    models whose batches share a scale.
    """

    def __init__(self, folder: ModelFolder, *, threads: int = 0, one_by_one: bool = False) -> None:
        """Open the model and try it; `threads` 0 is all cores of this process, 4 at most."""
        pad = folder.config.get("pad_token_id")
        source = Source(
            owner="an onnx judge",
            model=folder.model,
            tokenizer=folder.tokenizer,
            outputs=(_OUTPUT,),
            remedy=_AGAIN,
            pad=pad if isinstance(pad, int) else 0,
        )
        self._runtime = Runtime(source, threads=threads)
        self._one_by_one = one_by_one
        self.longest = min(LONGEST, folder.positions, self._runtime.limit or LONGEST)
        try:
            self.width = len(self.probabilities([("a", "a")])[0])
        except JudgeError as error:
            raise SettingsError(f"{error}; {_AGAIN}") from error

    def pair_length(self, premise: str, hypothesis: str) -> int:
        """The tokens of a pair, with those that frame it."""
        return len(self._runtime.encode(premise, hypothesis))

    def probabilities(self, pairs: Sequence[Pair]) -> list[tuple[float, ...]]:
        """One for each logit; of a single logit its sigmoid. JudgeError where the model fails."""
        encoded = [self._runtime.encode(*pair) for pair in pairs]
        lengths = [len(one) for one in encoded]
        if max(lengths, default=0) > self.longest:
            raise JudgeError(f"expected pairs of {self.longest} tokens, got {max(lengths)}")
        found: dict[int, tuple[float, ...]] = {}
        for batch in self._batches(lengths):
            (logits,) = self._runtime.run(
                [Tokens(encoded[at].ids, encoded[at].type_ids) for at in batch]
            )
            found.update(zip(batch, map(_normalised, logits), strict=True))
        return [found[at] for at in range(len(pairs))]

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Pairs of like lengths together, so that little is padded."""
        batch: list[int] = []
        for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
            is_full = self._one_by_one or (len(batch) + 1) * lengths[at] > _BATCH_TOKENS
            if batch and is_full:
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch


def _normalised(logits: Sequence[float]) -> tuple[float, ...]:
    """Softmax, or the sigmoid of a single logit."""
    values = [*logits, 0.0] if len(logits) == 1 else logits
    highest = max(values)
    raised = [math.exp(value - highest) for value in values]
    total = sum(raised)
    return tuple(round(value / total, _DIGITS) for value in raised[: len(logits)])


_KEPT = 4_096


class Scores:
    """A chunk's nearest sentences are often the context's too; bounded, threads may share it."""

    def __init__(self, session: Session, labels: LabelMap) -> None:
        """Nothing is known yet."""
        self._session = session
        self._labels = labels
        self._known: Kept[Pair, Odds] = Kept(_KEPT)

    def of(self, pairs: Iterable[Pair]) -> dict[Pair, Odds]:
        """The odds of each pair; all that are not known are asked for at once."""
        asked = list(dict.fromkeys(pairs))
        found = {pair: odds for pair in asked if (odds := self._known.get(pair)) is not None}
        missing = [pair for pair in asked if pair not in found]
        given = map(self._labels.odds, self._session.probabilities(missing))
        for pair, odds in zip(missing, given, strict=True):
            found[pair] = odds
            self._known.put(pair, odds)
        return found
