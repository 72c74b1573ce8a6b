"""`python -m otel_rt4chart.spans.conventions.ottl` prints the filter for a Collector gateway.

The filter selects spans of RAG applications. It is written in OTTL, the language of the
OpenTelemetry Collector (contrib, pkg/ottl).
"""

from __future__ import annotations

import sys

from otel_rt4chart.spans.conventions.registry import kind_indicators
from otel_rt4chart.spans.model.span_view import OperationKind

# A trace with only embeddings or checks contains nothing to verify.
RAG_KINDS = (
    OperationKind.LLM,
    OperationKind.RETRIEVER,
    OperationKind.RERANKER,
    OperationKind.CHAIN,
    OperationKind.AGENT,
    OperationKind.TOOL,
)
OWN_PREFIX = "rt4chart"


def span_condition() -> str:
    """An OTTL condition: the span has a key that determines its kind, or one of ours."""
    indicators = kind_indicators(*RAG_KINDS)
    keys = {*indicators.kinds, *indicators.prefixes, OWN_PREFIX}
    shortest = (
        key for key in sorted(keys) if not any(key.startswith(f"{other}.") for other in keys)
    )
    alternatives = "|".join(shortest).replace(".", "[.]")
    # OTTL prints the keys as JSON; the quotation mark and the dot make whole parts match.
    return f"""IsMatch(String(Keys(span.attributes)), "\\"({alternatives})[.\\"]")"""


def event_condition() -> str:
    """An OTTL condition: the span event determines the kind of its span."""
    return " or ".join(
        f'spanevent.name == "{name}"' for name in sorted(kind_indicators(*RAG_KINDS).events)
    )


if __name__ == "__main__":
    sys.stdout.write(f"{span_condition()}\n{event_condition()}\n")
