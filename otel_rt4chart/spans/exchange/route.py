"""The route of an answer: no convention has one, so the most explicit name that there is."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.reading.texts import first_text

# Sources: OpenTelemetry http-spans.md, langfuse-python `_client/attributes.py`, LangSmith's OTel
# page, OpenLLMetry's semantic conventions, Vercel's `ai.telemetry`, OTel gen-ai-agent-spans.md,
# OpenInference semantic_conventions.md.
ROUTE_KEYS = (
    semconv.ROUTE,
    semconv.HTTP_ROUTE,
    "langfuse.trace.name",
    "langsmith.trace.name",
    "traceloop.workflow.name",
    "gen_ai.workflow.name",
    "ai.telemetry.functionId",
    "gen_ai.agent.name",
    "agent.name",
)
NAMING = frozenset(ROUTE_KEYS)


def named_route(near: Sequence[Attributes], servers: Sequence[Attributes] | None = None) -> str:
    """By the most explicit key; of one key on several spans, the first in the order given.

    `servers` are the spans whose HTTP route counts, where not all do: that of a service which the
    request only calls is not its own.
    """
    named = [one for one in near if not NAMING.isdisjoint(one)]
    if not named and not servers:
        return ""
    return first_text(
        values.text(attributes.get(key))
        for key in ROUTE_KEYS
        for attributes in (servers if key == semconv.HTTP_ROUTE and servers is not None else named)
    )
