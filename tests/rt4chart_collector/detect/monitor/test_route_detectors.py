"""Rounds that are not as they should be: clocks that jump, restarts, routes that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

import pytest

from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.monitor import drift_alerts, route_detectors
from rt4chart_collector.detect.monitor.drift_alerts import drift_facts
from rt4chart_collector.detect.monitor.route_detectors import (
    DriftRound,
    RouteDetectors,
    drift_policy,
    steady_policy,
)
from rt4chart_collector.store.alerts.alert_events import alert_trail
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.ticks import RouteTicks
from tests.conftest import fresh
from tests.rt4chart_collector.detect.monitor.world import DAY, START, World
from tests.rt4chart_collector.records import SECOND, VERIFIER


@pytest.fixture(scope="module")
def calm(store_dsn: str) -> Iterator[World]:
    """Ten calm days of two routes."""
    for client in fresh(store_dsn):
        made = World(client)
        made.answer(240, 10 / 3, 0.045)
        made.answer(240, 10 / 3, 0.045, route="other", since_ns=START)
        yield made


@pytest.fixture
def world(client: Client, calm: World) -> World:
    """A copy of these days."""
    return calm.copied(client)


def risen(world: World) -> list[str]:
    """The routes with an open alert on their rate."""
    return sorted(one.route for one in world.alerts() if one.rule == "route_drift")


def rise(world: World) -> None:
    """Two hours in which most answers of both routes are bad."""
    began = world.now
    world.answer(2, 40, 0.6)
    world.answer(2, 40, 0.6, route="other", since_ns=began)


def test_a_clock_that_went_ahead_and_back_blinds_nobody(world: World) -> None:
    """What was read at a time that is none is forgotten."""
    world.monitor.run_round()
    now = world.now
    world.now += 3 * DAY
    world.monitor.run_round()
    world.now = now
    rise(world)

    assert world.monitor.run_round()

    assert risen(world) == ["other", "support"]


def test_a_clock_that_goes_back_a_little_costs_nothing(world: World) -> None:
    """As clocks are set right by less than a tick: nothing is read anew."""
    watched = RouteDetectors(world.client, MonitorSettings(), VERIFIER)
    watched.run_round(world.now)
    world.monitor.run_round()
    before = world.monitor._routes
    world.now -= SECOND

    world.monitor.run_round()

    assert world.monitor._routes is before


def test_a_restart_leaves_alerts_of_routes_that_it_has_not_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round that has no time for all of them resolves none, and the alarmed come first."""
    began = world.now
    world.answer(2, 40, 0.6, route="other", since_ns=began)
    world.answer(2, 60, 0.0, since_ns=began)
    world.monitor.run_round()
    (alert,) = world.alerts()
    world.now += 300 * SECOND
    another = world.another()
    monkeypatch.setattr(route_detectors, "REREAD_BUDGET_S", 0.0)
    for _ in range(6):
        world.now += 600 * SECOND
        another.run_round()
    waiting = risen(world)
    monkeypatch.setattr(route_detectors, "REREAD_BUDGET_S", 30.0)
    another.run_round()

    assert (alert.route, waiting, risen(world)) == ("other", ["other"], ["other"])
    assert [one.kind for one in alert_trail(world.client, alert.id) if one.kind != "updated"] == [
        "fired"
    ]


def test_the_alarmed_are_read_before_the_busiest(world: World) -> None:
    """Of routes that nothing is known of."""
    ticking = iter(range(0, 1000, 20))
    watched = RouteDetectors(
        world.client, MonitorSettings(), VERIFIER, monotonic=lambda: float(next(ticking))
    )

    found = watched.run_round(world.now, first=[("shop", "support")]).findings

    assert {key[:2] for key in found} == {("shop", "support")}
    assert watched.unread == {("shop", "other")}


def test_a_rise_whose_facts_cannot_be_read_is_alarmed_without_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with them in the next round; the other route's alarm has its own."""

    def failing(client: Client, *, route: str, **given: object) -> DriftFacts:
        if route == "other":
            raise ValueError("memory limit")
        return drift_facts(client, route=route, **given)  # type: ignore[arg-type]

    rise(world)
    monkeypatch.setattr(drift_alerts, "drift_facts", failing)
    world.monitor.run_round()
    found = {one.route: one for one in world.alerts()}

    assert sorted(found) == ["other", "support"]
    whole, minimal = found["support"].facts, found["other"].facts
    assert isinstance(whole, DriftFacts)
    assert isinstance(minimal, DriftFacts)
    assert len(whole.worst_answers) == 10
    assert (minimal.worst_answers, minimal.after) == ((), None)
    assert minimal.evidence
    assert asdict(minimal.evidence) == pytest.approx({"log": 47.54, "threshold": 9.757}, rel=1e-3)
    assert "more claims are unfaithful" in found["other"].title


