"""Failures laid out on a plane, by the issues they are in: what the map draws and lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

from rt4chart_clustering.console.projection import plane_of
from rt4chart_collector.console.view.urls import answer_url, issue_url
from rt4chart_collector.store.issues.failure_points import FailurePoint, FailurePoints

# Issues with a colour and a sign of their own; the rest share one.
NAMED = 9
# Of the picture's span: from one seed to the next, and from the first to the last.
SEED, WIDEST = 0.012, 0.07
GOLDEN = pi * (3 - sqrt(5))
OTHERS, NOWHERE = "Other issues", "In no issue yet"


@dataclass(frozen=True, slots=True)
class Group:
    """What is drawn alike; `look` is 0 to 8 for an issue, 9 for the others, 10 for no issue."""

    look: int
    title: str
    url: str
    count: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A failure with its place and its group."""

    point: FailurePoint
    x: float
    y: float
    group: Group
    title: str

    @property
    def url(self) -> str:
        """The answer's page, at the claim."""
        return answer_url(*self.point.key)


@dataclass(frozen=True, slots=True)
class Atlas:
    """The failures by group; of how many, how many are described, and how much the axes show."""

    groups: tuple[Group, ...]
    placed: tuple[Placed, ...]
    failures: int
    described: int
    shares: tuple[float, float]


def atlas_of(
    found: FailurePoints, titles: Mapping[int, str], stands_for: Mapping[int, int] | None = None
) -> Atlas:
    """Lay them out; `titles` are of the issues by id, `stands_for` names the issue of an alias."""
    roots = stands_for or {}
    issues = [roots.get(one.issue, one.issue) for one in found.drawn]
    plane = plane_of([one.vector for one in found.drawn])
    groups = _groups(issues, titles)
    by_look = {group.look: group for group in groups.values()}
    places = spread(plane.points, issues)
    placed = [
        Placed(point, x, y, groups[issue], titles.get(issue, NOWHERE))
        for point, issue, (x, y) in zip(found.drawn, issues, places, strict=True)
    ]
    placed.sort(key=lambda one: (one.group.look, one.title, -one.point.time_ns, one.point.key))
    return Atlas(
        groups=tuple(by_look[look] for look in sorted(by_look)),
        placed=tuple(placed),
        failures=found.failures,
        described=found.described,
        shares=plane.shares,
    )


def spread(
    points: Sequence[tuple[float, float]], issues: Sequence[int]
) -> list[tuple[float, float]]:
    """Points of one place laid around it like seeds of a sunflower, an issue's together.

    A pattern that the rules explain is described in the same words whatever the claim: all its
    failures lie in one place, and one sign would hide the others.
    """
    span = max((max(axis) - min(axis) for axis in zip(*points, strict=True)), default=0.0) or 1.0
    seeds: defaultdict[tuple[float, float], list[int]] = defaultdict(list)
    for at in sorted(range(len(points)), key=lambda at: issues[at]):
        seeds[points[at]].append(at)
    found = list(points)
    for (x, y), rows in seeds.items():
        # A place that has many failures is dense, and takes no more than its share of the picture.
        step = min(SEED, WIDEST / sqrt(len(rows))) * span
        for number, at in enumerate(rows):
            radius, angle = step * sqrt(number), number * GOLDEN
            found[at] = (round(x + radius * cos(angle), 6), round(y + radius * sin(angle), 6))
    return found


def drawing(atlas: Atlas) -> dict[str, object]:
    """The same as JSON for the page's script: a trace for each group, the last one on top."""
    return {
        "shares": [round(one, 4) for one in atlas.shares],
        "groups": [_trace(group, [o for o in atlas.placed if o.group is group])
                   for group in reversed(atlas.groups)],
    }  # fmt: skip


def _trace(group: Group, placed: Sequence[Placed]) -> dict[str, object]:
    return {
        "look": group.look,
        "x": [one.x for one in placed],
        "y": [one.y for one in placed],
        "claim": [one.point.claim for one in placed],
        "label": [one.point.label for one in placed],
        "issue": [one.title for one in placed],
        "route": [" / ".join(filter(None, (o.point.service, o.point.route))) for o in placed],
        "url": [one.url for one in placed],
    }


def _groups(issues: Sequence[int], titles: Mapping[int, str]) -> dict[int, Group]:
    """The group of each issue, of 0 too; the largest issues have their own."""
    known = Counter(issue for issue in issues if issue in titles)
    order = sorted(known, key=lambda issue: (-known[issue], issue))
    found = {
        issue: Group(look, titles[issue], issue_url(issue), known[issue])
        for look, issue in enumerate(order[:NAMED])
    }
    rest = order[NAMED:]
    others = Group(NAMED, OTHERS, "", sum(known[issue] for issue in rest))
    found |= dict.fromkeys(rest, others)
    placeless = [issue for issue in issues if issue not in titles]
    nowhere = Group(NAMED + 1, NOWHERE, "", len(placeless))
    return found | dict.fromkeys(placeless, nowhere)
