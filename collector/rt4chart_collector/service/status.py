"""The status of the service: the JSON of `/status`, and the gauges of its parts."""

from __future__ import annotations

from collections.abc import Collection

from otel_rt4chart.judges.judge_failure import KINDS
from otel_rt4chart.verify.llm.spending import ALL_SCOPE, SharedBudget
from rt4chart_collector.core.instruments import (
    ANSWERS,
    DEAD_LETTERS,
    EVICTED_TRACES,
    FAILURES,
    INGEST_QUEUE,
    INGEST_QUEUE_LIMIT,
    INGEST_QUEUE_REQUESTS,
    JUDGE_PAUSED,
    KAFKA_LAG,
    KAFKA_MESSAGES,
    KAFKA_PARTITIONS,
    KAFKA_PAUSED_PARTITIONS,
    OPEN_TRACES,
    OPEN_TRACES_SIZE,
    PUT_OFF_ANSWERS,
    REQUESTS,
    RETRIES,
    RETRIES_WAITING,
    SPANS_DUPLICATE,
    SPANS_LOST,
    SPANS_RECOVERED,
    SPANS_STORED,
    UNREADY,
    UNSAVED_TRACES,
    VERIFIED_ANSWERS,
    WORK_QUEUE_LIMIT,
    WORK_QUEUE_OLDEST,
    WORK_QUEUE_TRACES,
    Instrument,
)
from rt4chart_collector.core.metrics import Labels, ServiceMetrics
from rt4chart_collector.ingest.otlp.intake import ACCEPTED
from rt4chart_collector.ingest.writer import IngestWriter
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.kafka_stream import KafkaStream
from rt4chart_collector.pipeline.recovery import Retries
from rt4chart_collector.pipeline.retry import GONE, PAUSED
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.service.grouping import GroupingRunner
from rt4chart_collector.service.health import REASONS, Health
from rt4chart_collector.store.answers.dead_letters import LetterCounts


