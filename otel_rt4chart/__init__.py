"""What share of a RAG application's claims its passages do not support, from its own traces."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    """Load a public name on first access (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
