"""Failures into groups, and groups into issues that keep their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.model import Label
from rt4chart_clustering.embed import HashingEmbedder
from rt4chart_clustering.group import Group, group
from rt4chart_clustering.identity import identify, new_id
from rt4chart_clustering.run import described_from, issue_of
from rt4chart_collector.store.failures import Failure
from tests.rt4chart_clustering.made import ADDED, added, failure, numbers

EVERYTHING = [*numbers(7), *numbers(5, route="sales", first=50), *added()]


def grouped(failures: Sequence[Failure], min_size: int = 5) -> list[Group]:
    """The groups of these failures."""
    described = [described_from(one) for one in failures]
    vectors = HashingEmbedder().embed([one.text for one in described])
    return group(described, vectors, min_size=min_size)


def test_pattern_on_a_route_is_a_group_whatever_it_is_about() -> None:
    """Seven wrong numbers about seven things are one group, and another route has its own."""
    found = grouped([*numbers(7), *numbers(5, route="sales", first=50)])

    assert [(g.route, g.fingerprint, len(g.members)) for g in found] == [
        ("billing", "fp1:contradicted:number", 7),
        ("sales", "fp1:contradicted:number", 5),
    ]


def test_label_divides_a_pattern() -> None:
    """A contradicted number and a number that the source lacks are two groups."""
    without = [
        failure(at, f"The trial lasts {at} days.", label=Label.BASELESS, nearest="The trial lasts.")
        for at in range(60, 65)
    ]

    found = grouped([*numbers(5), *without])

    assert {g.fingerprint for g in found} == {"fp1:contradicted:number", "fp1:baseless:number"}


def test_pattern_below_the_size_is_no_group() -> None:
    """Four of a kind are not an issue yet."""
    assert grouped(numbers(4)) == []


def test_no_failures_make_no_groups() -> None:
    """An empty database groups to nothing."""
    assert grouped([]) == []


def test_unexplained_failures_are_clustered_by_what_they_say() -> None:
    """Claims that add the same make a group; those that add this and that stay noise."""
    (found,) = grouped(added())

    assert found.fingerprint == "fp1:baseless:addition"
    assert {member.failure.claim for member in found.members} == set(ADDED)


@given(st.permutations(EVERYTHING))
def test_order_of_failures_does_not_matter(shuffled: list[Failure]) -> None:
    """The same failures in any order give the same groups with the same ids."""
    expected, found = grouped(EVERYTHING), grouped(shuffled)

    assert found == expected
    assert [new_id(g) for g in found] == [new_id(g) for g in expected]


def test_ids_of_different_groups_differ() -> None:
    """Each route and pattern has an id of its own."""
    ids = {new_id(g) for g in grouped(EVERYTHING)}

    assert len(ids) == 3
    assert all(0 <= one < 2**64 for one in ids)


def test_known_issue_takes_its_group_when_members_come_and_go() -> None:
    """A cluster that lost its first member and won others is still the issue that it was."""
    (before,) = grouped(added())
    known = issue_of(identify([before], [])[0], "1", ())
    more = [replace(one, trace_id=f"{at + 900:032x}") for at, one in enumerate(added()[:6])]

    (after,) = grouped([*added()[1:], *more])
    (again,) = identify([after], [known])

    assert new_id(after) != known.id
    assert (again.id, again.known) == (known.id, known)


def test_issue_of_another_pattern_is_not_taken() -> None:
    """Likeness of words does not join what differs in route or pattern."""
    (before,) = grouped(added())
    known = replace(issue_of(identify([before], [])[0], "1", ()), route="elsewhere")

    (again,) = identify([before], [known])

    assert again.known is None


def test_stored_issue_is_given_to_one_group_only() -> None:
    """Two groups near one stored issue: the nearest keeps it, the other is new."""
    (before,) = grouped(added())
    known = issue_of(identify([before], [])[0], "1", ())
    other = replace(before, members=before.members[1:], centroid=before.centroid)

    ids = [one.id for one in identify([before, other], [known])]

    assert ids[0] == known.id
    assert ids[1] != known.id


def test_status_of_a_person_stays() -> None:
    """A run changes counts, never what a person set."""
    (before,) = grouped(numbers(5))
    known = replace(issue_of(identify([before], [])[0], "1", ()), status="ignored", first_ns=7)

    (again,) = identify(grouped(numbers(7)), [known])
    issue = issue_of(again, "2", ())

    assert (issue.id, issue.status, issue.first_ns, issue.claims) == (known.id, "ignored", 7, 7)
