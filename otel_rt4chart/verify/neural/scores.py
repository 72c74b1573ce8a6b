"""What a model gave for a pair, kept for the next call that asks for the same."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.verify.neural.kept import Kept
from otel_rt4chart.verify.neural.labels import LabelMap, Odds
from otel_rt4chart.verify.neural.session import Pair, Session

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
