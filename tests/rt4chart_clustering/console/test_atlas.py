"""Failures laid out on a plane."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.console.failure_map import (
    MAX_NAMED,
    NO_ISSUE,
    OTHERS,
    build_map,
    map_json,
    project,
    spread_points,
)
from rt4chart_collector.store.issues.failure_samples import FailurePoint, FailurePoints

NUMBERS = st.floats(-1, 1, width=32)
VECTORS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), max_size=12)
)


def point(number: int, issue: int, vector: tuple[float, ...] = (1.0, 0.0)) -> FailurePoint:
    """A failure in an issue."""
    key = (f"{number:032x}", f"{number:016x}", 0)
    return FailurePoint(
        key, vector, f"claim {number}", "baseless", "shop", "billing", number, issue
    )


def points(*found: FailurePoint) -> FailurePoints:
    """All that there are."""
    return FailurePoints(found, len(found) + 3, len(found), "hashing/1")


@given(VECTORS)
def test_a_plane_has_a_place_for_each_vector_and_shares_of_one(vectors: list[list[float]]) -> None:
    """The first axis shows no less than the second, the same vectors have the same places."""
    plane = project(vectors)

    assert len(plane.points) == len(vectors)
    assert 1.0001 >= plane.shares[0] >= plane.shares[1] >= 0
    assert plane == project(vectors)


def test_the_axes_are_where_vectors_differ_most() -> None:
    """A line of points is a line, and all of the difference."""
    plane = project([(0, 0, 0), (0, 2, 0), (0, 4, 0)])

    assert plane.points == ((-2, 0), (0, 0), (2, 0))
    assert plane.shares == (1.0, 0.0)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20), st.integers(1, 3))
def test_no_two_failures_have_one_place(places: list[tuple[float, float]], issues: int) -> None:
    """Those of one place lie around it; a place alone stays where it is."""
    given = [(round(x, 2), round(y, 2)) for x, y in places]

    found = spread_points(given, [at % issues for at in range(len(given))])

    for at, one in enumerate(given):
        if given.count(one) == 1:
            assert found[at] == one
    for place in given:
        around = [one for at, one in enumerate(found) if given[at] == place]
        assert len(set(around)) == given.count(place)


def test_the_largest_issues_have_a_look_and_aliases_count_with_theirs() -> None:
    """The rest share one, and what is in no issue has another."""
    titles = {issue: f"issue {issue}" for issue in range(1, 13)}
    found = [point(number, 1 + number % 12) for number in range(24)]
    found += [point(30, 0), point(31, 99), point(32, 50)]

    failure_map = build_map(points(*found), titles, {50: 3})

    assert [group.look for group in failure_map.groups] == list(range(MAX_NAMED + 2))
    assert (failure_map.groups[0].title, failure_map.groups[0].count) == ("issue 3", 3)
    assert [(group.title, group.count) for group in failure_map.groups[-2:]] == [
        (OTHERS, 6),
        (NO_ISSUE, 2),
    ]
    assert sum(group.count for group in failure_map.groups) == len(failure_map.points) == 27


def test_a_drawing_has_every_failure_once() -> None:
    """With where a click leads to."""
    found = map_json(build_map(points(point(1, 0), point(2, 7)), {7: "t"}))

    groups = found["groups"]
    assert isinstance(groups, list)
    assert [group["claim"] for group in groups] == [["claim 1"], ["claim 2"]]
    assert groups[1]["url"] == [f"/answers/{2:032x}/{2:016x}#claim-0"]


def test_no_failures_are_no_groups() -> None:
    """And nothing is divided by their number."""
    failure_map = build_map(points(), {})

    assert (failure_map.groups, failure_map.points, failure_map.shares) == ((), (), (0.0, 0.0))
