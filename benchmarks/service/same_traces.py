"""The demo's help desk in rt4chart and in Arize Phoenix: the same traces, over OTLP, to both.

    python -m benchmarks.service.same_traces --phoenix COMMAND [--pages]

COMMAND is `phoenix` of the package arize-phoenix, in an environment of its own. Each server starts
with an empty database and gets the help desk's traces, two weeks of them with the bad release at
their end. Printed are: CPU seconds until the server answers (all its threads and processes; Linux:
/proc), which a busy machine does not move much, until all spans are stored, and with rt4chart until
all answers are verified. Then rt4chart starts anew: two weeks that come in a minute are no live
traffic, and a start reads them whole. With `--pages`, Chromium opens the pages that lead to the
wrong sentence: kilobytes, as transferred to an empty cache, and requests of each.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from playwright.sync_api import Page, sync_playwright

from benchmarks.application.first_page import cpu_s, family
from benchmarks.service.ingest import Server, phoenix, send, started, wait_for
from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.console.view.urls import alert_url, answer_url
from rt4chart_collector.demo.application import helpdesk_requests, judged_answers
from rt4chart_collector.demo.incident import Incident, find_incident
from rt4chart_collector.demo.loading import spans_of_request
from rt4chart_collector.demo.processes import free_port, status
from rt4chart_collector.demo.progress import DemoProgress
from rt4chart_collector.store.engine.connect import connect
from tests.browser.conftest import chromium

TRACES_A_REQUEST = 50
FOUND_S = 900.0
# Words of a wrong answer of the bad release.
WRONG = "50 euros"
Trace = list[SpanRecord]
PROJECTS = "{projects{edges{node{id}}}}"


@dataclass(frozen=True, slots=True)
class PageWeight:
    """A page with all that it loads into an empty cache."""

    name: str
    kilobytes: float
    requests: int


def main() -> None:
    """Start each server, send the traces, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--phoenix", required=True, help="the command, in its own environment")
    parser.add_argument("--pages", action="store_true", help="open the pages in Chromium")
    options = parser.parse_args()
    traces = demo_traces()
    bodies = [
        export(traces[at : at + TRACES_A_REQUEST]) for at in range(0, len(traces), TRACES_A_REQUEST)
    ]
    size = sum(map(len, bodies)) / 2**20
    print(f"{len(traces):,} traces of three spans, {size:.1f} MiB of OTLP")
    with tempfile.TemporaryDirectory() as folder:
        run_ours(Path(folder), bodies, traces, has_pages=options.pages)
    with tempfile.TemporaryDirectory() as folder:
        run_theirs(Path(folder), bodies, traces, options.phoenix, has_pages=options.pages)


def run_ours(
    folder: Path, bodies: Sequence[bytes], traces: Sequence[Trace], *, has_pages: bool
) -> None:
    """Send the traces to rt4chart, wait for the verdicts and the alert, and open its pages."""
    console = f"127.0.0.1:{free_port()}"
    with verifying(folder, console) as server:
        tell(server, "until it answers")
        send(server.address, bodies)
        wait_for(server, 3 * len(traces))
        tell(server, "until all spans are stored")
        wait_for_verdicts(server.address, len(traces))
        tell(server, "until all answers are verified")
    with verifying(folder, console) as server:
        incident = wait_for_incident(f"chdb://{folder / 'db'}")
        tell(server, "from the new start to the alert")
        show(server, our_pages(f"http://{console}", incident) if has_pages else ())


def run_theirs(
    folder: Path, bodies: Sequence[bytes], traces: Sequence[Trace], command: str, *, has_pages: bool
) -> None:
    """Send the traces to Phoenix, and open its pages."""
    with phoenix(folder, command) as server:
        tell(server, "until it answers")
        send(server.address, bodies)
        wait_for(server, 3 * len(traces))
        tell(server, "until all spans are stored")
        wrong = next(spans for spans in reversed(traces) if WRONG in answer_of(spans))
        pages = their_pages(f"http://{server.address}", wrong[0].trace_id) if has_pages else ()
        show(server, pages)


@contextmanager
def verifying(folder: Path, console: str) -> Iterator[Server]:
    """`rt4chart up` with the judge without a key, an empty embedded database and the console."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "otel_rt4chart", "up", "--dsn", f"chdb://{folder / 'db'}"]
    command += ["--judge", "local", "--otlp-http", address, "--otlp-grpc", "127.0.0.1:0"]
    command += ["--console", console, "--health", "off", "--monitor", "15"]
    with started(command, folder, {}, f"http://{address}/healthz") as pid:
        url = f"http://{address}"
        yield Server("rt4chart", pid, address, lambda: int(status(url)["spans_stored"]))


def tell(server: Server, step: str) -> None:
    """Print the CPU seconds of the server's processes so far."""
    spent = sum(cpu_s(pid) for pid in family(server.pid))
    print(f"{server.name:9} {step:34}{spent:9.1f} CPU s", flush=True)


