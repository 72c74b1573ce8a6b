"""Spans a second from OTLP over loopback to disk, beside the same spans put straight in the store.

    python benchmarks/ingest.py [--requests 80] [--spans 510] [--clients 4]

Starts `rt4chart up` with an empty embedded database and sends it requests, each acknowledged after
its insert. Verification is sampled out, so that ingest alone is measured. The share of the direct
rate is the figure to compare: seconds depend on the machine and on what else runs there.
"""

from __future__ import annotations

import argparse
import http.client
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rt4chart_collector.demo.processes import service
from rt4chart_collector.otlp.decode import decode_spans

HEADERS = {"content-type": "application/x-protobuf"}
TEXT = "The free trial lasts 14 days and can be extended once by seven days for verified users. "
DIRECT = """
import sys, time
from pathlib import Path
from rt4chart_collector.otlp.decode import decode_spans
from rt4chart_collector.store.connect import connect
from rt4chart_collector.store.migrate import migrate
from rt4chart_collector.store.spans import insert_spans
bodies = [path.read_bytes() for path in sorted(Path(sys.argv[2]).iterdir())]
with connect(sys.argv[1]) as client:
    migrate(client)
    began = time.perf_counter()
    for body in bodies:
        insert_spans(client, decode_spans(body).spans)
    print(time.perf_counter() - began)
"""


def main() -> None:
    """Measure both ways, print the rates and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=80)
    parser.add_argument("--spans", type=int, default=510)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    now_ns = time.time_ns()
    bodies = [request(number, options.spans, now_ns) for number in range(options.requests)]
    total = sum(len(decode_spans(body).spans) for body in bodies)
    with tempfile.TemporaryDirectory() as folder:
        over_http = through_service(Path(folder), bodies, options.clients)
        direct = straight(Path(folder), bodies)
    print(f"{total} spans of about {sum(map(len, bodies)) // total} B in {len(bodies)} requests")
    print(f"OTLP over HTTP, {options.clients} clients: {total / over_http:9,.0f} spans/s to disk")
    print(f"straight into the store:   {total / direct:9,.0f} spans/s to disk")
    print(f"over HTTP / straight:      {direct / over_http:9.2f}")


def request(number: int, spans: int, now_ns: int) -> bytes:
    """One export of some traces of three spans each."""
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    for at in range(spans):
        span = scope.spans.add(
            name="answer", start_time_unix_nano=now_ns, end_time_unix_nano=now_ns
        )
        span.trace_id = (number * spans + at // 3 + 1).to_bytes(16, "big")
        span.span_id = (number * spans + at + 1).to_bytes(8, "big")
        for key, value in (("openinference.span.kind", "CHAIN"), ("input.value", TEXT * 4)):
            span.attributes.add(key=key).value.string_value = value
        span.attributes.add(key="rt4chart.sampled").value.bool_value = False
    return message.SerializeToString()


def through_service(folder: Path, bodies: list[bytes], clients: int) -> float:
    """Seconds until every request is acknowledged."""
    with service(f"chdb://{folder / 'service'}", folder / "service.log") as endpoint:
        address = endpoint.removeprefix("http://")

        def send(mine: list[bytes]) -> None:
            connection = http.client.HTTPConnection(address, timeout=60)
            for body in mine:
                connection.request("POST", "/v1/traces", body, HEADERS)
                reply = connection.getresponse()
                reply.read()
                if reply.status != 200:
                    raise SystemExit(f"expected 200, got {reply.status}")

        send(bodies[:1])  # the first insert opens files
        began = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(send, [bodies[at::clients] for at in range(clients)]))
        return time.perf_counter() - began


def straight(folder: Path, bodies: list[bytes]) -> float:
    """Seconds for the same batches in a process of its own: one engine a process."""
    (folder / "bodies").mkdir()
    for number, body in enumerate(bodies):
        (folder / "bodies" / f"{number:06}").write_bytes(body)
    command = [sys.executable, "-c", DIRECT, f"chdb://{folder / 'direct'}", str(folder / "bodies")]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