class Status:
    """Reads the parts at each call. Thread-safe; a process may lack any part."""

    def __init__(
        self,
        metrics: ServiceMetrics,
        *,
        ingest: IngestWriter | None = None,
        assembler: Assembler | None = None,
        queue: TraceQueue | None = None,
        retries: Retries | None = None,
        breaker: Breaker | None = None,
        stream: KafkaStream | None = None,
        grouping: GroupingRunner | None = None,
        budget: SharedBudget | None = None,
        health: Health | None = None,
    ) -> None:
        """The parts to read, whose gauges are added to `metrics`."""
        self.metrics = metrics
        self.health = health or Health()
        self._ingest, self._assembler, self._stream = ingest, assembler, stream
        self._queue, self._retries, self._breaker = queue, retries, breaker
        self._grouping, self._budget = grouping, budget
        self._observe_spans()
        self._observe_answers()

    def __call__(self) -> dict[str, object]:
        """The status as JSON; `idle` is True if no work is left now."""
        # Read in the order of processing: in another order, work that moves on meanwhile could be
        # missed in both places.
        held_bytes = self._stream.held_bytes if self._stream else 0
        parts = self._ingest_status() | self._stream_status() | self._trace_status()
        parts |= self._verdict_status()
        work = ("ingest_bytes", "recovering", "traces_open", "traces_waiting")
        is_idle = not held_bytes and not any(parts.get(name) for name in work)
        ready = {"ready": not self.health.reasons, "idle": is_idle}
        return {**ready, **self._totals(), **parts}

    def _totals(self) -> dict[str, object]:
        total = self.metrics.total
        refused = self._by_label(REQUESTS, label=1)
        refused.pop(ACCEPTED, None)
        return {
            "spans_stored": total(SPANS_STORED),
            "spans_duplicate": total(SPANS_DUPLICATE),
            "spans_lost": total(SPANS_LOST),
            "spans_recovered": total(SPANS_RECOVERED),
            "requests_refused": refused,
            "traces_unsaved": total(UNSAVED_TRACES),
            "answers_put_off": total(PUT_OFF_ANSWERS),
            "retries": self._by_label(RETRIES),
            "decisions": self._by_label(ANSWERS),
            "labels": self._by_label(VERIFIED_ANSWERS),
            "failures": self._by_label(FAILURES),
        }

    def _by_label(self, counter: Instrument, *, label: int = 0) -> dict[str, int]:
        """The counts by the values of one label, without zeros."""
        found: dict[str, int] = {}
        for labels, number in sorted(self.metrics.counts(counter).items()):
            if number:
                found[labels[label]] = found.get(labels[label], 0) + number
        return dict(sorted(found.items()))

    def _ingest_status(self) -> dict[str, object]:
        return {"ingest_bytes": self._ingest.size_bytes} if self._ingest else {}

    def _stream_status(self) -> dict[str, object]:
        if (stream := self._stream) is None:
            return {}
        return {
            "partitions": sorted(stream.partitions),
            "partitions_paused": sorted(stream.paused),
            "lag": {str(partition): lag for partition, lag in sorted(stream.lags.items())},
            "messages": self._by_label(KAFKA_MESSAGES),
        }

    def _trace_status(self) -> dict[str, object]:
        status: dict[str, object] = {}
        if assembler := self._assembler:
            status |= {"traces_open": assembler.open_traces}
            status |= {"traces_evicted": assembler.evicted_traces}
            status |= {"recovering": assembler.is_recovering}
        if self._queue:
            status |= {"traces_waiting": self._queue.pending}
            status |= {"oldest_waiting_s": round(self._queue.oldest_s, 3)}
        return status

    def _verdict_status(self) -> dict[str, object]:
        status: dict[str, object] = {}
        if self._breaker:
            status |= {"judging": self._breaker.status}
        if self._budget and self._budget.limits:
            status |= {"budgets": _budgets(self._budget)}
        if self._retries:
            counts = self._retries.counts
            status |= {"retries_waiting": counts.waiting, "dead_letters": dict(counts.dead)}
        if self._grouping:
            status |= {"grouping": self._grouping.status()}
        return status

    def _observe_spans(self) -> None:
        observe = self.metrics.observe
        if ingest := self._ingest:
            observe(INGEST_QUEUE, lambda: ingest.size_bytes)
            observe(INGEST_QUEUE_LIMIT, lambda: ingest.max_bytes)
            observe(INGEST_QUEUE_REQUESTS, lambda: ingest.requests)
        if stream := self._stream:
            for result in ("read", "buried", "unburied"):
                self.metrics.add(KAFKA_MESSAGES, result, number=0)
            observe(KAFKA_LAG, lambda: {(str(at),): lag for at, lag in stream.lags.items()})
            observe(KAFKA_PARTITIONS, lambda: len(stream.partitions))
            observe(KAFKA_PAUSED_PARTITIONS, lambda: len(stream.paused))
        if assembler := self._assembler:
            observe(OPEN_TRACES, lambda: assembler.open_traces)
            observe(OPEN_TRACES_SIZE, lambda: assembler.buffer_bytes)
            observe(EVICTED_TRACES, lambda: assembler.evicted_traces)

    def _observe_answers(self) -> None:
        observe, health = self.metrics.observe, self.health
        if queue := self._queue:
            observe(WORK_QUEUE_TRACES, lambda: queue.pending)
            observe(WORK_QUEUE_LIMIT, lambda: queue.limit)
            observe(WORK_QUEUE_OLDEST, lambda: queue.oldest_s)
        if breaker := self._breaker:
            observe(JUDGE_PAUSED, lambda: int(bool(breaker.status.get("paused"))))
        if retries := self._retries:
            observe(RETRIES_WAITING, lambda: retries.counts.waiting)
            observe(DEAD_LETTERS, lambda: _dead_by_reason(retries.counts))
        observe(UNREADY, lambda: _unready(health.reasons))


def _budgets(budget: SharedBudget) -> dict[str, object]:
    """What is known here of each budget in use: its limit, and what this process may still spend.

    Of budgets of routes there may be many: the status tells those that are used up, at most 20.
    """
    states = [one for one in budget.states() if one.account.scope == ALL_SCOPE or one.is_used_up]
    return {
        one.account.name: {
            "limit": one.limit,
            "leased_here": round(one.leased, 6),
            "left_here": round(max(one.left, 0.0), 6),
            "used_up": one.is_used_up,
        }
        for one in states[:20]
    }


def _dead_by_reason(counts: LetterCounts) -> dict[Labels, float]:
    return {(reason,): counts.dead.get(reason, 0) for reason in (*KINDS, GONE, PAUSED)}


def _unready(reasons: Collection[str]) -> dict[Labels, float]:
    return {(reason,): int(reason in reasons) for reason in dict.fromkeys((*REASONS, *reasons))}
