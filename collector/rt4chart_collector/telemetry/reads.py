"""How the samples of a metric are read from the figures of a moment."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from otel_rt4chart.judges.failure import KINDS
from rt4chart_collector.ingest.otlp.refusal import Fault
from rt4chart_collector.pipeline.retry import GONE, PAUSED
from rt4chart_collector.service.health import REASONS
from rt4chart_collector.telemetry.figures import Figures
from rt4chart_collector.telemetry.metric import Read, Samples, Values

WAYS = ("grpc", "http")
RESULTS = ("accepted", *(fault.name.lower() for fault in Fault))


def count(name: str) -> Read:
    """One count."""
    return lambda figures: {(): figures.counted[name]}


def by(prefix: str, known: Iterable[str] = ()) -> Read:
    """The counts under a prefix; what may come is there from the start, as 0."""
    zeros: dict[Values, int] = {(str(value),): 0 for value in known}
    return lambda figures: {
        **zeros,
        **{(value,): number for value, number in figures.counted.under(prefix).items()},
    }


def times(prefix: str) -> Read:
    """The distributions under a prefix, by what follows it."""
    return lambda figures: {
        (value,): found for value, found in figures.counted.times_under(prefix).items()
    }


def time(name: str) -> Read:
    """One distribution, none before the first observation."""
    return lambda figures: (
        {(): found} if (found := figures.counted.times.get(name)) is not None else {}
    )


def requests(figures: Figures) -> Samples:
    """Requests by way in and result; none in a process that has no ways in."""
    if figures.queued is None:
        return {}
    counts = figures.counted.under("requests")
    return {(way, result): counts.get(f"{way}.{result}", 0) for way, result in _possible()}


def queue_bytes(figures: Figures) -> Samples:
    """Bytes that wait to be stored."""
    return {(): figures.queued.size_bytes} if figures.queued else {}


def queue_limit(figures: Figures) -> Samples:
    """Bytes that may wait to be stored."""
    return {(): figures.queued.limit_bytes} if figures.queued else {}


def queue_requests(figures: Figures) -> Samples:
    """Requests that wait to be stored."""
    return {(): figures.queued.requests} if figures.queued else {}


def open_traces(figures: Figures) -> Samples:
    """Traces that wait for more spans."""
    return {(): figures.opened.traces} if figures.opened else {}


def open_bytes(figures: Figures) -> Samples:
    """What they take in memory."""
    return {(): figures.opened.size_bytes} if figures.opened else {}


def evicted(figures: Figures) -> Samples:
    """Traces that were given up for want of memory."""
    return {(): figures.opened.evicted} if figures.opened else {}


def stream_lag(figures: Figures) -> Samples:
    """What each partition of this process is behind."""
    lags = figures.streamed.lags if figures.streamed else {}
    return {(str(partition),): lag for partition, lag in sorted(lags.items())}


def stream_partitions(figures: Figures) -> Samples:
    """How many partitions are this process's."""
    return {(): len(figures.streamed.partitions)} if figures.streamed else {}


def stream_paused(figures: Figures) -> Samples:
    """How many of them are paused."""
    return {(): len(figures.streamed.paused)} if figures.streamed else {}


def stream_messages(figures: Figures) -> Samples:
    """Messages of the stream, by what became of them."""
    if figures.streamed is None:
        return {}
    known = figures.counted.under("kafka")
    return {(name,): known.get(name, 0) for name in ("read", "buried", "unburied")}


def waiting(figures: Figures) -> Samples:
    """Traces that wait for a worker, or that one has in hand."""
    return {(): figures.waiting.traces} if figures.waiting else {}


def waiting_limit(figures: Figures) -> Samples:
    """How many may wait."""
    return {(): figures.waiting.limit} if figures.waiting else {}


def paused(figures: Figures) -> Samples:
    """Whether the judge is left alone."""
    return {(): int(bool(figures.judging.pause.get("paused")))} if figures.judging else {}


def retries_waiting(figures: Figures) -> Samples:
    """Answers that wait for another attempt."""
    return {(): figures.letters.waiting} if figures.letters else {}


def dead_letters(figures: Figures) -> Samples:
    """Answers that were given up, by reason."""
    if figures.letters is None:
        return {}
    dead = figures.letters.dead
    return {(reason,): dead.get(reason, 0) for reason in (*KINDS, GONE, PAUSED)}


def route_claims(figures: Figures) -> Samples:
    """Decided claims of the last hour, by service and route."""
    return {(one.service, one.route): one.claims for one in figures.routes}


def route_rates(figures: Figures) -> Samples:
    """The share of them that is unfaithful."""
    return {(one.service, one.route): one.rate for one in figures.routes if one.rate is not None}


def route_undecided(figures: Figures) -> Samples:
    """The share of the hour's claims that the judge could not decide."""
    return {
        (one.service, one.route): one.undecided
        for one in figures.routes
        if one.undecided is not None
    }


def drift_evidence(figures: Figures) -> Samples:
    """The evidence of a rise, by service, route and level."""
    return {
        (one.service, one.route, level): log
        for one in figures.routes
        for level, log in one.evidence.items()
    }


def drift_thresholds(figures: Figures) -> Samples:
    """What the evidence is compared with."""
    return {
        (one.service, one.route, level): log
        for one in figures.routes
        for level, log in one.thresholds.items()
    }


def detectable_rises(figures: Figures) -> Samples:
    """The smallest rise that is found within 90 minutes, by service and route."""
    return {
        (one.service, one.route): one.detectable
        for one in figures.routes
        if one.detectable is not None
    }


def unready(figures: Figures) -> Samples:
    """Each reason not to be ready, whether it holds."""
    zeros: dict[Values, int] = {(reason,): 0 for reason in REASONS}
    return zeros | {(reason,): 1 for reason in figures.reasons}


def started(figures: Figures) -> Samples:
    """When the process began."""
    return {(): figures.start_s}


def build(figures: Figures) -> Samples:
    """What runs."""
    return {(figures.version, figures.judging.judge if figures.judging else ""): 1}


def _possible() -> Iterable[tuple[str, str]]:
    return product(WAYS, RESULTS)
