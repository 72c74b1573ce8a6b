"""The main path of `rt4chart work`: builds the parts of a Kafka worker, and runs them in order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.core.settings import ServiceSettings, WorkSettings
from rt4chart_collector.ingest.kafka.consumer import KafkaSource
from rt4chart_collector.ingest.otlp.day_limiter import DayLimiter
from rt4chart_collector.ingest.otlp.span_limiter import SpanLimiter
from rt4chart_collector.ingest.servers import bound_socket, serve_http, url_of
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.in_flight import InFlight
from rt4chart_collector.pipeline.kafka_stream import KafkaStream
from rt4chart_collector.pipeline.recovery import Retries
from rt4chart_collector.pipeline.span_writer import SpanWriter
from rt4chart_collector.service.guards import guard_of_worker
from rt4chart_collector.service.http_routes import operations_app
from rt4chart_collector.service.stages import Shutdown, closing, stage
from rt4chart_collector.service.status import Status
from rt4chart_collector.service.verification import MIB, VerificationRuntime
from rt4chart_collector.store.engine.cluster_options import set_cluster_options
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate, plan_migrations, shipped_migrations

# The buffer must not evict: the spans may not be in the store. The stream pauses reading instead.
UNBOUNDED = 2**62


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """A worker that is ready to run; `url` is empty without an address for figures."""

    stream: KafkaStream
    url: str
    database: str
    judge: str
    shutdown: Shutdown


@contextmanager
def run_worker(settings: WorkSettings, *, clock: Clock = time.time_ns) -> Iterator[RunningWorker]:
    """A member of the consumer group while the block runs; the caller runs its stream."""
    service, address = settings.service, settings.worker.work_http
    shutdown = Shutdown(service.stop_s)
    parts = VerificationRuntime(service, shutdown, clock)
    with ExitStack() as stack:
        bound = stack.enter_context(bound_socket(address, "work_http")) if address else None
        source = KafkaSource(settings.worker.source, settings.worker.kafka)
        stack.callback(source.close)
        client = stack.enter_context(closing(connect(service.dsn), shutdown))
        create_tables(client, service)
        parts.connect(client, stack)
        in_flight = InFlight(service.work_queue, large_at_once=max(service.workers - 1, 1))
        writer = SpanWriter(parts.insert) if settings.worker.store_spans else None
        retries = Retries(parts.search_client, parts.verifier_id, share=lambda: stream.share)
        assembler = Assembler(
            parts.open_buffer(max_bytes=UNBOUNDED),
            in_flight.queue,
            in_flight.hand_over,
            retries,
            parts.breaker,
            parts.metrics,
            has_room=lambda: not stream.paused,
            clock=clock,
        )
        stream = KafkaStream(
            source,
            assembler,
            in_flight,
            parts.breaker,
            parts.metrics,
            writer,
            span_limiter=SpanLimiter(parts.metrics, service.attribute_mib * MIB),
            day_limiter=DayLimiter(parts.metrics, service.retention.spans),
            max_bytes=service.trace_buffer_mib * MIB,
            shutdown_s=lambda: shutdown.begin().remaining,
            clock=clock,
        )
        status = Status(
            parts.metrics,
            assembler=assembler,
            queue=in_flight.queue,
            retries=retries,
            breaker=parts.breaker,
            budget=parts.budget,
            stream=stream,
            health=shutdown.health,
        )
        stack.callback(stream.commit_results)  # after the workers' end: what they reported last
        if bound is not None:
            app = operations_app(status, guard_of_worker(service))
            stack.enter_context(serve_http(app, bound, stop_s=service.stop_s))
        parts.start(in_flight.queue, stack, is_owned=in_flight.is_owned)
        search = stage("search", assembler.run_searches, stop=assembler.stop, shutdown=shutdown)
        stack.enter_context(search)
        if writer is not None:
            stack.enter_context(stage("writer", writer.run, stop=writer.stop, shutdown=shutdown))
        stack.callback(shutdown.begin)
        url, name = url_of(bound) if bound else "", client.target.display_name
        yield RunningWorker(stream, url, name, parts.judge, shutdown)


def create_tables(client: Client, settings: ServiceSettings) -> None:
    """Create this version's tables where they are missing, and set the cluster's options."""
    if client.is_guest or plan_migrations(client, migrations=shipped_migrations()).steps:
        migrate(client, retention=settings.retention, cluster=settings.cluster)
    set_cluster_options(client, pruning=settings.cluster_pruning, quorum=settings.insert_quorum)
