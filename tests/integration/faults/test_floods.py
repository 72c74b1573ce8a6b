"""Requests that are large, slow or broken, at a service that works for others meanwhile."""

from __future__ import annotations

import random
import re
import socket
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_rt4chart.core import semconv
from tests.integration.faults.load import GOOD, SPANS, Load, assert_all_is_there_once
from tests.integration.needs import MINUTES
from tests.integration.service import PROTOBUF, Service, read, service
from tests.rt4chart_collector.otlp.messages import MILLISECOND, rag_trace, request, text

pytestmark = [pytest.mark.e2e, MINUTES]
FLAGS = ("--judge", "rules", "--trace-quiet-s", "0.5")
# Far from the numbers of the load's traces.
FIRST = 10**9
FUZZ_S = 60
SLOW = 200


def post(running: Service, body: bytes) -> int:
    """The status of a request that may take long."""
    answer = httpx.post(f"{running.url}/v1/traces", content=body, headers=PROTOBUF, timeout=300)
    return answer.status_code


def decisions(folder: Path, trace: int) -> list[list[object]]:
    """The decisions on a trace's answers."""
    (found,) = read(
        folder,
        "SELECT Decision, count() FROM rt4chart_verifications FINAL "  # noqa: S608 - a number
        f"WHERE TraceId = '{trace:032x}' GROUP BY Decision",
    )
    return found


def stored(folder: Path, trace: int) -> int:
    """How many of a trace's spans are stored, the verdict's own left out."""
    (found,) = read(
        folder,
        "SELECT uniqExact(SpanId) FROM otel_traces "  # noqa: S608 - a number
        f"WHERE TraceId = '{trace:032x}' AND ScopeName != 'otel_rt4chart'",
    )
    return int(found[0][0])


def test_ten_thousand_spans_ten_thousand_passages_and_fifty_mebibytes(tmp_path: Path) -> None:
    """Three traces: each acknowledged, stored whole, and decided once; so is the one after."""
    now, folder = time.time_ns(), tmp_path / "db"
    long = rag_trace(FIRST, start_ns=now, answer=GOOD)
    long[1:1] = [
        Span(
            trace_id=long[0].trace_id,
            span_id=(10**15 + at).to_bytes(8, "big"),
            parent_span_id=long[-1].span_id,
            name="tool",
            start_time_unix_nano=now + at * MILLISECOND,
            end_time_unix_nano=now + at * MILLISECOND,
        )
        for at in range(10_000 - SPANS)
    ]
    wide = rag_trace(FIRST + 1, start_ns=now, answer=GOOD)
    wide[0].attributes.extend(
        KeyValue(
            key=f"{semconv.RETRIEVAL_DOCUMENTS}.{at}.{semconv.DOCUMENT_CONTENT}", value=text("x")
        )
        for at in range(1, 10_001)
    )
    large = rag_trace(FIRST + 2, start_ns=now, answer=GOOD)
    large[-1].attributes.add(key="payload").value.string_value = "p" * (50 * 2**20)
    after = rag_trace(FIRST + 3, start_ns=now, answer=GOOD)
    with service(f"chdb://{folder}", *FLAGS) as running:
        codes = [post(running, request(*spans)) for spans in (long, wide, large, after)]
        too_large = post(running, b"\0" * (65 * 2**20))
        running.wait_until(lambda status: bool(status["idle"]) and len(status["decisions"]) > 0)
        code = running.stop()

    assert (codes, too_large, code) == ([200] * 4, 413, 0)
    assert [stored(folder, FIRST + at) for at in range(4)] == [10_000, 3, 3, 3]
    assert [decisions(folder, FIRST + at) for at in range(4)] == [[["verified", 1]]] * 4


