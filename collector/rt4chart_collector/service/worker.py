"""The main path of `rt4chart work`, from its settings to its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.spans.exchange.assembly import TraceBuffer
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.settings import ServiceSettings, WorkSettings
from rt4chart_collector.ingest.kafka.consumer import KafkaSource
from rt4chart_collector.ingest.sockets import listening, serving_web, url_of
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.recovery import Retries
from rt4chart_collector.pipeline.stream.in_flight import InHand
from rt4chart_collector.pipeline.stream.searching import Searching
from rt4chart_collector.pipeline.stream.storing import Storing
from rt4chart_collector.pipeline.stream.stream import Parts, Stream
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.health import STORE_UNREACHABLE, StoreWatch
from rt4chart_collector.service.http_routes import operations_app
from rt4chart_collector.service.stages import Ending, closing, draining, stage
from rt4chart_collector.service.status import Status
from rt4chart_collector.service.up import MIB, patience, storing
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate, plan_migrations, shipped_migrations

# The stream bounds itself before it would have to give up what no store may have.
UNBOUNDED = 2**62


@dataclass(frozen=True, slots=True)
class Working:
    """A worker that is ready to run; `url` is empty where nothing is served."""

    stream: Stream
    url: str
    database: str
    judge: str
    ending: Ending


@contextmanager
def working(settings: WorkSettings, *, clock: Clock = time.time_ns) -> Iterator[Working]:
    """A worker while the block runs, which runs its stream; at the end it leaves the group.

    Raises SettingsError or StoreError before anything is read.
    """
    service, place = settings.service, settings.worker.work_http
    verifier = build_verifier(service.judge)
    ending = Ending(service.stop_s)
    with ExitStack() as stack:
        bound = stack.enter_context(listening(place, "work_http")) if place else None
        source = KafkaSource(settings.worker.source, settings.worker.kafka)
        stack.callback(source.close)
        client = stack.enter_context(closing(connect(service.dsn), ending))
        make_ready(client, service)
        siblings = [
            stack.enter_context(closing(client.sibling(), ending))
            for _ in range(service.workers + 2)
        ]
        watch = StoreWatch(siblings[-1])
        metrics = ServiceMetrics(judge=verifier.judge.id)
        giving_up, in_hand = Event(), InHand()
        breaker = Breaker(verifier.judge.id, clock)
        queue = TraceQueue(service.work_queue, told=in_hand.told)
        store = Storing(storing(client, metrics, watch)) if settings.worker.store_spans else None
        retries = Retries(siblings[-2], verifier.judge.id, share=lambda: stream.share)
        searching = Searching(retries, breaker, clock=clock)
        buffer = TraceBuffer(patience(service), max_bytes=UNBOUNDED)
        stream = Stream(
            Parts(source, buffer, queue, in_hand, breaker, metrics, searching, store),
            max_bytes=service.trace_buffer_mib * MIB,
            seconds_left=lambda: ending.seconds,
            clock=clock,
        )
        workers = [
            worker(one, queue, verifier, metrics, breaker, service, clock, giving_up, in_hand)
            for one in siblings[: service.workers]
        ]
        ending.health.add_check(STORE_UNREACHABLE, lambda: watch.is_unreachable)
        status = Status(
            metrics,
            queue=queue,
            retries=retries,
            breaker=breaker,
            stream=stream,
            health=ending.health,
        )
        stack.callback(stream.settle)
        if bound is not None:
            app = operations_app(status, service.token)
            stack.enter_context(serving_web(app, bound, stop_s=service.stop_s))
        stack.enter_context(metrics.pushed(service.self_metrics))
        stack.enter_context(stage("store watch", watch.run, stop=watch.stop, ending=ending))
        stack.enter_context(draining(queue, workers, giving_up, ending=ending))
        stack.enter_context(stage("search", searching.run, stop=searching.stop, ending=ending))
        if store is not None:
            stack.enter_context(stage("writer", store.run, stop=store.stop, ending=ending))
        stack.callback(ending.begin)
        url = url_of(bound) if bound is not None else ""
        yield Working(stream, url, client.target.display_name, verifier.judge.id, ending)


def make_ready(client: Client, settings: ServiceSettings) -> None:
    """Make the tables where this version's are not there; one that has them is left as it is."""
    if client.is_guest or plan_migrations(client, migrations=shipped_migrations()).steps:
        migrate(client, retention=settings.retention, cluster=settings.cluster)


def worker(
    client: Client,
    queue: TraceQueue,
    verifier: Verifier,
    metrics: ServiceMetrics,
    breaker: Breaker,
    settings: ServiceSettings,
    clock: Clock,
    giving_up: Event,
    in_hand: InHand,
) -> Worker:
    """One worker, which leaves alone what was taken back."""
    return Worker(
        client,
        queue,
        verifier,
        metrics,
        breaker,
        sample_rate=settings.sample_rate,
        strict_routes=settings.strict_routes,
        clock=clock,
        giving_up=giving_up,
        is_ours=in_hand.is_ours,
    )
