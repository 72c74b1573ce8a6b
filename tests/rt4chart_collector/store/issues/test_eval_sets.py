"""Eval sets in the database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    EvalSetCounts,
    StoredCase,
    checksum_of,
    eval_sets,
    latest_release,
    release,
    released_cases,
    stored_cases,
    write_cases,
)


def case(name: str, state: CaseState = CaseState.APPROVED, body: str = "{}") -> StoredCase:
    """A case of that id."""
    return StoredCase(name, state, 7, body, "jo", "fine")


def test_a_case_is_what_was_written_last(any_client: Client) -> None:
    """By the version, whatever came first."""
    write_cases(any_client, "trial", [case("a", CaseState.REJECTED), case("b")], version=2)
    write_cases(any_client, "trial", [case("a", CaseState.PENDING)], version=1)

    assert stored_cases(any_client, "trial") == [case("a", CaseState.REJECTED), case("b")]
    assert eval_sets(any_client) == [EvalSetCounts("trial", 0, 1, 1, 0)]


def test_a_release_holds_the_approved_and_never_changes(any_client: Client) -> None:
    """What is decided afterwards comes with the next one."""
    write_cases(any_client, "trial", [case("a"), case("b", CaseState.PENDING)], version=1)
    assert release(any_client, "trial", actor="jo", now_ms=1_000) == 1
    write_cases(any_client, "trial", [case("a", body='{"new": 1}'), case("b")], version=2)

    assert [one.body for one in released_cases(any_client, "trial", 1)] == ["{}"]
    assert release(any_client, "trial", actor="jo", now_ms=2_000) == 2
    assert [one.id for one in released_cases(any_client, "trial", 2)] == ["a", "b"]
    assert latest_release(any_client, "trial") == 2
    assert latest_release(any_client, "other") == 0


def test_what_cannot_be_released_is_told(any_client: Client) -> None:
    """Nothing approved, nothing new, no such release."""
    with pytest.raises(InputError, match="expected at least one approved case, got none"):
        release(any_client, "trial", actor="jo", now_ms=1_000)
    write_cases(any_client, "trial", [case("a")], version=1)
    release(any_client, "trial", actor="jo", now_ms=1_000)
    with pytest.raises(InputError, match="release 1 has the same cases"):
        release(any_client, "trial", actor="jo", now_ms=2_000)
    with pytest.raises(InputError, match="expected a release of that number, got 2"):
        released_cases(any_client, "trial", 2)


def test_a_release_that_was_tampered_with_is_refused_and_left_behind(any_client: Client) -> None:
    """The next one takes the next number, also where the cases are the same."""
    write_cases(any_client, "trial", [case("a")], version=1)
    release(any_client, "trial", actor="jo", now_ms=1_000)
    any_client.command(
        "INSERT INTO rt4chart_eval_releases VALUES ('trial', 1, 'b', 7, '{}', 'x', 'eve', now64(3))"
    )

    with pytest.raises(InputError, match="the rows of release 1 do not match"):
        released_cases(any_client, "trial", 1)
    assert release(any_client, "trial", actor="jo", now_ms=2_000) == 2
    assert [one.id for one in released_cases(any_client, "trial", 2)] == ["a"]


def test_of_two_who_release_at_once_one_is_told_to_wait(any_client: Client) -> None:
    """Until the other is done."""
    write_cases(any_client, "trial", [case("a")], version=1)
    now_ms = 4_000_000_000_000  # far ahead: leases of long ago are dropped
    assert acquire_lease(
        any_client, "release of trial", "other", now_ns=now_ms * 10**6, for_ns=10**10
    )

    with pytest.raises(InputError, match="another release is running"):
        release(any_client, "trial", actor="jo", now_ms=now_ms + 1_000)
    assert release(any_client, "trial", actor="jo", now_ms=now_ms + 12_000) == 1


@given(st.lists(st.text()), st.randoms(use_true_random=False))
def test_the_checksum_knows_no_order_but_every_case(bodies: list[str], order: object) -> None:
    """One more case is another set."""
    shuffled = list(bodies)
    order.shuffle(shuffled)  # type: ignore[attr-defined]

    assert checksum_of(shuffled) == checksum_of(bodies) != checksum_of([*bodies, ""])
