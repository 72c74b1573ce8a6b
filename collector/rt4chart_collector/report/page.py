"""The report as one HTML file without scripts, which loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.wording import signed
from rt4chart_collector.console.app.section import TEMPLATES
from rt4chart_collector.console.app.static_files import FOLDER as STATIC
from rt4chart_collector.console.view.templates import template_environment
from rt4chart_collector.labelling.status import goal_text, lacking_text
from rt4chart_collector.report.gather import PeriodReport
from rt4chart_collector.store.rates.claim_rates import RatePoint

HERE = Path(__file__).parent / "templates"
STYLES = ((STATIC, "console.css"), (HERE, "report.css"))


def render_report(
    report: PeriodReport, *, made_ns: int, console: str = "", has_texts: bool = True
) -> str:
    """The HTML text; its links lead to `console`, and there are none if it is empty.

    Without `has_texts`, claims are left out, and issue titles too, because they may quote claims.
    """
    # The styles are the product's own files, so they may go unescaped into the page.
    styles = [(folder / name).read_text("utf-8") for folder, name in STYLES]
    environment = template_environment([HERE, TEMPLATES])
    environment.filters["points"] = signed
    return environment.get_template("report.html").render(
        report=report,
        period=report.scope,
        made_ns=made_ns,
        console=console.rstrip("/"),
        has_texts=has_texts,
        styles=Markup("\n").join(map(Markup, styles)),
        trend=trend_chart,
        step_s=report.step_s,
        goal_text=goal_text,
        lacking_text=lacking_text,
    )


# The chart of a rate over time, in SVG units; the margins hold the labels of the axes.
WIDTH, HEIGHT = 640, 120
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 8, 20
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One step: the rate, its interval, and its position in the chart."""

    x: float
    value: float
    low: float
    high: float


def trend_chart(
    points: Sequence[RatePoint],
    *,
    since_ns: int,
    until_ns: int,
    step_s: int,
    measure: str = Measure.UNFAITHFUL,
) -> Markup:
    """The chart of one measure, with gaps at steps without decided claims.

    Empty for fewer than two points.
    """
    of = Measure(measure)
    known = [point for point in points if point.slice.rate_of(of).value is not None]
    if len(known) < 2:
        return Markup("")
    top = _nice(max(point.slice.rate_of(of).high or 0.0 for point in known))
    marks = [_mark(point, of, since_ns, until_ns, step_s) for point in known]
    runs = _runs(known, marks, step_s)
    bands = Markup("").join(_band(run, top) for run in runs)
    lines = Markup("").join(_line(run, top) for run in runs)
    scale = Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/>'
            '<text x="{}" y="{t:.1f}" text-anchor="end">{s}</text>'
        ).format(LEFT, WIDTH - RIGHT, LEFT - 6, y=_y(at, top), t=_y(at, top) + 4, s=f"{at:.0%}")
        for at in (0.0, top / 2, top)
    )
    return Markup(
        '<svg class="trend" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>'
    ).format(WIDTH, HEIGHT, _description(known, of), scale, bands, lines)


def _description(known: Sequence[RatePoint], measure: Measure) -> str:
    rates = [point.slice.rate_of(measure).value or 0.0 for point in known]
    return (
        f"{measure} claims over time: {rates[0]:.1%} at the start, {rates[-1]:.1%} at the end, "
        f"between {min(rates):.1%} and {max(rates):.1%}"
    )


def _mark(
    point: RatePoint, measure: Measure, since_ns: int, until_ns: int, step_s: int
) -> TrendPoint:
    rate = point.slice.rate_of(measure)
    middle = point.start_ns + step_s * SECOND_NS // 2
    share = (middle - since_ns) / max(until_ns - since_ns, 1)
    x = LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)
    return TrendPoint(x, rate.value or 0.0, rate.low or 0.0, rate.high or 0.0)


def _runs(
    known: Sequence[RatePoint], marks: Sequence[TrendPoint], step_s: int
) -> list[list[TrendPoint]]:
    """Runs of consecutive steps."""
    runs: list[list[TrendPoint]] = []
    last_ns = -1
    for point, mark in zip(known, marks, strict=True):
        if point.start_ns != last_ns:
            runs.append([])
        runs[-1].append(mark)
        last_ns = point.start_ns + step_s * SECOND_NS
    return runs


def _band(run: Sequence[TrendPoint], top: float) -> Markup:
    if len(run) == 1:
        (one,) = run
        return Markup(
            '<line class="whisker" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>'
        ).format(one.x, _y(one.low, top), _y(one.high, top))
    over = [(point.x, _y(point.high, top)) for point in run]
    under = [(point.x, _y(point.low, top)) for point in reversed(run)]
    return Markup('<polygon class="band" points="{}"/>').format(_points(over + under))


def _line(run: Sequence[TrendPoint], top: float) -> Markup:
    if len(run) == 1:
        (one,) = run
        return Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.5"/>').format(
            one.x, _y(one.value, top)
        )
    at = [(point.x, _y(point.value, top)) for point in run]
    return Markup('<polyline class="line" points="{}"/>').format(_points(at))


def _points(at: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in at)


def _y(share: float, top: float) -> float:
    return HEIGHT - BOTTOM - min(share / top, 1.0) * (HEIGHT - TOP - BOTTOM)


def _nice(share: float) -> float:
    """The top of the scale: the next of 2, 5, 10, 20, 50 and 100 %."""
    return next((top for top in (0.02, 0.05, 0.1, 0.2, 0.5) if share <= top), 1.0)