def test_a_route_that_cannot_be_read_stands_as_it_did(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its alarm lasts, and the other routes are looked at."""
    rise(world)
    world.monitor.run_round()
    real = RouteDetectors._continue

    def failing(self: RouteDetectors, place: tuple[str, str], *rest: object) -> None:
        def spoilt(*_: object, **__: object) -> Sequence[object]:
            raise ValueError("memory limit")

        if place == ("shop", "support"):
            self._read = spoilt  # type: ignore[method-assign, assignment]
            for watch in self._detectors[place].by_measure.values():
                watch.update = spoilt  # type: ignore[method-assign, assignment]
        real(self, place, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(RouteDetectors, "_continue", failing)
    for _ in range(4):
        began = world.now
        world.answer(0.5, 40, 0.6)
        world.answer(0.5, 40, 0.6, route="other", since_ns=began)
        world.monitor.run_round()

    assert risen(world) == ["other", "support"]


def test_a_route_that_fails_does_not_keep_others_waiting(world: World) -> None:
    """It is tried again when the others were read."""
    clock = iter(range(0, 1000, 20))
    watched = RouteDetectors(
        world.client, MonitorSettings(), VERIFIER, monotonic=lambda: float(next(clock))
    )
    real = watched._read

    def read(since_ns: int, now_ns: int, key: tuple[str, str]) -> list[RouteTicks]:
        if key == ("shop", "other"):
            raise ValueError("memory limit")
        return real(since_ns, now_ns, key)

    watched._read = read  # type: ignore[method-assign]
    look = partial(watched.run_round, first=[("shop", "other")])
    rounds: list[DriftRound] = [look(world.now) for _ in range(2)]

    known = [{key[:2] for key in one.findings} for one in rounds]
    assert known == [set(), {("shop", "support")}]


def detectors(world: World, monitor_routes: int = 9) -> RouteDetectors:
    """Detectors of all routes, as they are after their first round."""
    made = RouteDetectors(world.client, MonitorSettings(monitor_routes=monitor_routes), VERIFIER)
    made.run_round(world.now)
    return made


def later(world: World, made: RouteDetectors, minutes: int) -> DriftRound:
    """A round so much later."""
    world.now += minutes * 60 * SECOND
    return made.run_round(world.now)


def read_again(made: RouteDetectors, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The routes that are read as a whole from now on, as they are."""
    found: list[str] = []
    reread = made._reread

    def noted(key: tuple[str, str], now_ns: int, round_: DriftRound) -> None:
        found.append(key[1])
        reread(key, now_ns, round_)

    monkeypatch.setattr(made, "_reread", noted)
    return found


def test_routes_without_late_verdicts_are_not_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hour after hour; what rounds say is what reading all of it says."""
    made = detectors(world)
    again = read_again(made, monkeypatch)
    last = DriftRound()
    for _ in range(3):
        began = world.now
        world.answer(1, 30, 0.1)
        world.answer(1, 20, 0.05, route="other", since_ns=began)
        for _ in range(4):
            last = later(world, made, 3)

    assert again == []
    whole = RouteDetectors(world.client, MonitorSettings(), VERIFIER).run_round(world.now)
    assert last.findings == whole.findings


@pytest.mark.parametrize("hours_ago", [1.2, 30])
def test_a_late_verdict_has_its_route_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch, hours_ago: float
) -> None:
    """Within two hours, whether the hour was compared before or has just settled; no other is."""
    made = detectors(world)
    later(world, made, 61)
    again = read_again(made, monkeypatch)
    world.answer(0.05, 40, 0.5, since_ns=world.now - round(hours_ago * 3600) * SECOND)
    now = world.now
    for _ in range(3):
        later(world, made, 45)

    assert again == ["support"]
    assert world.now - now < 3 * 3600 * SECOND
    whole = RouteDetectors(world.client, MonitorSettings(), VERIFIER).run_round(world.now)
    assert made.run_round(world.now).findings == whole.findings


def test_routes_beyond_the_bound_are_counted(world: World) -> None:
    """The one with the fewest claims is not watched, and the monitor says so."""
    made = detectors(world, monitor_routes=1)

    assert made.states == {"watched": 1, "unread": 0, "left_out": 1}


@pytest.mark.parametrize(
    ("known", "routes", "counted"),
    [(1, 9, 9), (1, 17, 32), (1, 1_000, 1_024), (1_024, 300, 1_024), (1_024, 256, 256)],
)
def test_thresholds_stay_while_routes_come_and_go(known: int, routes: int, counted: int) -> None:
    """Other thresholds would mean that every route is read again."""
    settings = MonitorSettings()

    assert steady_policy(settings, routes, drift_policy(settings, known)).routes == counted
