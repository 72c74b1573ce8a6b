"""Where the evidence was lost, over the failures of an issue: counted, without a model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_clustering.explain.reading import Reading
from rt4chart_clustering.explain.stage import Lost, Seen, lost_at, needs_texts
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import Failure
from rt4chart_collector.store.passages import passages_of

_PAGE = 64
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How many failures lost their evidence at which stage, with traces of each."""

    counts: Mapping[Lost, int]
    traces: Mapping[Lost, tuple[str, ...]]

    @property
    def total(self) -> int:
        """The failures that were looked at."""
        return sum(self.counts.values())

    def share(self, lost: Lost) -> float:
        """That stage's share of them; 0 where there are none."""
        return self.counts.get(lost, 0) / self.total if self.total else 0.0

    @property
    def ordered(self) -> tuple[Lost, ...]:
        """The stages that occur, the commonest first."""
        return tuple(
            sorted(self.counts, key=lambda one: (-self.counts[one], list(Lost).index(one)))
        )


def diagnose(client: Client, failures: Sequence[Failure]) -> Diagnosis:
    """Count the stages; spans are read only for answers that lost a passage which may matter."""
    reading = Reading(client)
    counts: Counter[Lost] = Counter()
    traces: defaultdict[Lost, dict[str, None]] = defaultdict(dict)
    for start in range(0, len(failures), _PAGE):
        page = failures[start : start + _PAGE]
        for failure, passages in _with_passages(client, reading, page):
            lost = lost_at(failure, passages)
            counts[lost] += 1
            traces[lost].setdefault(failure.trace_id)
    return Diagnosis(
        dict(counts), {lost: tuple(found)[:_EXAMPLES] for lost, found in traces.items()}
    )


def _with_passages(
    client: Client, reading: Reading, page: Sequence[Failure]
) -> list[tuple[Failure, Sequence[Seen]]]:
    stored = passages_of(client, sorted({(one.trace_id, one.span_id) for one in page}))
    found: list[tuple[Failure, Sequence[Seen]]] = [
        (one, [Seen(p.id, p.stages, p.is_context) for p in stored.get(one.key[:2], ())])
        for one in page
    ]
    asked = [one.trace_id for one, seen in found if needs_texts(one, seen)]
    reading.load(asked)
    return [
        (one, reading.seen(one.key[:2]) if needs_texts(one, seen) else seen) for one, seen in found
    ]
