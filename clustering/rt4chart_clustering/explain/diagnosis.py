"""Where the evidence was lost, over the failures of an issue: counted, without a model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rt4chart_clustering.explain.reading import Reading
from rt4chart_clustering.explain.stage import Lost, Seen, lost_at, needs_texts
from rt4chart_collector.store.answers.verifications import last_verifications
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure

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
    """Count the stages; spans are read for the baseless claims, whose evidence is looked for."""
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
) -> Iterator[tuple[Failure, Sequence[Seen]]]:
    stored = last_verifications(client, sorted({one.key[:2] for one in page}))
    reading.load([one.trace_id for one in page if needs_texts(one)])
    for one in page:
        known = stored.get(one.key[:2])
        seen = known.passages if known else ()
        if needs_texts(one):
            yield one, reading.seen(one.key[:2], seen)
        else:
            yield one, [Seen(p.id, p.stages, p.is_context) for p in seen]
