"""The main path of the service, from its settings to its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.settings_parsers import Address
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.spans.exchange.assembly import TraceBuffer, TraceTimeouts
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import STORE_INSERT_DURATION, STORE_INSERT_FAILURES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.settings import STORED, MonitoringSettings, ServiceSettings
from rt4chart_collector.detect.monitor.metrics import observe_routes
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.sockets import check_free, listening, load_tls, serving, url_of
from rt4chart_collector.ingest.writer import Ingest
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.recovery import WINDOW_NS, Recovery, Retries
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.health import (
    ASSEMBLER,
    QUEUE_FULL,
    STORE_UNREACHABLE,
    WRITER,
    StoreWatch,
)
from rt4chart_collector.service.http_routes import operations_routes
from rt4chart_collector.service.local_api import local_api_served
from rt4chart_collector.service.monitor import build_monitor, monitor_routes, monitored
from rt4chart_collector.service.stages import Ending, closing, draining, stage
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.embedded_folder import staged_inserts
from rt4chart_collector.store.engine.ownership import connect_owner, own_path
from rt4chart_collector.store.rates.rollup import repair_rollup
from rt4chart_collector.store.schema.compare_schema import schema_differences
from rt4chart_collector.store.schema.migrate import migrate

MIB = 2**20
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: where it takes spans, where it keeps them, who judges, and its figures."""

    url: str
    grpc: Address
    database: str
    judge: str
    status: Status
    ending: Ending


@contextmanager
def running(
    settings: ServiceSettings,
    monitoring: MonitoringSettings | None = None,
    *,
    clock: Clock = time.time_ns,
) -> Iterator[Service]:
    """The service while the block runs; at its end, what was acknowledged is dealt with.

    Raises SettingsError or StoreError before anything is taken in. The stages are left in the
    reverse order: no new requests, then what is queued, what is open, what waits for a worker.
    """
    verifier, ending = build_verifier(settings.judge), Ending(settings.stop_s)
    judge = verifier.judge.id
    with ExitStack() as stack:
        tls = load_tls(settings.tls_cert, settings.tls_key)
        bound = stack.enter_context(listening(settings.otlp_http))
        check_free(settings.otlp_grpc, "otlp_grpc")
        client = stack.enter_context(database(settings, ending, clock))
        metrics, giving_up = ServiceMetrics(judge=judge), Event()
        breaker = Breaker(judge, clock)
        queue = TraceQueue(settings.work_queue)
        searching, watching, looking, *working = (
            stack.enter_context(closing(client.sibling(), ending))
            for _ in range(3 + settings.workers)
        )
        hired = hiring(settings, clock, giving_up)
        workers = [hired(one, queue, verifier, metrics, breaker) for one in working]
        recovery, retries = Recovery(searching, judge), Retries(searching, judge)
        buffer = TraceBuffer(patience(settings), max_bytes=settings.trace_buffer_mib * MIB)
        assembler = Assembler(buffer, queue, recovery, retries, breaker, metrics, clock=clock)
        watch = StoreWatch(watching)
        store, limit = storing(client, metrics, watch), settings.ingest_queue_mib * MIB
        ingest = Ingest(store, assembler.accept, max_bytes=limit)
        ending.health.add_check(STORE_UNREACHABLE, lambda: watch.is_unreachable)
        ending.health.add_check(QUEUE_FULL, lambda: ingest.is_full)
        monitor = build_monitor(looking, monitoring, clock=clock, breaker=breaker)
        status = Status(
            metrics,
            ingest=ingest,
            assembler=assembler,
            queue=queue,
            retries=retries,
            breaker=breaker,
            health=ending.health,
        )
        if monitor is not None:
            observe_routes(metrics, monitor.figures)
        waits, token = settings.ack == STORED, settings.token
        intake = Intake(ingest.offer, token=token, waits=waits, metrics=metrics)
        asked = monitor_routes(monitor, monitoring, token, clock=clock)
        web = build_app(intake, [*operations_routes(status, token), *asked])
        stack.enter_context(metrics.pushed(settings.self_metrics))
        stack.enter_context(monitored(monitor, ending))
        stack.enter_context(stage("store watch", watch.run, stop=watch.stop, ending=ending))
        stack.enter_context(draining(queue, workers, giving_up, ending=ending))
        stack.enter_context(stage(ASSEMBLER, assembler.run, stop=assembler.stop, ending=ending))
        writer = stage(WRITER, ingest.run, stop=ingest.stop, abandon=ingest.abandon, ending=ending)
        stack.enter_context(writer)
        served = serving(web, bound, intake, settings.otlp_grpc, tls=tls, stop_s=settings.stop_s)
        grpc = stack.enter_context(served)
        stack.callback(ending.begin)
        yield Service(url_of(bound, tls), grpc, client.target.display_name, judge, status, ending)


def hiring(settings: ServiceSettings, clock: Clock, giving_up: Event) -> Callable[..., Worker]:
    """What makes a worker of its connection, queue, verifier, metrics and breaker."""
    return partial(
        Worker,
        sample_rate=settings.sample_rate,
        strict_routes=settings.strict_routes,
        clock=clock,
        giving_up=giving_up,
    )


@contextmanager
def database(settings: ServiceSettings, ending: Ending, clock: Clock) -> Iterator[Client]:
    """The database with its tables made and its sums repaired, and with its local API."""
    with (
        own_path(settings.dsn),
        closing(connect_owner(settings.dsn), ending) as client,
        staged_inserts(client.target.path),
    ):
        migrate(client, retention=settings.retention, cluster=settings.cluster)
        for line in schema_differences(client):
            log.warning("%s differs from what the migrations made: %s", client.database, line)
        repair_rollup(client, clock() - WINDOW_NS)
        with local_api_served(client.target):
            yield client


def storing(
    client: Client, metrics: ServiceMetrics, watch: StoreWatch
) -> Callable[[Sequence[SpanRecord]], None]:
    """What writes a batch of spans, with its time and its failures noted."""

    def store(spans: Sequence[SpanRecord]) -> None:
        try:
            with metrics.timed(STORE_INSERT_DURATION, STORE_INSERT_FAILURES, "spans"):
                insert_spans(client, spans)
        except StoreError:
            watch.note_insert(is_stored=False)
            raise
        watch.note_insert(is_stored=True)

    return store


def patience(settings: ServiceSettings) -> TraceTimeouts:
    """How long traces stay open, from seconds to nanoseconds."""
    seconds = (settings.trace_quiet_s, settings.trace_orphan_s, settings.trace_max_s)
    return TraceTimeouts(*(round(value * 1e9) for value in seconds))
