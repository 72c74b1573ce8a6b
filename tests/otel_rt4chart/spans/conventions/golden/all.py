"""The golden spans of all conventions."""

from __future__ import annotations

from tests.otel_rt4chart.spans.conventions.golden import genai, openinference, openllmetry, products

GOLDEN = (*openinference.CASES, *genai.CASES, *openllmetry.CASES, *products.CASES)
