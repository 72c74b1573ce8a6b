"""Runs one application in its environment: `python run.py NAME FOLDER`.

An application is a module with `instrument(provider)` and one function for each variant, which
receives the endpoint's URL. The spans of each variant are one OTLP/JSON request in one file.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Sequence
from contextvars import Context
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.recorded.endpoint import serve
from tests.recorded.header import header

VARIANTS = ("plain", "streamed", "agent", "awaited", "unnamed", "empty", "steps")
OF_THE_MACHINE = re.compile(r"^(host|process|os)\.")
# The folders of an absolute path; the file name stays.
PATHS = re.compile(r"(?:/[\w.+-]+){2,}/(?=[\w.+-]+\.py)")


def otlp(spans: Sequence[ReadableSpan]) -> dict[str, Any]:
    """The request in OTLP's JSON: ids in hex, enumerations as numbers."""
    told: dict[str, Any] = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    for resource in told.get("resourceSpans", ()):
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for part in (span, *span.get("links", ())):
                    _hex(part)
    return told


def _hex(part: dict[str, Any]) -> None:
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in part:
            part[key] = base64.b64decode(part[key]).hex()


def scrubbed(request: dict[str, Any]) -> str:
    """The request as one line, without information about the machine."""
    for resource in request.get("resourceSpans", ()):
        kept = resource.get("resource", {}).get("attributes", [])
        kept[:] = [one for one in kept if not OF_THE_MACHINE.match(one["key"])]
    line = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
    return PATHS.sub("", line)


def main(name: str, folder: Path) -> None:
    """Record one application."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "lamp-shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    os.environ.update(header(name).environment)
    app = import_module(f"tests.recorded.apps.{name}")
    with serve() as url:
        app.instrument(provider)
        for variant in VARIANTS:
            if hasattr(app, variant):
                # A context of its own: some packages leave a span of a streamed answer current.
                Context().run(getattr(app, variant), url)
                told = scrubbed(otlp(exporter.get_finished_spans()))
                (folder / f"{name}-{variant}.json").write_text(told + "\n")
                exporter.clear()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
