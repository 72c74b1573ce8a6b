"""What share of a RAG application's claims its passages do not support, from its own traces."""

from otel_rt4chart.handmade import generator, retriever
from otel_rt4chart.instrumentor import RT4ChartInstrumentor
from otel_rt4chart.verify.model import Passage

__all__ = ["Passage", "RT4ChartInstrumentor", "generator", "retriever"]
