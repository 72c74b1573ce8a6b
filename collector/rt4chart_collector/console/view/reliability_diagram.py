"""The reliability diagram: how often verdicts are right, by the confidence that they state."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from otel_rt4chart.verify.rates.reliability import ReliabilityBin
from rt4chart_collector.console.view.filters import interval, percent, plural

# SVG units; the margins hold the numbers of the axes and their names.
SIZE, LEFT, BOTTOM, TOP, RIGHT = 220, 60, 40, 10, 22
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def reliability_diagram(bins: Sequence[ReliabilityBin]) -> Markup:
    """A point for each bin with the 95% interval of its right verdicts; `bins` hold labels.

    On the dashed line, the judge is right as often as it states.
    """
    marks = Markup().join(_mark(one) for one in bins if one.right.value is not None)
    text = "; ".join(_spoken(one) for one in bins)
    lines = Markup().join(_tick(share) for share in TICKS)
    return Markup(
        '<svg class="reliability" viewBox="0 0 {width} {height}" width="{width}" '
        'height="{height}" role="img" aria-label="Right verdicts by stated confidence: {text}">'
        '{lines}<path class="even" d="M{x0} {y0}L{x1} {y1}"/>{marks}'
        '<text x="{middle}" y="{low}" text-anchor="middle">stated confidence</text>'
        '<text transform="translate(11 {high}) rotate(-90)" text-anchor="middle">right</text></svg>'
    ).format(
        width=LEFT + SIZE + RIGHT,
        height=TOP + SIZE + BOTTOM,
        text=text,
        lines=lines,
        marks=marks,
        x0=f"{_x(0.0):.1f}",
        y0=f"{_y(0.0):.1f}",
        x1=f"{_x(1.0):.1f}",
        y1=f"{_y(1.0):.1f}",
        middle=f"{_x(0.5):.1f}",
        low=TOP + SIZE + BOTTOM - 6,
        high=f"{_y(0.5):.1f}",
    )


def _mark(one: ReliabilityBin) -> Markup:
    right, x = one.right, _x(one.confidence)
    low = right.value if right.low is None else right.low
    high = right.value if right.high is None else right.high
    return Markup(
        '<g><title>{}</title><path class="spread" d="M{x} {}V{}"/>'
        '<circle cx="{x}" cy="{}" r="4.5"/></g>'
    ).format(
        _spoken(one),
        f"{_y(low or 0.0):.1f}",
        f"{_y(high or 0.0):.1f}",
        f"{_y(right.value or 0.0):.1f}",
        x=f"{x:.1f}",
    )


def _tick(share: float) -> Markup:
    x, y = f"{_x(share):.1f}", f"{_y(share):.1f}"
    return Markup(
        '<path class="grid" d="M{x} {}V{}M{} {y}H{}"/>'
        '<text x="{x}" y="{}" text-anchor="middle">{share}</text>'
        '<text x="{}" y="{y}" dy="4" text-anchor="end">{share}</text>'
    ).format(
        TOP,
        TOP + SIZE,
        LEFT,
        LEFT + SIZE,
        TOP + SIZE + 15,
        LEFT - 6,
        x=x,
        y=y,
        share=f"{share:.0%}",
    )


def _spoken(one: ReliabilityBin) -> str:
    return (
        f"{percent(one.confidence)} stated, {percent(one.right.value)} right "
        f"({interval(one.right)}), {plural(one.labels, 'label')}"
    )


def _x(share: float) -> float:
    return LEFT + share * SIZE


def _y(share: float) -> float:
    return TOP + (1 - share) * SIZE
