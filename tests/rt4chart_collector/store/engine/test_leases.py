"""What only one may do at a time."""

from __future__ import annotations

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease, release_lease

NOW = 1_900_000_000_000_000_000
MINUTE = 60_000_000_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def test_one_holder_at_a_time(any_client: Client) -> None:
    """Another gets it when it is given back; the holder may prolong it."""
    assert acquire_lease(any_client, "cluster", "a", now_ns=NOW, for_ns=MINUTE)
    assert not acquire_lease(any_client, "cluster", "b", now_ns=NOW + 1, for_ns=MINUTE)
    assert acquire_lease(any_client, "cluster", "a", now_ns=NOW + 2, for_ns=MINUTE)
    assert acquire_lease(any_client, "other", "b", now_ns=NOW + 3, for_ns=MINUTE)

    release_lease(any_client, "cluster", "a", now_ns=NOW + 4)

    assert acquire_lease(any_client, "cluster", "b", now_ns=NOW + 5, for_ns=MINUTE)
    assert not acquire_lease(any_client, "cluster", "a", now_ns=NOW + 6, for_ns=MINUTE)


def test_a_lease_ends_by_itself(client: Client) -> None:
    """A holder that died keeps nobody out for longer than the lease."""
    acquire_lease(client, "cluster", "a", now_ns=NOW, for_ns=MINUTE)

    assert not acquire_lease(
        client, "cluster", "b", now_ns=NOW + MINUTE - 10_000_000, for_ns=MINUTE
    )
    assert acquire_lease(client, "cluster", "b", now_ns=NOW + MINUTE, for_ns=MINUTE)


def test_a_clock_that_jumped_ahead_and_came_back_keeps_nobody_out(any_client: Client) -> None:
    """A lease that ends later than any can is no lease."""
    assert acquire_lease(any_client, "monitor", "a", now_ns=NOW + 3 * DAY, for_ns=MINUTE)

    assert acquire_lease(any_client, "monitor", "b", now_ns=NOW, for_ns=MINUTE)
    assert not acquire_lease(any_client, "monitor", "a", now_ns=NOW + 1, for_ns=MINUTE)


def test_a_lease_that_was_given_back_in_the_future_keeps_nobody_out(any_client: Client) -> None:
    """A clock that was an hour ahead, and is right again."""
    assert acquire_lease(any_client, "cluster", "a", now_ns=NOW + HOUR, for_ns=MINUTE)
    assert not acquire_lease(any_client, "cluster", "b", now_ns=NOW, for_ns=MINUTE)

    release_lease(any_client, "cluster", "a", now_ns=NOW + HOUR + 1)

    assert acquire_lease(any_client, "cluster", "b", now_ns=NOW, for_ns=MINUTE)


def test_a_holder_whose_clock_came_back_holds_as_before(client: Client) -> None:
    """What it writes takes the place of what it wrote at the later time, and so does its end."""
    assert acquire_lease(client, "monitor", "a", now_ns=NOW + 3 * DAY, for_ns=MINUTE)
    assert acquire_lease(client, "monitor", "a", now_ns=NOW, for_ns=MINUTE)

    assert not acquire_lease(client, "monitor", "b", now_ns=NOW + 1, for_ns=MINUTE)
    release_lease(client, "monitor", "a", now_ns=NOW + 2)

    assert acquire_lease(client, "monitor", "b", now_ns=NOW + 3, for_ns=MINUTE)


def test_the_longest_lease_of_all_keeps_others_out(client: Client) -> None:
    """The monitor's, with rounds an hour apart, is three hours long."""
    assert acquire_lease(client, "monitor", "a", now_ns=NOW, for_ns=3 * HOUR)

    assert not acquire_lease(client, "monitor", "b", now_ns=NOW, for_ns=3 * MINUTE)
