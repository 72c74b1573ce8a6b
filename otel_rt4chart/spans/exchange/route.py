"""The route of an answer. No convention defines one, so the most explicit name is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from otel_rt4chart.core import semconv
from otel_rt4chart.core.text import MAX_NAME_CHARS
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
# The application or the server sets these.
EXACT_KEYS = frozenset({semconv.ROUTE, semconv.HTTP_ROUTE})
ROUTE_KEY_SET = frozenset(ROUTE_KEYS)
MAX_NAMES = 1_024  # of spans, whose routes are remembered
# Names that frameworks give to chains and graphs without a name: all of them would be one route.
UNNAMED = re.compile(
    r"(?:Runnable(?:Sequence|Parallel|Lambda|Passthrough|Assign|Branch|Binding|Each|Generator|Map"
    r"|Retry|Pick|WithFallbacks|WithMessageHistory)|LangGraph|CompiledStateGraph"
    r"|(?:Crew|Flow)_[0-9a-f-]{36}(?:\.kickoff)?)"
    r"(?:<.*>)?(?:\.workflow|\.task)?",
    re.DOTALL,
)
# The framework prefixes the operation: `invoke_workflow RunnableSequence`.
OPERATION = re.compile(r"(?:invoke_workflow|invoke_agent|execute_task|create_agent) (?=\S)")
# Methods that frameworks offer twice: `aquery` is `query`, called asynchronously.
METHODS = (
    "query", "chat", "complete", "retrieve", "synthesize", "invoke", "stream", "stream_chat",
    "stream_complete", "stream_events", "predict", "run", "call", "batch", "generate", "forward",
    "get_response", "postprocess_nodes",
)  # fmt: skip
ASYNC_METHOD = re.compile(rf"(?P<owner>.*\.)(?:a(?P<name>{'|'.join(METHODS)})|(?P<base>\w+)_async)")


def explicit_route(near: Sequence[Attributes], servers: Sequence[Attributes] | None = None) -> str:
    """The value of the most explicit key; the first span in the given order that has it.

    `servers` are the spans whose HTTP route counts, if not all do: the route of a service that the
    request calls is not the route of the request.
    """
    # So, not the other way round: nine lookups instead of a pass over all keys.
    named = [view for view in near if not view.keys().isdisjoint(ROUTE_KEY_SET)]
    if not named and not servers:
        return ""
    return first_nonempty(
        _unless_unnamed(key, as_text(attributes.get(key)))
        for key in ROUTE_KEYS
        for attributes in (servers if key == semconv.HTTP_ROUTE and servers is not None else named)
    )


def route_from_names(names: Iterable[str], service: str = "") -> str:
    """The first name, outermost first, that is no framework's own; else the service's, else any."""
    known = [name for name in names if name]
    return first_nonempty(map(own_name, known)) or service or first_nonempty(known)


def own_name(name: str) -> str:
    """The name as a route; empty for a framework's own."""
    return _own_name(name) if len(name) <= MAX_NAME_CHARS else _own_name.__wrapped__(name)


@lru_cache(maxsize=MAX_NAMES)
def _own_name(name: str) -> str:
    return "" if is_unnamed(name) else sync_name(name)


def is_unnamed(name: str) -> bool:
    """True for the name that a framework gives to a chain or a graph without one."""
    return UNNAMED.fullmatch(OPERATION.sub("", name, count=1)) is not None


def sync_name(name: str) -> str:
    """The name of the span that the synchronous method would have: both serve one route."""
    found = ASYNC_METHOD.fullmatch(name)
    return f"{found['owner']}{found['name'] or found['base']}" if found else name


def _unless_unnamed(key: str, value: str) -> str:
    """The value; nothing for a framework's own name that the application did not set itself."""
    return "" if key not in EXACT_KEYS and is_unnamed(value) else value
