"""The traces of a conversation: those with a span that names the same session."""

from __future__ import annotations

from otel_rt4chart.core.semconv import SCOPE_NAME, TENANT
from otel_rt4chart.core.tenants import is_tenant, split_service
from otel_rt4chart.spans.conventions.registry import SESSION_KEYS
from rt4chart_collector.store.answers.trace_sizes import SMALL_BLOCKS
from rt4chart_collector.store.engine.connect import Client

# Not by a lambda over the keys: the engine would copy the attributes of each span for every key.
_HAS_SESSION = " OR ".join(
    f"SpanAttributes['{key}'] = {{session:String}}" for key in sorted(SESSION_KEYS)
)
# The first condition is for the index of the values; the second one tells a session from another
# value of the same text.
TRACES_OF_SESSION = f"""
SELECT TraceId FROM otel_traces
WHERE ServiceName = {{service:String}}
  AND ({{is_hashed:UInt8}} OR ResourceAttributes['{TENANT}'] = {{tenant:String}})
  AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
  AND Timestamp < fromUnixTimestamp64Nano({{before:Int64}})
  AND ScopeName != '{SCOPE_NAME}' AND has(mapValues(SpanAttributes), {{session:String}})
  AND ({_HAS_SESSION})
GROUP BY TraceId ORDER BY max(Timestamp) DESC, TraceId LIMIT {{most:UInt32}}
"""  # noqa: S608 - our own names alone, values are parameters


def traces_of_session(
    client: Client,
    *,
    service: str,
    session: str,
    since_ns: int,
    before_ns: int,
    limit: int,
    seconds: float,
) -> list[str]:
    """The traces of a service's session with a span in that time, the last ones first.

    `service` is the stored name. A tenant that is known by its hash alone is not looked for.
    StoreError where the query takes longer than so many seconds.
    """
    tenant, service = split_service(service)
    parameters = {
        "service": service,
        "tenant": tenant,
        "is_hashed": int(bool(tenant) and not is_tenant(tenant)),
        "session": session,
        "since": max(since_ns, 0),
        "before": max(before_ns, 0),
        "most": limit,
    }
    settings = {**SMALL_BLOCKS, "max_threads": 1, "max_execution_time": max(round(seconds), 1)}
    rows = client.query(TRACES_OF_SESSION, parameters, settings=settings).result_rows
    return [trace_id for (trace_id,) in rows]
