"""`python -m otel_rt4chart.spans.conventions.ottl` prints the condition of the Collector's gateway.

In OTTL, the OpenTelemetry Collector's own language (contrib, pkg/ottl): true of a span by which a
trace is told to be one of a RAG application.
"""

from __future__ import annotations

import sys

from otel_rt4chart.spans.conventions.registry import signs_of
from otel_rt4chart.spans.model.view import Kind

# A trace of embeddings or checks alone holds nothing to verify.
ASKED = (Kind.LLM, Kind.RETRIEVER, Kind.RERANKER, Kind.CHAIN, Kind.AGENT, Kind.TOOL)
OURS = "rt4chart"


def span_condition() -> str:
    """True of a span with a key that tells its kind in any convention, or that is ours."""
    signs = signs_of(*ASKED)
    keys = {*signs.kinds, *signs.prefixes, OURS}
    shortest = (key for key in sorted(keys) if not any(key.startswith(f"{one}.") for one in keys))
    listed = "|".join(shortest).replace(".", "[.]")
    # The keys as JSON: each stands between quotation marks, so that it is matched by whole parts.
    return f"""IsMatch(String(Keys(span.attributes)), "\\"({listed})[.\\"]")"""


def event_condition() -> str:
    """True of a span event that tells the kind of its span."""
    return " or ".join(f'spanevent.name == "{name}"' for name in sorted(signs_of(*ASKED).events))


if __name__ == "__main__":
    sys.stdout.write(f"{span_condition()}\n{event_condition()}\n")
