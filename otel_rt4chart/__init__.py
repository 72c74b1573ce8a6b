"""What share of a RAG application's claims its passages do not support, from its own traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_rt4chart.core.lazy import lazy_names

if TYPE_CHECKING:
    from otel_rt4chart.handmade import generator, retriever
    from otel_rt4chart.instrumentor import RT4ChartInstrumentor
    from otel_rt4chart.sampling import force
    from otel_rt4chart.verify.core.model import Passage

__all__ = ["Passage", "RT4ChartInstrumentor", "force", "generator", "retriever"]

# Loaded on first access: pytest imports our plugin, and so this package, in every test run of
# every user.
_HOME = {
    "Passage": "otel_rt4chart.verify.core.model",
    "RT4ChartInstrumentor": "otel_rt4chart.instrumentor",
    "force": "otel_rt4chart.sampling",
    "generator": "otel_rt4chart.handmade",
    "retriever": "otel_rt4chart.handmade",
}

__getattr__ = lazy_names(__name__, _HOME)
