"""The main path of `rt4chart up`: builds the parts of the service, and runs them in order."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from socket import socket

from starlette.types import ASGIApp

from otel_rt4chart.core.settings_parsers import Address
from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.core.grouping_settings import GroupingSettings
from rt4chart_collector.core.instruments import CONNECTIONS_REFUSED, STORE_DAMAGED_PARTS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.settings import STORED, MonitoringSettings, ServiceSettings
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.ingest.http_protocol import ConnectionLimiter
from rt4chart_collector.ingest.otlp.day_limiter import DayLimiter
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.otlp.span_limiter import SpanLimiter
from rt4chart_collector.ingest.servers import (
    bound_socket,
    check_port_is_free,
    serve_otlp,
    url_of,
)
from rt4chart_collector.ingest.tls import Tls, checked_tls
from rt4chart_collector.ingest.writer import IngestWriter
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.recovery import WINDOW_NS, Recovery, Retries
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.service.grouping import build_grouping, grouping_running
from rt4chart_collector.service.guards import guard_of_service
from rt4chart_collector.service.health import ASSEMBLER, QUEUE_FULL, WRITER, Health
from rt4chart_collector.service.http_routes import operations_routes, serve_health
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.service.monitor import build_monitor, monitor_routes, monitor_running
from rt4chart_collector.service.stages import Shutdown, closing, stage
from rt4chart_collector.service.status import Status
from rt4chart_collector.service.verification import MIB, VerificationRuntime
from rt4chart_collector.store.answers.spans import repair_trace_times
from rt4chart_collector.store.engine.cluster_options import set_cluster_options
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.damage import ADVICE, describe_damage, left_out_parts
from rt4chart_collector.store.engine.embedded_folder import folder_warning, staged_inserts
from rt4chart_collector.store.engine.engine_errors import seen_damage
from rt4chart_collector.store.engine.ownership import connect_owner, own_path
from rt4chart_collector.store.rates.rollup import repair_rollup
from rt4chart_collector.store.schema.compare_schema import schema_differences
from rt4chart_collector.store.schema.migrate import migrate

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its addresses, database, judge and status, and its certificate."""

    url: str
    grpc: Address
    database: str
    judge: str
    status: Status
    shutdown: Shutdown
    tls: Tls | None


@contextmanager
def run_service(
    settings: ServiceSettings,
    monitoring: MonitoringSettings | None = None,
    grouping: GroupingSettings | None = None,
    *,
    guard: TokenGuard | None = None,
    opens_more: bool = False,
    clock: Clock = time.time_ns,
) -> Iterator[Service]:
    """Run the service while the block runs; on exit, everything acknowledged is completed.

    `guard` has the tokens. With `opens_more`, the caller opens further listeners and then calls
    `Health.start`. Raises SettingsError or StoreError before anything is accepted. Stages start
    from the back: workers, assembler, writer, servers. They end in reverse order.
    """
    shutdown = Shutdown(settings.stop_s, Health(is_starting=True))
    guard = guard or guard_of_service(settings)
    parts = VerificationRuntime(settings, shutdown, clock)
    with ExitStack() as stack:
        tls = checked_tls(settings.tls_cert, settings.tls_key)
        # Before the database: a second service must fail at the port, not wait for the store.
        bound = stack.enter_context(bound_socket(settings.otlp_http))
        check_port_is_free(settings.otlp_grpc, "otlp_grpc")
        client = stack.enter_context(database(settings, shutdown, clock))
        parts.connect(client, stack)
        observe_damage(client, parts.metrics, shutdown.health)
        queue = TraceQueue(settings.work_queue, large_at_once=max(settings.workers - 1, 1))
        retries = Retries(parts.search_client, parts.verifier_id)
        assembler = build_assembler(parts, queue, retries, settings, clock)
        ingest = build_writer(parts, assembler, settings, shutdown.health)
        runner = build_grouping(settings.dsn, grouping, parts.metrics, shutdown)
        status = Status(
            parts.metrics,
            ingest=ingest,
            assembler=assembler,
            queue=queue,
            retries=retries,
            breaker=parts.breaker,
            budget=parts.budget,
            grouping=runner,
            health=shutdown.health,
        )
        own = stack.enter_context(closing(client.sibling(), shutdown))
        monitor = build_monitor(own, monitoring, parts.metrics, clock=clock, breaker=parts.breaker)
        stack.enter_context(serve_health(shutdown.health, settings.health))
        intake = build_intake(ingest, guard, parts.metrics, settings)
        rates = monitor_routes(monitor, monitoring, guard, clock=clock)
        web = build_app(intake, [*operations_routes(status, guard), *rates])
        stack.enter_context(monitor_running(monitor, shutdown))
        stack.enter_context(grouping_running(runner, shutdown))
        parts.start(queue, stack)
        stack.enter_context(stage(ASSEMBLER, assembler.run, stop=assembler.stop, shutdown=shutdown))
        stack.enter_context(_writer_stage(ingest, shutdown))
        grpc = stack.enter_context(accept_spans(settings, web, bound, intake, tls, parts.metrics))
        if not opens_more:
            shutdown.health.start()
        # Runs first at the end: the deadline is for all stages together.
        stack.callback(shutdown.begin)
        name = client.target.display_name
        yield Service(url_of(bound, tls), grpc, name, parts.judge, status, shutdown, tls)


