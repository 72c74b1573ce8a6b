"""Traces with an answer that has no decision yet, in any span convention."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.core.semconv import SCOPE_NAME
from otel_rt4chart.spans.conventions.registry import KindIndicators, kind_indicators
from otel_rt4chart.spans.model.span_view import OperationKind
from rt4chart_collector.store.engine.connect import Client

FOR_EVER = 2**63 - 1


def unverified_traces(
    client: Client,
    verifier: str,
    since_ns: int,
    limit: int,
    *,
    after: str = "",
    until_ns: int = FOR_EVER,
    errors_count: bool = True,
) -> list[str]:
    """Traces since then with an answer on which this verifier has not decided, by trace id.

    These are traces with a generation without a decision, and traces with a retrieval and no
    decision at all, because the generation of a chain may not be traced. Spans that only their name
    identifies are left out. `after` is the last id of the page before. A trace without an answer
    comes back each time, because no decision on it is stored. With `errors_count` an error is a
    decision; an empty verifier has decided on nothing.
    """
    given = {
        "verifier": verifier,
        "since": since_ns,
        "until": until_ns,
        "limit": limit,
        "after": after,
        "errors": int(errors_count),
    }
    return [trace_id for (trace_id,) in client.query(UNVERIFIED, given).result_rows]


def _is_of(*kinds: OperationKind) -> str:
    """The condition on a span's row; names and values are those of the conventions' tables."""
    signs = kind_indicators(*kinds)
    # Any attribute that names a kind, be it another one, goes before keys and events.
    any_kind = kind_indicators(*(kind for kind in OperationKind if kind))
    keys = "|".join(prefix.replace(".", "[.]") for prefix in signs.prefixes)
    hinted = (
        f"arrayExists(key -> match(key, '^({keys})([.]|$)'), mapKeys(SpanAttributes)) "
        f"OR hasAny(Events.Name, [{_listed(signs.events)}])"
    )
    return f"({_names(signs)} OR NOT ({_names(any_kind)}) AND ({hinted}))"


def _names(signs: KindIndicators) -> str:
    """The condition that an attribute names one of the kinds; another value names none."""
    return " OR ".join(
        f"lower(trim(BOTH '\" ' FROM SpanAttributes['{key}'])) IN ({_listed(values)})"
        for key, values in signs.kinds.items()
    )


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in sorted(values))


DECIDED = """(
      SELECT {what} FROM rt4chart_verifications
      WHERE VerifierId = {{verifier:String}} AND IsDeleted = 0
        AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
        AND ({{errors:UInt8}} OR Decision != 'error')
  )"""
UNVERIFIED = f"""
SELECT DISTINCT TraceId FROM otel_traces
WHERE Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
  AND Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
  AND TraceId > {{after:String}} AND ScopeName != '{SCOPE_NAME}'
  AND ({_is_of(OperationKind.LLM)}
       AND (TraceId, SpanId) NOT IN {DECIDED.format(what="TraceId, SpanId")}
    OR {_is_of(OperationKind.RETRIEVER, OperationKind.RERANKER)}
       AND TraceId NOT IN {DECIDED.format(what="TraceId")})
ORDER BY TraceId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - names of our own tables alone, values are parameters