def show(server: Server, pages: Sequence[tuple[str, str]]) -> None:
    """Open the pages, and print what each weighs."""
    for page in weighed(pages) if pages else ():
        figures = f"{page.kilobytes:9,.0f} kB {page.requests:4} requests"
        print(f"{server.name:9} {page.name:34}{figures}", flush=True)


def demo_traces() -> list[Trace]:
    """The spans of each of the help desk's requests, in the order of time."""
    with DemoProgress(is_terminal=False) as progress:
        requests = helpdesk_requests(judged_answers(progress).reports)
    ids = random.Random(requests[0].service)  # noqa: S311 - ids, no secrets
    return [spans_of_request(one, ids) for one in requests]


def answer_of(spans: Sequence[SpanRecord]) -> str:
    """The words of the answer."""
    return str(spans[-1].attributes["output.value"])


def export(traces: Iterable[Sequence[SpanRecord]]) -> bytes:
    """One export of these traces, each with the resource of its release."""
    message = ExportTraceServiceRequest()
    for spans in traces:
        group = message.resource_spans.add()
        for name, value in spans[0].resource.items():
            group.resource.attributes.add(key=name).value.string_value = str(value)
        scope = group.scope_spans.add()
        scope.scope.name = spans[0].scope_name
        for one in spans:
            span = scope.spans.add(
                name=one.name,
                trace_id=bytes.fromhex(one.trace_id),
                span_id=bytes.fromhex(one.span_id),
                parent_span_id=bytes.fromhex(one.parent_span_id),
                start_time_unix_nano=one.start_ns,
                end_time_unix_nano=one.end_ns,
            )
            for name, value in one.attributes.items():
                span.attributes.add(key=name).value.string_value = str(value)
    return message.SerializeToString()


def wait_for_verdicts(address: str, answers: int) -> None:
    """Return when so many answers have a decision."""
    deadline = Deadline(FOUND_S)
    while sum(status(f"http://{address}")["decisions"].values()) < answers:
        if deadline.is_over:
            raise SystemExit(f"no verdict on all {answers} answers within {FOUND_S:.0f} s")
        time.sleep(1)


def wait_for_incident(dsn: str) -> Incident:
    """The incident, when the monitor has found the rise."""
    deadline = Deadline(FOUND_S)
    with connect(dsn) as client:
        while not deadline.is_over:
            if (incident := find_incident(client)) is not None:
                return incident
            time.sleep(2)
    raise SystemExit(f"no alert within {FOUND_S:.0f} s")


def our_pages(console: str, incident: Incident) -> list[tuple[str, str]]:
    """From the alarm to the sentence: names and addresses."""
    answer = answer_url(incident.trace_id, incident.span_id, incident.claim_index)
    return [
        ("overview, with the alert", f"{console}/"),
        ("the alert", f"{console}{alert_url(incident.alert_id)}"),
        ("the answer, at the sentence", f"{console}{answer}"),
    ]


def their_pages(url: str, trace_id: str) -> list[tuple[str, str]]:
    """From the first page to the trace, whose id one must know."""
    return [
        ("projects", f"{url}/projects"),
        ("the project’s traces", f"{url}/projects/{project_id(url)}"),
        ("the trace", f"{url}/redirects/traces/{trace_id}"),
    ]


def project_id(url: str) -> str:
    """The id of Phoenix’s first project."""
    reply = httpx.post(f"{url}/graphql", json={"query": PROJECTS}, timeout=60).json()
    return str(reply["data"]["projects"]["edges"][0]["node"]["id"])


def weighed(pages: Sequence[tuple[str, str]]) -> Iterator[PageWeight]:
    """Open each page in a fresh browser, and add up what it loads."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name, url in pages:
            with browser.new_context() as context:
                sizes = loaded(context.new_page(), url)
            yield PageWeight(name, sum(sizes) / 1000, len(sizes))
        browser.close()


def loaded(page: Page, url: str) -> list[float]:
    """The bytes of each thing that the page loads, as they came over the wire."""
    session, sizes = page.context.new_cdp_session(page), list[float]()
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda one: sizes.append(one["encodedDataLength"]))
    page.goto(url, timeout=120_000)
    page.wait_for_load_state("networkidle", timeout=120_000)
    return sizes


if __name__ == "__main__":
    main()
