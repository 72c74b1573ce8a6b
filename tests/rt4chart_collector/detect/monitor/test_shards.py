"""Several monitors on one database: who watches which routes."""

from __future__ import annotations

from random import Random

import pytest

from rt4chart_collector.detect.monitor.shards import (
    ALL_SHARDS,
    LEADER,
    MonitorShards,
    shard_of,
    wanted_shards,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.ticks import route_ticks
from tests.rt4chart_collector.detect.monitor.world import START, World
from tests.rt4chart_collector.records import SECOND, VERIFIER

LEASE_NS = 180 * SECOND


def shards(client: Client, holder: str) -> MonitorShards:
    """Those of a process of this name."""
    return MonitorShards(client, holder, LEASE_NS)


def test_one_more_process_moves_only_its_own_shards() -> None:
    """Rendezvous hashing: the others keep what they have but for that."""
    three, four = ["a", "b", "c"], ["a", "b", "c", "d"]

    for one in three:
        assert wanted_shards(one, four) <= wanted_shards(one, three)
    assert frozenset().union(*(wanted_shards(one, four) for one in four)) == ALL_SHARDS
    assert sum(len(wanted_shards(one, four)) for one in four) == len(ALL_SHARDS)
    assert all(8 <= len(wanted_shards(one, four)) <= 26 for one in four)


def test_processes_divide_the_routes_within_two_rounds(any_client: Client) -> None:
    """The first one gives back what the second one should have; one leads."""
    first, second = shards(any_client, "a"), shards(any_client, "b")
    first.renew(START)
    assert (first.held, first.is_leader, first.members) == (ALL_SHARDS, True, 1)

    second.renew(START + SECOND)
    assert (second.held, second.is_idle) == (frozenset(), True)
    first.renew(START + 60 * SECOND)
    second.renew(START + 61 * SECOND)

    assert first.held == wanted_shards("a", ["a", "b"])
    assert second.held == ALL_SHARDS - first.held
    assert (first.is_leader, second.is_leader) == (True, False)


def test_a_dead_process_is_replaced_within_a_lease_and_a_round(client: Client) -> None:
    """One that stops gives back at once."""
    first, second, third = (shards(client, name) for name in "abc")
    for at in range(3):
        for one in (first, second, third):
            one.renew(START + at * 60 * SECOND)
    third.give_back(START + 121 * SECOND)
    for one in (first, second):
        one.renew(START + 122 * SECOND)
    assert first.held | second.held == ALL_SHARDS

    second.renew(START + 302 * SECOND)

    assert (second.held, second.is_leader) == (ALL_SHARDS, True)


def test_at_most_one_process_holds_a_shard_at_any_time(client: Client) -> None:
    """Whoever starts, stops, dies or is late, with clocks that differ; none stays free."""
    random = Random(3)  # noqa: S311 - no secret
    lives: dict[str, tuple[MonitorShards, int]] = {}
    skews = {f"p{number}": random.randint(-3, 3) * SECOND for number in range(4)}
    now = START
    for _ in range(120):
        now += random.choice([5, 20, 60, 60]) * SECOND
        name = random.choice(sorted(skews))
        event = random.random()
        if event < 0.05:
            lives.pop(name, None)
        elif event < 0.1 and name in lives:
            lives.pop(name)[0].give_back(now + skews[name])
        else:
            one = lives[name][0] if name in lives else shards(client, f"{name}/{now}")
            one.renew(now + skews[name])
            lives[name] = (one, now)
        # A process that is late knows that it is: it renews before it goes by what it holds.
        sure = [one for one, at in lives.values() if now - at < LEASE_NS - 6 * SECOND]
        assert sum(len(one.held) for one in sure) == len(frozenset().union(*(o.held for o in sure)))
        assert sum(one.is_leader for one in sure) <= 1
    for _ in range(3):
        now += LEASE_NS
        for number, (one, _) in enumerate(lives.values()):
            one.renew(now + number * SECOND)
        for number, (one, _) in enumerate(lives.values()):
            one.renew(now + (20 + number) * SECOND)

    assert frozenset().union(*(one.held for one, _ in lives.values())) == ALL_SHARDS


def test_beside_a_monitor_that_watches_all_routes_nothing_is_watched(client: Client) -> None:
    """As during an upgrade: the version before knows no shards."""
    assert acquire_lease(client, LEADER, "old", now_ns=START, for_ns=LEASE_NS)
    new = shards(client, "new")

    new.renew(START + SECOND)
    assert new.is_idle
    new.renew(START + LEASE_NS)

    assert (new.held, new.is_leader) == (ALL_SHARDS, True)


def test_the_store_and_the_process_agree_on_the_shard_of_a_route(client: Client) -> None:
    """Whatever its name."""
    world, names = World(client), ["support", "", "größe", "a'b\\c\n\t", "x" * 200]
    for name in names:
        world.answer(0.1, 10, 0.0, route=name, since_ns=START)

    for name in names:
        shard = shard_of(("shop", name))
        found = route_ticks(client, QueryScope(0, verifier=VERIFIER), shards=[shard])
        assert name in {one.route for one in found}
        others = route_ticks(client, QueryScope(0, verifier=VERIFIER), shards=ALL_SHARDS - {shard})
        assert name not in {one.route for one in others}


@pytest.fixture
def world(client: Client) -> World:
    """Ten days of six routes."""
    made = World(client)
    for number in range(6):
        made.answer(240, 4, 0.045, route=f"r{number}", since_ns=START)
    return made


def fired(world: World) -> list[str]:
    """The routes for which an alert was recorded, once for each time."""
    rows = world.client.query(
        "SELECT Route FROM rt4chart_alert_events WHERE Kind = 'fired' AND Rule = 'route_drift' "
        "ORDER BY Route"
    ).result_rows
    return [str(route) for (route,) in rows]


def test_each_route_alerts_once_whoever_watches_it(world: World) -> None:
    """Two processes divide six routes; one dies, and the other one goes on with its routes."""
    first, second = world.monitor, world.another()
    for _ in range(3):
        world.now += 60 * SECOND
        assert first.run_round()
        second.run_round()
    began = world.now
    for number in range(5):
        world.answer(2, 40, 0.6, route=f"r{number}", since_ns=began)
    divided = {one._shards.watches(("shop", f"r{n}")) for n in range(5) for one in (first, second)}
    for _ in range(2):
        world.now += 60 * SECOND
        first.run_round()
        second.run_round()
    both = fired(world)
    shown = [{one.route for one in monitor.figures()} for monitor in (first, second)]
    world.now += 240 * SECOND
    world.answer(2, 40, 0.6, route="r5")
    second.run_round()
    second.run_round()

    assert divided == {True, False}
    assert both == [f"r{number}" for number in range(5)]
    assert fired(world) == [f"r{number}" for number in range(6)]
    assert not shown[0] & shown[1]
    assert len(shown[0] | shown[1]) >= 5
    assert {one.route for one in second.figures()} == {f"r{number}" for number in range(6)}
