"""Forks and ends of processes, which only real processes have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.endpoint_server import EndpointServer, hang

ROOT = Path(__file__).parents[3]
ENDS = """
import sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
from otel_rt4chart.emit import Emitter
from otel_rt4chart.inline import InlineVerifier
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Policy, Sampler

provider = TracerProvider()
exporter = ConsoleSpanExporter(formatter=lambda span: span.name + "\\n")
provider.add_span_processor(BatchSpanProcessor(exporter))
emitter = Emitter(["carrier"], tracer_provider=provider, redactor=Redactor(), version="1")
inline = InlineVerifier(
    sampler=Sampler(Policy(rate=1.0)),
    build_verifier=lambda: build_verifier(sys.argv[1]),
    emitter=emitter,
    stop_s=float(sys.argv[2]),
)
provider.add_span_processor(inline)

def ask(answer="The trial lasts 30 days."):
    tracer = provider.get_tracer("app")
    with tracer.start_as_current_span("ask"):
        found = '[{"document.content": "The trial lasts 14 days."}]'
        kinds = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": found}
        tracer.start_span("search", attributes=kinds).end()
        kinds = {"openinference.span.kind": "LLM", "output.value": answer}
        tracer.start_span("answer", attributes=kinds).end()

ask()
"""
FORKS = (
    ENDS
    + """
import os, signal
inline.force_flush(20000)
ask()
inline._count_lock.acquire(); inline._gather_lock.acquire()
child = os.fork()
if child == 0:
    signal.alarm(20)
    assert inline.counts == {"spans.queue_full": 0}, inline.counts
    ask()
    assert inline.force_flush(15000)
    assert inline.counts["decisions.verified"] == 1, inline.counts
    os._exit(0)
inline._count_lock.release(); inline._gather_lock.release()
assert os.waitpid(child, 0)[1] == 0
"""
)


def run(script: str, judge: str, stop_s: float, **environment: str) -> list[str]:
    """The words that a process printed."""
    out = subprocess.run(
        [sys.executable, "-c", script, judge, str(stop_s)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert out.returncode == 0, out.stderr
    return out.stdout.split()


@pytest.mark.parametrize("judge", ["rules", "local"])
def test_what_is_queued_at_the_end_is_verified_and_exported(judge: str) -> None:
    """Though the process ends at once, and though exporters were added before us."""
    names = run(ENDS, judge, 20)

    assert sorted(names) == ["answer", "ask", "rt4chart.verify", "search"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_begins_empty_and_verifies() -> None:
    """Though other threads held our locks at the fork; the parent goes on."""
    names = run(FORKS, "rules", 20)

    assert names.count("rt4chart.verify") >= 2


def test_a_judge_that_hangs_does_not_hold_the_end() -> None:
    """The deadline is kept, with the application's own spans exported."""
    pytest.importorskip("openai")
    # The process has 60 seconds to end: an end that waits for the judge is killed.
    with EndpointServer([hang(90)]) as server:
        # Imported before the deadline runs: on a busy machine the import takes longer than it.
        script = f"import openai\n{ENDS}"
        names = run(script, "openai", 5, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="k")

    assert sorted(names) == ["answer", "ask", "search"]
    assert len(server.seen) > 0