def test_request_that_comes_again_after_a_thousand_others_counts_once(tmp_path: Path) -> None:
    """Beyond the last 1,000 inserts the store has its spans twice, readers and sums have one."""
    now, folder = time.time_ns(), tmp_path / "db"
    body = request(*rag_trace(FIRST, start_ns=now, answer=GOOD))
    load = Load(clients=1)
    with service(f"chdb://{folder}", *FLAGS) as running:
        load.url = running.url
        assert [post(running, body) for _ in range(3)] == [200] * 3
        with load.running():
            load.wait_for(1_100, within_s=900)
            load.finish()
        assert [post(running, body) for _ in range(3)] == [200] * 3
        running.wait_until(lambda status: bool(status["idle"]))
        code = running.stop()

    rows, sums = read(
        folder,
        f"SELECT count() FROM otel_traces WHERE TraceId = '{FIRST:032x}' "  # noqa: S608 - a number
        "AND ScopeName != 'otel_rt4chart'",
        "SELECT sum(Answers) FROM rt4chart_route_1m",
    )
    print({"rows of 3 spans sent 6 times": rows, "other inserts": len(load.acknowledged)})  # noqa: T201
    assert code == 0
    assert (stored(folder, FIRST), decisions(folder, FIRST)) == (3, [["verified", 1]])
    assert sums == [[5 * len(load.acknowledged) + 1]]


def test_clients_that_send_a_byte_at_a_time_hold_no_other(tmp_path: Path) -> None:
    """A hundred at each address, for 20 seconds: all that others send is taken meanwhile."""
    load = Load(clients=2, pause_s=0.05)
    with service(f"chdb://{tmp_path / 'db'}", *FLAGS) as running:
        load.url = running.url
        places = [urlsplit(running.url).port, grpc_port(running.greeting)]
        slow = [socket.create_connection(("127.0.0.1", places[at % 2])) for at in range(SLOW)]
        heads = (b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        closed: set[int] = set()
        with load.running():
            for tick in range(20):
                for at, connection in enumerate(slow):
                    head = heads[at % 2]
                    try:
                        connection.sendall(head[tick % len(head) :][:1])
                    except OSError:
                        closed.add(at)
                load.wait_for(1)
                time.sleep(0.5)
        for connection in slow:
            connection.close()
        running.wait_until(lambda status: bool(status["idle"]))
        code = running.stop()

    figures = assert_all_is_there_once(tmp_path / "db", load)
    print({"slow": SLOW, "of them cut off": len(closed), **figures})  # noqa: T201 - the count
    assert (code, set(load.replies)) == (0, {200})


def test_a_minute_of_broken_requests_costs_nothing(tmp_path: Path) -> None:
    """Each is taken or the client's fault, 200 or 400; what others send is all there."""
    chance, load, codes = random.Random(3), Load(clients=1, pause_s=0.05), Counter[int]()  # noqa: S311
    right = request(*rag_trace(FIRST, start_ns=time.time_ns(), answer=GOOD))
    kinds = ("application/x-protobuf", "application/json")
    with service(f"chdb://{tmp_path / 'db'}", *FLAGS) as running:
        load.url = running.url
        with load.running(), httpx.Client(timeout=60) as client:
            until = time.monotonic() + FUZZ_S
            while time.monotonic() < until:
                body = bytearray(right)
                for _ in range(chance.randrange(40)):
                    body[chance.randrange(len(body))] = chance.randrange(256)
                headers = {"content-type": chance.choice(kinds)}
                headers |= {"content-encoding": "gzip"} if chance.random() < 0.1 else {}
                sent = bytes(body[: chance.randrange(len(body) + 1)])
                answer = client.post(f"{running.url}/v1/traces", content=sent, headers=headers)
                codes[answer.status_code] += 1
        running.wait_until(lambda status: bool(status["idle"]))
        failures = running.status()["failures"]
        code = running.stop()

    missing = load.span_ids - stored_ids(tmp_path / "db")
    print({"broken": dict(codes), "taken of others": len(load.acknowledged)})  # noqa: T201
    assert (code, failures, missing) == (0, {}, set())
    assert set(codes) <= {200, 400}


def stored_ids(folder: Path) -> set[tuple[str, str]]:
    """Of every span in the store."""
    (found,) = read(folder, "SELECT DISTINCT TraceId, SpanId FROM otel_traces")
    return {(trace, span) for trace, span in found}


def grpc_port(greeting: str) -> int:
    """Where the service says that gRPC listens."""
    found = re.search(r"gRPC at 127.0.0.1:(\d+)", greeting)
    assert found, greeting
    return int(found[1])