def build_writer(
    parts: VerificationRuntime, assembler: Assembler, settings: ServiceSettings, health: Health
) -> IngestWriter:
    """What stores the spans of accepted requests; the service is not ready while it is full."""
    max_bytes = settings.ingest_queue_mib * MIB
    ingest = IngestWriter(parts.insert, assembler.accept, max_bytes=max_bytes)
    health.add_check(QUEUE_FULL, lambda: ingest.is_full)
    return ingest


def build_intake(
    ingest: IngestWriter, guard: TokenGuard, metrics: ServiceMetrics, settings: ServiceSettings
) -> Intake:
    """What decodes requests for the writer."""
    return Intake(
        ingest.offer,
        guard=guard,
        waits=settings.ack == STORED,
        metrics=metrics,
        span_limiter=SpanLimiter(metrics, settings.attribute_mib * MIB),
        day_limiter=DayLimiter(metrics, settings.retention.spans),
    )


def observe_damage(client: Client, metrics: ServiceMetrics, health: Health) -> None:
    """Show the damaged parts of tables: those left out at the start, and those met since."""
    left_out, database = Counter(left_out_parts(client)), client.target.display_name

    def damaged() -> Counter[str]:
        return left_out + Counter(seen_damage(database))

    metrics.observe(STORE_DAMAGED_PARTS, lambda: {(t,): n for t, n in damaged().items()})
    health.watch_damage(damaged)


@contextmanager
def accept_spans(
    settings: ServiceSettings,
    web: ASGIApp,
    bound: socket,
    intake: Intake,
    tls: Tls | None,
    metrics: ServiceMetrics,
) -> Iterator[Address]:
    """Serve OTLP over HTTP and gRPC with the settings' limits; yields the address of gRPC."""

    def note(reason: str) -> None:
        metrics.add(CONNECTIONS_REFUSED, reason)

    limiter = ConnectionLimiter(settings.connections, settings.connections_per_client, note)
    with serve_otlp(
        web, bound, intake, settings.otlp_grpc, tls=tls, limiter=limiter, stop_s=settings.stop_s
    ) as address:
        yield address


def _writer_stage(ingest: IngestWriter, shutdown: Shutdown) -> AbstractContextManager[None]:
    return stage(WRITER, ingest.run, stop=ingest.stop, abandon=ingest.abandon, shutdown=shutdown)


def build_assembler(
    parts: VerificationRuntime,
    queue: TraceQueue,
    retries: Retries,
    settings: ServiceSettings,
    clock: Clock,
) -> Assembler:
    """The assembler that hands closed traces to the queue, and recovers those of earlier runs."""
    return Assembler(
        parts.open_buffer(max_bytes=settings.trace_buffer_mib * MIB),
        queue,
        queue.put,
        retries,
        parts.breaker,
        parts.metrics,
        recovery=Recovery(parts.search_client, parts.verifier_id),
        clock=clock,
    )


@contextmanager
def database(settings: ServiceSettings, shutdown: Shutdown, clock: Clock) -> Iterator[Client]:
    """The owned database, migrated, with its rollup repaired, and served by the local API."""
    with (
        own_path(settings.dsn),
        closing(connect_owner(settings.dsn), shutdown) as client,
        staged_inserts(client.target.path),
    ):
        if warning := folder_warning(client.target.path):
            log.warning("%s", warning)
        # Before the migrations: they make a table that is gone anew.
        if damage := describe_damage(left_out_parts(client)):
            log.error("damaged parts of tables in %s: %s; %s", client.database, damage, ADVICE)
        migrate(client, retention=settings.retention, cluster=settings.cluster)
        for line in schema_differences(client):
            log.warning("%s differs from what the migrations made: %s", client.database, line)
        repair_trace_times(client, clock() - WINDOW_NS)
        repair_rollup(client, clock() - WINDOW_NS)
        set_cluster_options(client, pruning=settings.cluster_pruning, quorum=settings.insert_quorum)
        with serve_local_api(client.target, shutdown=shutdown):
            yield client
