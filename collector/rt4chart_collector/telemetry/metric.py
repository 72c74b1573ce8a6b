"""What a metric is: a name for each of the two ways out, and how it is read.

Prometheus' name is OpenTelemetry's with the unit and `_total` behind it, as OpenTelemetry's
specification translates names (Prometheus and OpenMetrics Compatibility).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rt4chart_collector.core.counters import Distribution
from rt4chart_collector.telemetry.figures import Figures

Values = tuple[str, ...]
Samples = Mapping[Values, float | Distribution]
Read = Callable[[Figures], Samples]

UNITS = {"s": "seconds", "By": "bytes"}


class Kind(StrEnum):
    """What a metric does over time."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; `read` gives its samples by the values of its labels, none where it has none.

    `unit` is UCUM's: `s`, `By`, or a word in braces for things that are counted.
    """

    kind: Kind
    name: str
    unit: str
    help: str
    read: Read
    labels: tuple[str, ...] = ()

    @property
    def otel_name(self) -> str:
        """The name among OpenTelemetry's."""
        return f"rt4chart.{self.name}"

    @property
    def prometheus_name(self) -> str:
        """The name among Prometheus', without the `_total` of a counter."""
        return "_".join(filter(None, ("rt4chart", self.name, UNITS.get(self.unit, ""))))
