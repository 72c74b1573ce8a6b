"""The reliability diagram as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.reliability import ReliabilityBin
from rt4chart_collector.console.view.reliability_diagram import (
    LEFT,
    SIZE,
    TOP,
    reliability_diagram,
)

SURE = ReliabilityBin(0.9, 1.0, 40, 0.95, Rate(0.6, 0.45, 0.74))


def test_a_point_stands_where_its_numbers_say() -> None:
    """Across the stated confidence, up the share that is right, with its interval; and in words."""
    svg = ET.fromstring(reliability_diagram([SURE]))  # noqa: S314 - our own text

    (circle,) = svg.iter("circle")
    (spread,) = (one for one in svg.iter("path") if one.get("class") == "spread")
    x, low, high = LEFT + 0.95 * SIZE, TOP + 0.55 * SIZE, TOP + 0.26 * SIZE
    assert (circle.get("cx"), circle.get("cy")) == (f"{x:.1f}", f"{TOP + 0.4 * SIZE:.1f}")
    assert spread.get("d") == f"M{x:.1f} {low:.1f}V{high:.1f}"
    assert svg.get("aria-label", "").endswith("95.0% stated, 60.0% right (45.0–74.0%), 40 labels")
    assert svg.get("role") == "img"


def test_without_points_the_axes_are_left() -> None:
    """No bin has labels."""
    svg = ET.fromstring(reliability_diagram([]))  # noqa: S314 - our own text

    assert list(svg.iter("circle")) == []
    assert [one.text for one in svg.iter("text")][-2:] == ["stated confidence", "right"]
