"""Charts: sparklines and bars as SVG, and figures that Plotly draws."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from markupsafe import Markup

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.view.filters import percent, plural, shortened
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.alerts.alert_events import Episode
from rt4chart_collector.store.alerts.drift_states import DriftRow
from rt4chart_collector.store.rates.claim_rates import RatePoint, RateSlice
from rt4chart_collector.store.rates.trends import Deployment

WIDTH, HEIGHT, INSET = 96, 22, 2


def sparkline(values: Sequence[float | None], label: str) -> Markup:
    """A small line as SVG with gaps at None. `label` describes it for screen readers."""
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
    """A share as a bar; `kind` warn or page sets its color. `label` is for screen readers."""
    return Markup(
        '<svg class="bar {0}" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" '
        'aria-label="{1}"><rect class="all" width="100" height="8"/>'
        '<rect class="part" width="{2}" height="8"/></svg>'
    ).format(kind, label, f"{min(max(share, 0.0), 1.0) * 100:.1f}")


def _path(points: Sequence[tuple[float, float] | None]) -> str:
    """The commands of an SVG path; a single point is a dot."""
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


def stacked(whole: RateSlice) -> Markup:
    """The claims by label as parts of one bar; the legend beside it has the numbers.

    The misleading ones have a part of their own: they are entailed, and not in order.
    """
    parts = (
        ("entailed", whole.entailed - whole.misleading),
        ("misleading", whole.misleading),
        ("contradicted", whole.contradicted),
        ("baseless", whole.baseless),
        ("undecided", whole.undecided),
    )
    total, at, drawn = sum(number for _, number in parts) or 1, 0.0, Markup()
    for name, number in parts:
        width = number / total * 1000
        drawn += Markup('<rect class="part-{}" x="{}" width="{}" height="12"/>').format(
            name, f"{at:.1f}", f"{width:.1f}"
        )
        at += width
    text = ", ".join(f"{number} {name}" for name, number in parts)
    return Markup(
        '<svg class="stack-bar" viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" '
        'aria-label="{}">{}</svg>'
    ).format(f"claims: {text}", drawn)


def rate_figure(
    points: Sequence[RatePoint],
    step_s: int,
    deployed: Sequence[Deployment],
    episodes: Sequence[Episode],
    drifts: Sequence[DriftRow],
    measure: Measure = Measure.UNFAITHFUL,
) -> dict[str, object]:
    """The rate with its interval as a band, with gaps where a step has none.

    The baseline is that of the measure, where `drifts` has one.
    """
    steps = _with_gaps(points, step_s)
    times = [iso(at_ns + step_s * 10**9 // 2) for at_ns, _ in steps]
    values = [None if rates is None else rates.rate_of(measure).value for _, rates in steps]
    across, up = _band(steps, step_s, measure)
    hover_texts = ["" if rates is None else _size(rates, measure) for _, rates in steps]
    plain = {"x": times, "type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    band = {"fill": "toself", "fillcolor": "var(--band)", "line": {"width": 0}}
    data = [
        {**plain, **band, "x": across, "y": up, "connectgaps": False},
        {
            **plain,
            "y": values,
            "text": hover_texts,
            "mode": "lines+markers",
            "line": {"color": "var(--accent)", "width": 2},
            "marker": {"size": 4},
            "hoverinfo": "text+x+y",
            "hovertemplate": "%{x}<br>%{y:.1%}<br>%{text}<extra></extra>",
        },
    ]
    baseline = next((row for row in drifts if row.measure is measure), None)
    return {"data": data, "layout": _layout(deployed, episodes, baseline)}


def _size(rates: RateSlice, measure: Measure) -> str:
    sums = rates.sums_of(measure)
    return f"n = {plural(sums.claims, 'claim')} of {plural(sums.answers, 'answer')}"


def _one_per_minute(episodes: Sequence[Episode]) -> list[Episode]:
    """One of the alerts that fired in the same minute; the others would overlap it."""
    return list({episode.fired_ns // (60 * 10**9): episode for episode in episodes}.values())


def _band(
    steps: Sequence[tuple[int, RateSlice | None]], step_s: int, measure: Measure
) -> tuple[list[str | None], list[float | None]]:
    """The intervals as closed shapes, one for each run without a gap; None between them."""
    across: list[str | None] = []
    up: list[float | None] = []
    for is_known, run in groupby(steps, lambda step: _edges(step[1], measure) is not None):
        if not is_known:
            continue
        corners = [
            (at_ns + step_s * 5 * 10**8, _edges(rates, measure) or (0.0, 0.0))
            for at_ns, rates in run
        ]
        if len(corners) == 1:  # a single interval is drawn half as wide as its step
            (at_ns, edges), aside = corners[0], step_s * 10**9 // 4
            corners = [(at_ns - aside, edges), (at_ns + aside, edges)]
        times = [iso(at_ns) for at_ns, _ in corners]
        if across:
            across.append(None)
            up.append(None)
        across += [*times, *reversed(times)]
        up += [edges[0] for _, edges in corners]
        up += [edges[1] for _, edges in reversed(corners)]
    return across, up


def _edges(rates: RateSlice | None, measure: Measure) -> tuple[float, float] | None:
    rate = None if rates is None else rates.rate_of(measure)
    return None if rate is None or rate.low is None or rate.high is None else (rate.low, rate.high)


def _layout(
    deployed: Sequence[Deployment], episodes: Sequence[Episode], drift: DriftRow | None
) -> dict[str, object]:
    marks = [
        (
            deployment.at_ns,
            f"{deployment.attribute.partition('_')[0]} {deployment.value}",
            "var(--none)",
            "dot",
            0,
        )
        for deployment in deployed
    ]
    # Above the names of deployments, which are often close to an alert.
    marks += [
        (episode.fired_ns, "alert", "var(--bad)", "solid", 15)
        for episode in _one_per_minute(episodes)
    ]
    shapes: list[dict[str, object]] = [
        {
            "type": "line",
            "x0": iso(at_ns),
            "x1": iso(at_ns),
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": colour, "width": 1.5, "dash": dash},
        }
        for at_ns, _, colour, dash, _ in marks
    ]
    notes: list[dict[str, object]] = [
        {
            "x": iso(at_ns),
            "yref": "paper",
            "y": 1,
            "yanchor": "bottom",
            "yshift": above,
            "showarrow": False,
            "text": _plain_annotation(text),
            "font": {"color": colour, "size": 12},
        }
        for at_ns, text, colour, _, above in marks
    ]
    if drift is not None and drift.state != "cold":
        dashed = {"color": "var(--none)", "width": 1, "dash": "dash"}
        across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": dashed}
        shapes.append({**across, "y0": drift.baseline, "y1": drift.baseline})
        note = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        text = f"baseline {percent(drift.baseline)}"
        notes.append({**note, "y": drift.baseline, "text": text, "font": {"color": "var(--none)"}})
    return {
        "height": 320,
        "margin": {"l": 56, "r": 20, "t": 44, "b": 44},
        "hovermode": "closest",
        "shapes": shapes,
        "annotations": notes,
        "xaxis": {"type": "date", "nticks": 7, "tickangle": 0},
        "yaxis": {"tickformat": ".0%", "rangemode": "tozero"},
    }


def _with_gaps(points: Sequence[RatePoint], step_s: int) -> list[tuple[int, RateSlice | None]]:
    """The points, with one without a slice wherever steps are missing."""
    found: list[tuple[int, RateSlice | None]] = []
    for point in points:
        if found and point.start_ns - found[-1][0] > step_s * 10**9:
            found.append((found[-1][0] + step_s * 10**9, None))
        found.append((point.start_ns, point.slice))
    return found


def _plain_annotation(text: str) -> str:
    """A text without the tags and entities that Plotly would interpret."""
    return shortened(text, 20).replace("&", "＆").replace("<", "‹").replace(">", "›")
