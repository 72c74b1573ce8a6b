"""The route of an answer. No convention defines one, so the most explicit name is used."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.model.values import as_text, first_nonempty

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
ROUTE_KEY_SET = frozenset(ROUTE_KEYS)


def explicit_route(near: Sequence[Attributes], servers: Sequence[Attributes] | None = None) -> str:
    """The value of the most explicit key; the first span in the given order that has it.

    `servers` are the spans whose HTTP route counts, if not all do: the route of a service that the
    request calls is not the route of the request.
    """
    named = [view for view in near if not ROUTE_KEY_SET.isdisjoint(view)]
    if not named and not servers:
        return ""
    return first_nonempty(
        as_text(attributes.get(key))
        for key in ROUTE_KEYS
        for attributes in (servers if key == semconv.HTTP_ROUTE and servers is not None else named)
    )
