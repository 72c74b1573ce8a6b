"""The figures of one moment, from which `/status` and the metrics are both made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rt4chart_collector.core.counters import NOTHING, Counted
from rt4chart_collector.store.dead_letters import LetterCounts


@dataclass(frozen=True, slots=True)
class Queued:
    """What waits before the store: bytes and requests, and the bytes that may."""

    size_bytes: int
    requests: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class Opened:
    """Traces that wait for more spans, their bytes, and those that were given up for memory."""

    traces: int
    size_bytes: int
    evicted: int
    is_recovering: bool


@dataclass(frozen=True, slots=True)
class Streamed:
    """A log's partitions that are this process's, which of them are paused, what each is behind.

    The last is in messages whose answers are not all decided. `size_bytes` is about what is held
    of them.
    """

    partitions: frozenset[int]
    paused: frozenset[int]
    lags: Mapping[int, int]
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """Traces that wait for a worker or are in hand, and how many may wait."""

    traces: int
    limit: int


@dataclass(frozen=True, slots=True)
class Judging:
    """Who judges; `pause` is what there is to say of a pause, as `/status` shows it."""

    judge: str
    pause: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RouteFigures:
    """One route as the monitor saw it last: of the answers of the last hour, and its drift.

    `rate` and `undecided` are shares, None where there is nothing that they would be of; `claims`
    were decided. `evidence` and `thresholds` are natural logarithms: the former of any rise and of
    one that pages, the latter those at which that warns and pages;
    `detectable` is the smallest rise found within 90 minutes, None where that is not known.
    """

    service: str
    route: str
    claims: int
    rate: float | None = None
    undecided: float | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a process has counted, and what its parts hold; None for a part that it has not."""

    version: str
    start_s: float
    reasons: tuple[str, ...] = ()
    counted: Counted = NOTHING
    queued: Queued | None = None
    streamed: Streamed | None = None
    opened: Opened | None = None
    waiting: Waiting | None = None
    judging: Judging | None = None
    letters: LetterCounts | None = None
    routes: tuple[RouteFigures, ...] = ()

    @property
    def is_idle(self) -> bool:
        """True where nothing is left to do now."""
        at_work = (
            self.queued and self.queued.size_bytes,
            self.streamed and self.streamed.size_bytes,
            self.opened and (self.opened.is_recovering or self.opened.traces),
            self.waiting and self.waiting.traces,
        )
        return not any(at_work)
