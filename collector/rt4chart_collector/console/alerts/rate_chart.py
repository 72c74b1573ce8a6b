"""The chart of an incident: places in percent of its width and in pixels of its height.

Drawn as SVG by the page alone: it needs no script, and its texts keep their size on a phone. Lanes
of labels stand above the plot, below it the claims of each step and the times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.console.view.filters import count, shortened
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.incident.changes import FirstSeen
from rt4chart_collector.incident.read_incident import RouteIncident
from rt4chart_collector.incident.span import (
    HOUR_NS,
    MINUTE_NS,
    IncidentSpan,
    RateStep,
    usual_length,
)

# The narrowest plot that labels have to fit, and the width of a character, in pixels.
NARROW, CHARACTER = 290, 6.6
LANE, PLOT, STRIP, AXIS = 20, 190, 26, 20
# Numbers as near as this, in percent, would overlap: they go to another lane. Where the lanes are
# not enough, numbers become one sign, which takes more room.
SIGN_ROOM, SIGN_LANES, CLUSTER_ROOM = 11.0, 3, 22.0
TIME_STEPS = tuple(hours * HOUR_NS for hours in (1, 2, 3, 6, 12, 24, 48, 96))
MOST_TIMES = 5
GRID = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """A step of the rate: a level line with the interval of its rate, and a bar of its claims.

    `rise` is where the line of the step before ends, None where there is none next to it. `number`
    is its number of claims where that fits below the plot.
    """

    step: RateStep
    x: float
    width: float
    y: float
    low: float
    high: float
    rise: float | None
    bar: float
    number: str

    @property
    def middle(self) -> float:
        """The middle of the step."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A text at a place; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class DrawnSign:
    """The number of a mark, or the numbers of several that are too near to each other."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that came into use, with its number in the chart and in the list below it.

    `is_near` for what came when the rise began.
    """

    number: int
    x: float
    seen: FirstSeen
    is_near: bool


@dataclass(frozen=True, slots=True)
class RateChart:
    """Everything that is drawn; heights in pixels, `top` is where the plot begins."""

    height: int
    top: float
    bottom: float
    strip: float
    steps: tuple[DrawnStep, ...]
    grid: tuple[DrawnText, ...]
    times: tuple[DrawnText, ...]
    marks: tuple[Mark, ...]
    signs: tuple[DrawnSign, ...]
    label: DrawnText | None
    began: tuple[float, float]
    since: float
    usual: tuple[float, float, float] | None
    fired: DrawnText
    ended: DrawnText | None
    most_claims: int


@dataclass(frozen=True, slots=True)
class _Scale:
    span: IncidentSpan
    most: float
    top: float

    def x(self, at_ns: int) -> float:
        """A time in percent of the width."""
        length = self.span.until_ns - self.span.begin_ns
        return round(min(max((at_ns - self.span.begin_ns) / length, 0.0), 1.0) * 100, 2)

    def y(self, rate: float) -> float:
        """A rate in pixels; above the highest one that is drawn, its top."""
        return round(self.top + PLOT * (1 - min(rate / self.most, 1.0)), 1)


def rate_chart(incident: RouteIncident, *, fired_ns: int) -> RateChart:
    """The chart of an incident, whose alert fired at that time."""
    flat = _Scale(incident.span, _most(incident), 0.0)
    marks = _marks(incident, flat)
    signs = _signs(marks)
    lanes = max((sign.y for sign in signs), default=-1) + 1
    fired, ended = _event_texts(incident, flat, fired_ns, lanes + 1)
    top = LANE * (max(ended.y if ended else fired.y, fired.y) + 1) + 4
    scale = replace(flat, top=top)
    bottom = top + PLOT
    strip = bottom + STRIP
    most = max((step.claims for step in incident.steps), default=0)
    return RateChart(
        height=round(strip + AXIS),
        top=top,
        bottom=bottom,
        strip=strip,
        steps=tuple(_steps(incident.steps, scale, strip, most)),
        grid=tuple(_grid(scale)),
        times=tuple(_times(incident.span, flat, strip + AXIS - 5)),
        marks=marks,
        signs=tuple(replace(sign, y=LANE * (sign.y + 1) + LANE / 2) for sign in signs),
        label=_label(marks),
        began=(scale.x(incident.began.low_ns), scale.x(incident.began.high_ns)),
        since=scale.x(incident.since_ns),
        usual=_usual(incident, scale),
        fired=_placed(fired),
        ended=_placed(ended) if ended else None,
        most_claims=most,
    )


def _placed(text: DrawnText) -> DrawnText:
    """A text in its lane, at the height of its base line."""
    return replace(text, y=LANE * text.y + LANE - 6)


def _most(incident: RouteIncident) -> float:
    """The highest rate of the scale: rates are seen whole, intervals of few claims are cut."""
    facts = incident.facts
    values = [step.rate.value for step in incident.steps]
    values += [one.high for one in (facts.before, facts.after) if one is not None]
    return min(max([one for one in values if one is not None], default=0.0) * 1.15 + 0.002, 1.0)


