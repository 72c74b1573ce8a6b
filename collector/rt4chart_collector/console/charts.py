"""Trends: a line that is part of the page, and figures that plotly draws."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup

WIDTH, HEIGHT, INSET = 96, 22, 2


def sparkline(values: Sequence[float | None], label: str) -> Markup:
    """A small line as SVG; where a value is None the line is broken. `label` says it in words."""
    known = [value for value in values if value is not None]
    if not known:
        return Markup('<span class="quiet">–</span>')
    top = max(known) or 1.0
    step = (WIDTH - 2 * INSET) / max(len(values) - 1, 1)
    drawn = HEIGHT - 2 * INSET
    points = [
        None if value is None else (INSET + at * step, HEIGHT - INSET - value / top * drawn)
        for at, value in enumerate(values)
    ]
    return Markup(
        '<svg class="spark" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" '
        'aria-label="{2}"><path d="{3}"/></svg>'
    ).format(WIDTH, HEIGHT, label, _path(points))


def bar(share: float, label: str, kind: str = "") -> Markup:
    """A share of a whole; `kind` warn or page colours it. `label` says it in words."""
    return Markup(
        '<svg class="bar {0}" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" '
        'aria-label="{1}"><rect class="all" width="100" height="8"/>'
        '<rect class="part" width="{2}" height="8"/></svg>'
    ).format(kind, label, f"{min(max(share, 0.0), 1.0) * 100:.1f}")


def _path(points: Sequence[tuple[float, float] | None]) -> str:
    """A path's commands; a point alone is a dot."""
    commands: list[str] = []
    is_drawing = False
    for point in points:
        if point is None:
            is_drawing = False
            continue
        x, y = point
        commands.append(f"{'L' if is_drawing else 'M'}{x:.1f} {y:.1f}")
        if not is_drawing:
            commands.append("h0.01")
        is_drawing = True
    return "".join(commands)


def figure_text(figure: Mapping[str, object]) -> str:
    """A plotly figure (`data`, `layout`) as the text of a `data-figure` attribute."""
    return json.dumps(figure, allow_nan=False, separators=(",", ":"))
