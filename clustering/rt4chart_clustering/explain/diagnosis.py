"""Where the evidence was lost, counted over the failures of an issue without a model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rt4chart_clustering.explain.loss_stage import (
    LossStage,
    PassageSeen,
    find_loss_stage,
    needs_texts,
)
from rt4chart_clustering.explain.trace_reader import TraceReader
from rt4chart_collector.store.answers.verifications import last_verifications
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issues import Issue

_LOAD_PAGE = 500


def load_failures(client: Client, issue: Issue, *, limit: int) -> list[Failure]:
    """At most `limit` failures of an issue, the most typical first."""
    keys = [failure.key for failure in assignments_of(client, issue.ids, limit=limit)]
    pages = (keys[start : start + _LOAD_PAGE] for start in range(0, len(keys), _LOAD_PAGE))
    return [failure for page in pages for failure in failures_by_key(client, page)]


_DIAGNOSIS_PAGE = 64
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The number of failures that lost their evidence at each stage, with example traces."""

    counts: Mapping[LossStage, int]
    traces: Mapping[LossStage, tuple[str, ...]]

    @property
    def total(self) -> int:
        """The number of failures that were examined."""
        return sum(self.counts.values())

    def share(self, lost: LossStage) -> float:
        """The stage's share of the examined failures; 0 if there are none."""
        return self.counts.get(lost, 0) / self.total if self.total else 0.0

    @property
    def ordered(self) -> tuple[LossStage, ...]:
        """The stages that occur, the most common first."""
        return tuple(
            sorted(
                self.counts, key=lambda stage: (-self.counts[stage], list(LossStage).index(stage))
            )
        )


def diagnose(client: Client, failures: Sequence[Failure]) -> Diagnosis:
    """Count the stages. Only baseless claims need the spans, to search the passages' texts."""
    reading = TraceReader(client)
    counts: Counter[LossStage] = Counter()
    traces: defaultdict[LossStage, dict[str, None]] = defaultdict(dict)
    for start in range(0, len(failures), _DIAGNOSIS_PAGE):
        page = failures[start : start + _DIAGNOSIS_PAGE]
        for failure, passages in _with_passages(client, reading, page):
            lost = find_loss_stage(failure, passages)
            counts[lost] += 1
            traces[lost].setdefault(failure.trace_id)
    return Diagnosis(
        dict(counts), {lost: tuple(found)[:_EXAMPLES] for lost, found in traces.items()}
    )


def _with_passages(
    client: Client, reading: TraceReader, page: Sequence[Failure]
) -> Iterator[tuple[Failure, Sequence[PassageSeen]]]:
    stored = last_verifications(client, sorted({failure.key[:2] for failure in page}))
    reading.load([failure.trace_id for failure in page if needs_texts(failure)])
    for failure in page:
        known = stored.get(failure.key[:2])
        seen = known.passages if known else ()
        if needs_texts(failure):
            yield failure, reading.seen(failure.key[:2], seen)
        else:
            yield failure, [PassageSeen(p.id, p.stages, p.is_context) for p in seen]