def _steps(
    steps: Sequence[RateStep], scale: _Scale, strip: float, most: int
) -> Iterable[DrawnStep]:
    before: tuple[int, float] | None = None
    for step in steps:
        x, end = scale.x(step.begin_ns), scale.x(step.end_ns)
        rate = step.rate
        y = scale.y(rate.value or 0.0)
        width, number = round(end - x, 2), count(step.claims)
        yield DrawnStep(
            step=step,
            x=x,
            width=width,
            y=y,
            low=scale.y(rate.low or 0.0),
            high=scale.y(1.0 if rate.high is None else rate.high),
            rise=before[1] if before and before[0] == step.begin_ns else None,
            bar=round((STRIP - 14) * step.claims / most, 1),
            number=number if (len(number) + 0.6) * CHARACTER <= width / 100 * NARROW else "",
        )
        before = step.end_ns, y


def _grid(scale: _Scale) -> Iterable[DrawnText]:
    """Levels of the rate, four at most, with their names."""
    distance = next((one for one in GRID if scale.most / one <= 4), GRID[-1])
    for number in range(int(scale.most / distance) + 1):
        level = number * distance
        yield DrawnText(0, scale.y(level), f"{level * 100:.3g}%", "end")


def _times(span: IncidentSpan, scale: _Scale, y: float) -> Iterable[DrawnText]:
    """Full hours, or midnights with their dates; none at the edges, where they would be cut."""
    length = span.until_ns - span.begin_ns
    distance = next((one for one in TIME_STEPS if length / one <= MOST_TIMES), TIME_STEPS[-1])
    at_ns = -(-span.begin_ns // distance) * distance
    while at_ns < span.until_ns:
        x, written = scale.x(at_ns), utc_time(at_ns)
        is_midnight = written.endswith("00:00")
        if 7 < x < 93:
            yield DrawnText(x, y, written[5:10] if is_midnight else written[11:])
        at_ns += distance


def _marks(incident: RouteIncident, scale: _Scale) -> tuple[Mark, ...]:
    near = {
        (one.change.new.attribute, one.change.new.value, one.first_ns) for one in incident.changes
    }
    return tuple(
        Mark(
            number,
            scale.x(seen.at_ns),
            seen,
            (seen.attribute, seen.value, seen.at_ns) in near,
        )
        for number, seen in enumerate(incident.seen, 1)
    )


def _signs(marks: Sequence[Mark]) -> list[DrawnSign]:
    """The numbers in lanes (`y` is the lane), or in one lane the numbers of marks side by side."""
    found: list[DrawnSign] = []
    lasts = [-SIGN_ROOM] * SIGN_LANES
    for mark in marks:
        x = _within(mark.x, SIGN_ROOM / 2)
        lane = next((one for one, last in enumerate(lasts) if x - last >= SIGN_ROOM), None)
        if lane is None:
            return _clusters(marks)
        lasts[lane] = x
        found.append(DrawnSign(x, lane, str(mark.number)))
    return found


def _clusters(marks: Sequence[Mark]) -> list[DrawnSign]:
    found: list[DrawnSign] = []
    for mark in marks:
        x = _within(mark.x, CLUSTER_ROOM / 2)
        if found and x - found[-1].x < CLUSTER_ROOM:
            first = found[-1].text.partition("–")[0]
            found[-1] = replace(found[-1], text=f"{first}–{mark.number}")
        else:
            found.append(DrawnSign(x, 0, str(mark.number)))
    return found


def _within(x: float, margin: float) -> float:
    return min(max(x, margin), 100 - margin)


def _label(marks: Sequence[Mark]) -> DrawnText | None:
    """The name of what came when the rise began, in the first lane."""
    mark = next((one for one in marks if one.is_near), None)
    if mark is None:
        return None
    room = int(max(mark.x, 100 - mark.x) / 100 * NARROW / CHARACTER)
    name, value = mark.seen.attribute.partition("_")[0], shortened(mark.seen.value, 200)
    left = room - len(name) - 1
    # The ends of versions tell them apart.
    text = f"{name} {value if len(value) <= left else '…' + value[1 - left :]}"
    return DrawnText(mark.x, LANE - 6, text, _side(mark.x))


def _side(x: float) -> str:
    return "start" if x < 50 else "end"


def _event_texts(
    incident: RouteIncident, scale: _Scale, fired_ns: int, lane: float
) -> tuple[DrawnText, DrawnText | None]:
    """The words "alert" and "resolved" beside their lines, in another lane if they are near."""
    x = scale.x(fired_ns)
    fired = DrawnText(x, lane, "alert", _side(x))
    if not incident.end_ns or incident.end_ns > incident.span.until_ns:
        return fired, None
    end = scale.x(incident.end_ns)
    is_near = end - x < 45
    return fired, DrawnText(end, lane + is_near, "resolved", _side(end))


def _usual(incident: RouteIncident, scale: _Scale) -> tuple[float, float, float] | None:
    """The heights of the usual rate, and of the ends of its interval."""
    before = incident.facts.before
    if before is None or before.rate is None:
        return None
    low = before.rate if before.low is None else before.low
    high = before.rate if before.high is None else before.high
    return scale.y(before.rate), scale.y(low), scale.y(high)


def step_words(steps: Sequence[RateStep]) -> str:
    """How long a step is."""
    minutes = math.ceil(usual_length(steps) / MINUTE_NS)
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"
