"""The failures of a time on a plane, projected by PCA and coloured by issue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np

from rt4chart_collector.console.view.filters import visible
from rt4chart_collector.console.view.urls import answer_url, issue_url
from rt4chart_collector.store.issues.failure_samples import FailurePoint, FailurePoints


@dataclass(frozen=True, slots=True)
class Projection:
    """A point for each vector, and the share of the variance that each axis shows."""

    points: tuple[tuple[float, float], ...]
    shares: tuple[float, float]


def project(vectors: Sequence[Sequence[float]]) -> Projection:
    """Project vectors of one width to the two axes of the largest variance (PCA).

    The order of the vectors does not matter. An eigenvector has no sign of its own, so the largest
    component of each axis is made positive: the map must not flip between two requests.
    """
    rows = np.array(vectors, dtype=np.float64)
    if rows.size == 0:
        return Projection(tuple((0.0, 0.0) for _ in vectors), (0.0, 0.0))
    rows -= rows.mean(axis=0)
    values, axes = np.linalg.eigh(rows.T @ rows)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 1)))
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    # Rounding removes the differences that come from the order of summation.
    at = np.round(rows @ axes, 6) + 0.0
    total = float(values.sum())
    first, second = (float(value) / total if total > 1e-12 else 0.0 for value in [*values, 0.0][:2])
    return Projection(tuple((float(x), float(y)) for x, y in at), (first, second))


# Issues with a colour and a symbol of their own; the others share one.
MAX_NAMED = 9
# Shares of the picture's width: between two points of a spiral, and the radius of a spiral.
SEED_STEP, MAX_RADIUS = 0.012, 0.07
GOLDEN = pi * (3 - sqrt(5))
OTHERS, NO_ISSUE = "Other issues", "In no issue yet"


@dataclass(frozen=True, slots=True)
class MapGroup:
    """Points drawn alike; `look` is 0 to 8 for an issue, 9 for other issues, 10 for no issue."""

    look: int
    title: str
    url: str
    count: int


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A failure with its position and its group."""

    point: FailurePoint
    x: float
    y: float
    group: MapGroup
    title: str

    @property
    def url(self) -> str:
        """The answer's page, at the claim."""
        return answer_url(*self.point.key)


@dataclass(frozen=True, slots=True)
class FailureMap:
    """The points by group, the number of failures and of described ones, and the axes' shares."""

    groups: tuple[MapGroup, ...]
    points: tuple[MapPoint, ...]
    failures: int
    described: int
    shares: tuple[float, float]


def build_map(
    found: FailurePoints, titles: Mapping[int, str], stands_for: Mapping[int, int] | None = None
) -> FailureMap:
    """Build the map; `titles` are by issue id, `stands_for` has the issue of each alias."""
    roots = stands_for or {}
    issues = [roots.get(point.issue, point.issue) for point in found.drawn]
    plane = project([point.vector for point in found.drawn])
    groups = _groups(issues, titles)
    by_look = {group.look: group for group in groups.values()}
    places = spread_points(plane.points, issues)
    points = [
        MapPoint(point, x, y, groups[issue], titles.get(issue, NO_ISSUE))
        for point, issue, (x, y) in zip(found.drawn, issues, places, strict=True)
    ]
    points.sort(key=lambda p: (p.group.look, p.title, -p.point.time_ns, p.point.key))
    return FailureMap(
        groups=tuple(by_look[look] for look in sorted(by_look)),
        points=tuple(points),
        failures=found.failures,
        described=found.described,
        shares=plane.shares,
    )


def spread_points(
    points: Sequence[tuple[float, float]], issues: Sequence[int]
) -> list[tuple[float, float]]:
    """Spread points with the same position around it on a spiral, ordered by issue.

    All failures of an explained pattern have the same description and so the same position, where
    one symbol would hide the others.
    """
    span = max((max(axis) - min(axis) for axis in zip(*points, strict=True)), default=0.0) or 1.0
    seeds: defaultdict[tuple[float, float], list[int]] = defaultdict(list)
    for at in sorted(range(len(points)), key=lambda at: issues[at]):
        seeds[points[at]].append(at)
    found = list(points)
    for (x, y), rows in seeds.items():
        # Many failures make the spiral denser, not larger.
        step = min(SEED_STEP, MAX_RADIUS / sqrt(len(rows))) * span
        for number, at in enumerate(rows):
            radius, angle = step * sqrt(number), number * GOLDEN
            found[at] = (round(x + radius * cos(angle), 6), round(y + radius * sin(angle), 6))
    return found


def map_json(failure_map: FailureMap) -> dict[str, object]:
    """The map as JSON for the page's script: one trace for each group, the last one on top."""
    return {
        "shares": [round(share, 4) for share in failure_map.shares],
        "groups": [_trace(group, [o for o in failure_map.points if o.group is group])
                   for group in reversed(failure_map.groups)],
    }  # fmt: skip


def _trace(group: MapGroup, points: Sequence[MapPoint]) -> dict[str, object]:
    return {
        "look": group.look,
        "x": [point.x for point in points],
        "y": [point.y for point in points],
        "claim": [visible(point.point.claim) for point in points],
        "label": [point.point.label for point in points],
        "issue": [point.title for point in points],
        "route": [" / ".join(filter(None, (o.point.service, o.point.route))) for o in points],
        "url": [point.url for point in points],
    }


def _groups(issues: Sequence[int], titles: Mapping[int, str]) -> dict[int, MapGroup]:
    """The group of each issue id, also of 0; the largest issues have their own."""
    known = Counter(issue for issue in issues if issue in titles)
    order = sorted(known, key=lambda issue: (-known[issue], issue))
    found = {
        issue: MapGroup(look, titles[issue], issue_url(issue), known[issue])
        for look, issue in enumerate(order[:MAX_NAMED])
    }
    rest = order[MAX_NAMED:]
    others = MapGroup(MAX_NAMED, OTHERS, "", sum(known[issue] for issue in rest))
    found |= dict.fromkeys(rest, others)
    placeless = [issue for issue in issues if issue not in titles]
    nowhere = MapGroup(MAX_NAMED + 1, NO_ISSUE, "", len(placeless))
    return found | dict.fromkeys(placeless, nowhere)
