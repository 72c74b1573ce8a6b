"""OTLP over gRPC: TraceService/Export, with the same intake as HTTP (OTLP 1.x, "OTLP/gRPC")."""

from __future__ import annotations

import asyncio
import logging
import resource
from typing import TypeAlias

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import DESCRIPTOR

from rt4chart_collector.ingest.otlp.decode import decode_spans
from rt4chart_collector.ingest.otlp.intake import MAX_REQUESTS, Intake, response_to
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError, retry_bytes, status_bytes
from rt4chart_collector.ingest.otlp.request_limiter import RequestSlot
from rt4chart_collector.ingest.otlp.token import client_of_peer

# OTLP specification, "Failures" and "OTLP/gRPC Throttling": which codes a client retries.
CODES = {
    Fault.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Fault.UNSUPPORTED: grpc.StatusCode.UNIMPLEMENTED,
    Fault.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Fault.THROTTLED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Fault.TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Fault.TOO_MANY_OBJECTS: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Fault.SLOW: grpc.StatusCode.DEADLINE_EXCEEDED,
    Fault.BUSY: grpc.StatusCode.UNAVAILABLE,
}
# The size of a message is unknown until it has arrived: until then, gRPC's default limit counts.
EXPECTED_BYTES = 4 * 2**20
# How many messages are read at once, the others in turn. One that takes longer makes room for the
# next, and is counted as if it were as large as a message may be.
QUICK_MESSAGES, QUICK_S = 8, 0.5
HANDSHAKE_MS = 10_000
# A client whose connection is closed connects again with its next request.
IDLE_MS = 60_000
# Calls that have arrived and that nobody has looked at yet. gRPC keeps their headers, which may be
# 1.7 MB of memory for 12 kB on the wire, and ends calls beyond the limit with CANCELLED, from the
# first number on some of them. Its defaults are 1,000 and 3,000.
PENDING_CALLS, MOST_PENDING_CALLS = MAX_REQUESTS, 384
# Below this limit of open files, idle connections of gRPC could use them all up.
OPEN_FILES = 16_384

log = logging.getLogger(__name__)

Server: TypeAlias = "grpc.aio.Server"
Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
Trailers: TypeAlias = tuple[tuple[str, bytes], ...]


class GrpcReceiver:
    """Accepts requests; reads messages itself, to be able to refuse one before it has arrived."""

    quick_s = QUICK_S

    def __init__(self, intake: Intake) -> None:
        """`intake` decides on the requests."""
        self._intake = intake
        self._quick = asyncio.Semaphore(QUICK_MESSAGES)

    async def export(self, _: object, context: Context) -> bytes:
        """TraceService/Export."""
        try:
            response = await self._take(context)
        except RefusedError as refused:
            self._intake.note("grpc", refused)
            code = CODES[refused.fault]
            reply = (code, str(refused), trailers(code, refused))
        else:
            self._intake.note("grpc")
            return response
        # After the handler: gRPC keeps the error of `abort` in the context, and with it, as long as
        # no garbage is collected, the frames of `refused`, which have the message.
        await context.abort(*reply)
        raise AssertionError  # `abort` raises

    async def _take(self, context: Context) -> bytes:
        """The response to a request that was taken."""
        sent = dict(context.invocation_metadata() or ())
        header, client = str(sent.get("authorization", "")), client_of_peer(context.peer())
        tenant = self._intake.authenticate(header, client)
        with self._intake.limiter.slot(client) as slot:
            body = await self._read(context, slot, client)
            return response_to(await self._intake.take(slot, body, decode_spans, tenant=tenant))

    async def _read(self, context: Context, slot: RequestSlot, client: str) -> bytes:
        slot.resize(min(EXPECTED_BYTES, self._intake.body_bytes))
        try:
            async with asyncio.timeout(self._intake.body_s):
                body = await self._message(context, client)
        except TimeoutError as error:
            raise self._intake.too_slow() from error
        if not isinstance(body, bytes):
            # gRPC's marker for the end. If the message was too large, gRPC has replied already.
            raise RefusedError(Fault.MALFORMED, "expected one ExportTraceServiceRequest, got none")
        slot.resize(len(body))
        return body

    async def _message(self, context: Context, client: str) -> object:
        """The message, or gRPC's marker; one that is slow must find a place among the slow ones."""
        reading: asyncio.Task[bytes] | None = None
        try:
            async with self._quick:
                reading = asyncio.ensure_future(context.read())
                done, _ = await asyncio.wait((reading,), timeout=self.quick_s)
            if not done:
                with self._intake.slow_limiter.slot(client) as slow:
                    slow.resize(self._intake.body_bytes)
                    await asyncio.wait((reading,))
            return await reading
        finally:
            if reading is not None:
                reading.cancel()
            # An error would refer to this frame, and this frame to the task with the error.
            del reading


def trailers(code: grpc.StatusCode, refused: RefusedError) -> Trailers:
    """When to retry, twice: as the specification has it, and as OpenTelemetry's Python reads it."""
    retry_s = refused.retry_s
    if retry_s is None:
        return ()
    number: int = code.value[0]
    return (
        ("grpc-status-details-bin", status_bytes(str(refused), code=number, retry_s=retry_s)),
        ("google.rpc.retryinfo-bin", retry_bytes(retry_s)),
    )


def build_server(intake: Intake) -> Server:
    """A gRPC server without an address; it belongs to the event loop that calls this."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < OPEN_FILES:
        log.warning(
            "this process may open %d files, expected %d or more: gRPC does not limit idle "
            "connections, and without a free file no port answers; raise the hard limit "
            "(ulimit -Hn, LimitNOFILE)",
            *(most, OPEN_FILES),
        )
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", intake.body_bytes),
            ("grpc.max_concurrent_streams", MAX_REQUESTS),
            ("grpc.server.max_pending_requests", PENDING_CALLS),
            ("grpc.server.max_pending_requests_hard_limit", MOST_PENDING_CALLS),
            # Otherwise a fast connection may send megabytes of messages that are not read yet.
            ("grpc.http2.bdp_probe", 0),
            ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
            ("grpc.max_connection_idle_ms", IDLE_MS),
            # With SO_REUSEPORT, two services on one port would silently share its clients.
            ("grpc.so_reuseport", 0),
        ]
    )
    service = DESCRIPTOR.services_by_name["TraceService"]
    # Declared as a stream: `export` then reads the message itself, and can refuse it before it has
    # arrived. On the wire, a single message looks the same.
    export: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(
        GrpcReceiver(intake).export
    )
    handler = grpc.method_handlers_generic_handler(service.full_name, {"Export": export})
    server.add_generic_rpc_handlers((handler,))
    return server


def bind(server: Server, address: str, tls: tuple[bytes, bytes] | None) -> int:
    """Listen at the address, with TLS (private key and certificate chain in PEM) or without.

    Returns the port; raises OSError if the address is not available.
    """
    try:
        if tls is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, grpc.ssl_server_credentials([tls]))
    except RuntimeError as error:
        raise OSError(str(error)) from error
