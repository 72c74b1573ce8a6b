"""What the monitor stores, and what a start makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.drift.finding import DriftFinding, DriftKey
from rt4chart_collector.detect.drift.policy import TICK_NS
from rt4chart_collector.detect.monitor import stored_states
from rt4chart_collector.detect.monitor.route_detectors import RouteDetectors
from rt4chart_collector.store.engine.connect import Client
from tests.conftest import fresh
from tests.rt4chart_collector.detect.monitor.world import HOUR, World
from tests.rt4chart_collector.records import VERIFIER

Findings = dict[DriftKey, DriftFinding]


def detectors(client: Client, **settings: object) -> RouteDetectors:
    """Those of a process that starts now."""
    return RouteDetectors(client, MonitorSettings(**settings), VERIFIER)  # type: ignore[arg-type]


def reads(made: RouteDetectors) -> list[str]:
    """The routes that it reads as a whole from now on."""
    found: list[str] = []
    real = made._reread

    def reread(key: tuple[str, str], *given: object) -> None:
        found.append(key[1])
        real(key, *given)  # type: ignore[arg-type]

    made._reread = reread  # type: ignore[method-assign,assignment]
    return found


@pytest.fixture
def other_client(store_dsn: str) -> Iterator[Client]:
    """A database beside that of `client`."""
    yield from fresh(store_dsn)


@pytest.fixture
def world(client: Client) -> World:
    """Four days of two routes, one of them with a rise that has begun."""
    made = World(client)
    began = made.now
    made.answer(96, 12, 0.05)
    made.answer(96, 12, 0.05, route="other", since_ns=began)
    return made


def rounds(world: World, number: int, restarts: Sequence[int]) -> list[Findings]:
    """The findings of rounds that are 35 minutes apart, over midnight; two routes rise."""
    made = detectors(world.client)
    found = []
    for one in range(number):
        began = world.now
        bad = 0.5 if one > number // 2 else 0.05
        world.answer(35 / 60, 24, bad, since_ns=began)
        world.answer(35 / 60, 24, 0.05, route="other", since_ns=began)
        if one in restarts:
            made = detectors(world.client)
            read = reads(made)
            found.append(made.run_round(world.now).findings)
            assert read == []
        else:
            found.append(made.run_round(world.now).findings)
    return found


def test_restarts_change_no_finding_and_read_no_route(world: World, other_client: Client) -> None:
    """A process that starts finds in its first round what one finds that never stopped."""
    twin = world.copied(other_client)

    found = rounds(world, 24, restarts=range(1, 24, 2))

    assert found == rounds(twin, 24, restarts=())
    assert {one.state for one in found[-1].values()} == {"page", "calm"}


@pytest.mark.parametrize(
    "what", ["settings", "code", "a late verdict", "days later", "a clock ahead"]
)
def test_a_state_that_does_not_fit_is_not_used(
    world: World, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The routes are read as a whole, as if there were none."""
    detectors(world.client).run_round(world.now)
    settings = {"drift_false_alarms": 2.0} if what == "settings" else {}
    if what == "code":
        monkeypatch.setattr(stored_states, "code_print", lambda: "another")
    if what == "a late verdict":
        world.answer(0.1, 10, 1.0, since_ns=world.now - 30 * HOUR)
        world.answer(0.1, 10, 1.0, route="other", since_ns=world.now - 30 * HOUR)
    world.now += 8 * 24 * HOUR if what == "days later" else TICK_NS
    world.now -= 2 * HOUR if what == "a clock ahead" else 0

    made = detectors(world.client, **settings)
    read = reads(made)
    found = made.run_round(world.now).findings

    assert sorted(read) == ["other", "support"]
    world.client.command("TRUNCATE TABLE rt4chart_monitor_states")
    assert detectors(world.client, **settings).run_round(world.now).findings == found


@pytest.mark.parametrize("state", ["", "[]", "{}", "null", '[[0,0,[],[]],["x","y"]]', "[" * 9000])
def test_a_damaged_state_is_not_used(world: World, state: str) -> None:
    """Nor does it stop the round."""
    first = detectors(world.client).run_round(world.now).findings
    world.client.command(
        "INSERT INTO rt4chart_monitor_states SELECT * REPLACE ({state:String} AS State, "
        "Version + 1 AS Version) FROM rt4chart_monitor_states",
        {"state": state},
    )

    made = detectors(world.client)
    read = reads(made)

    assert made.run_round(world.now).findings == first
    assert sorted(read) == ["other", "support"]


def test_a_route_without_its_past_hours_is_read_as_a_whole(world: World) -> None:
    """When its next baseline needs them."""
    detectors(world.client).run_round(world.now)
    world.client.command("TRUNCATE TABLE rt4chart_monitor_hours")
    made = detectors(world.client)
    read = reads(made)

    for _ in range(30):
        began = world.now
        world.answer(1, 24, 0.05)
        world.answer(1, 24, 0.05, route="other", since_ns=began)
        made.run_round(world.now)

    assert sorted(read) == ["other", "support"]


def test_only_routes_that_changed_are_stored(world: World) -> None:
    """One row a round for a route with new ticks, and none for one without."""
    made = detectors(world.client)
    made.run_round(world.now)
    stored = "SELECT Route, count() FROM rt4chart_monitor_states GROUP BY Route ORDER BY Route"
    world.answer(0.75, 40, 0.05)
    made.run_round(world.now)
    world.client.command("TRUNCATE TABLE rt4chart_monitor_states")

    world.answer(1 / 12, 60, 0.05)
    made.run_round(world.now)
    made.run_round(world.now + 1)

    assert world.client.query(stored).result_rows == [("support", 1)]
