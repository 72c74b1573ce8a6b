"""Charts as inline SVG: no script, colours from the page's style, a tooltip on every point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from otel_rt4chart.bench.curves import CurvePoint

WIDTH, HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 440, 16, 270
_COLOURS = 6  # classes c0 to c5 of the style


class Axes(NamedTuple):
    """The names of both axes and their ranges."""

    x: str
    y: str
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)


class Bar(NamedTuple):
    """A value with an interval, drawn as a dot and a line; `note` is its tooltip."""

    name: str
    value: float
    low: float
    high: float
    note: str


def line_chart(
    title: str, axes: Axes, lines: Mapping[str, Sequence[CurvePoint]], *, diagonal: bool = False
) -> str:
    """Lines over two axes, with a legend where there are several."""
    parts = [_frame(axes)]
    if diagonal:
        ends = (*_place(axes, axes.x_range[0], axes.y_range[0]), *_place(axes, 1.0, 1.0))
        parts.append(
            '<line class="guide" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'.format(*ends)
        )
    for number, (name, points) in enumerate(lines.items()):
        colour = f"c{number % _COLOURS}"
        places = [_place(axes, point.x, point.y) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line {colour}" points="{path}"/>')
        size = 3 if len(points) < 40 else 1.5
        parts += [
            f'<circle class="dot {colour}" cx="{x:.1f}" cy="{y:.1f}" r="{size}">'
            f"<title>{escape(point.note)}</title></circle>"
            for (x, y), point in zip(places, points, strict=True)
        ]
        if len(lines) > 1:
            parts.append(
                f'<text class="key {colour}" x="{_RIGHT - 8}" y="{_BOTTOM - 12 - 16 * number}" '
                f'text-anchor="end">{escape(name)}</text>'
            )
    return _svg(title, "".join(parts), HEIGHT)


def interval_chart(title: str, name: str, bars: Sequence[Bar]) -> str:
    """A line for each value with its interval, and a guide at no difference."""
    ends = [end for bar in bars for end in (bar.low, bar.high, bar.value, 0.0)]
    reach = max(max(map(abs, ends)) * 1.1, 0.01)
    left, step = 180, 26
    height = 56 + step * len(bars)

    def at(value: float) -> float:
        return left + (value + reach) / (2 * reach) * (_RIGHT - left)

    parts = [f'<line class="guide" x1="{at(0):.1f}" y1="8" x2="{at(0):.1f}" y2="{height - 40}"/>']
    for number, bar in enumerate(bars):
        y = 22 + step * number
        ends_at = f'x1="{at(bar.low):.1f}" y1="{y}" x2="{at(bar.high):.1f}" y2="{y}"'
        parts.append(
            f"<g><title>{escape(bar.note)}</title>"
            f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(_short(bar.name))}</text>'
            f'<line class="line c0" {ends_at}/>'
            f'<circle class="dot c0" cx="{at(bar.value):.1f}" cy="{y}" r="4"/></g>'
        )
    for value in (-reach, 0.0, reach):
        anchor = "start" if value < 0 else "middle" if value == 0 else "end"
        parts.append(
            f'<text x="{at(value):.1f}" y="{height - 24}" text-anchor="{anchor}">'
            f"{value:+.3f}</text>"
        )
    middle = (left + _RIGHT) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{height - 6}" text-anchor="middle">{escape(name)}</text>'
    )
    return _svg(title, "".join(parts), height)


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"


def _svg(title: str, body: str, height: int) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}">{body}</svg></figure>'
    )


def _frame(axes: Axes) -> str:
    """The grid, the numbers on it, and the names of the axes."""
    parts = []
    for part in range(5):
        y_value = axes.y_range[0] + (axes.y_range[1] - axes.y_range[0]) * part / 4
        x_value = axes.x_range[0] + (axes.x_range[1] - axes.x_range[0]) * part / 4
        x, y = _place(axes, x_value, y_value)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_RIGHT}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_tick(y_value)}</text>'
            f'<text x="{x:.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{_tick(x_value)}</text>'
        )
    middle = (_LEFT + _RIGHT) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(axes.x)}</text>'
        f'<text transform="translate(14 {(_TOP + _BOTTOM) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">{escape(axes.y)}</text>'
    )
    return "".join(parts)


def _tick(value: float) -> str:
    return f"{value:.0f}" if value >= 2 else f"{value:.2f}"


def _place(axes: Axes, x: float, y: float) -> tuple[float, float]:
    return (
        _LEFT + _share(x, axes.x_range) * (_RIGHT - _LEFT),
        _BOTTOM - _share(y, axes.y_range) * (_BOTTOM - _TOP),
    )


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return (value - low) / (high - low) if high > low else 0.5
