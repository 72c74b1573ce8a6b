"""Rates that follow the evidence: written by the monitor, read by an application's own source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.applications import Starlette

from otel_rt4chart.sampling import Policy, Sampler
from otel_rt4chart.sampling.rates import RatesSource
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.monitor.adaptive_sampling import usual_rate
from rt4chart_collector.detect.monitor.route_detectors import DriftRound
from rt4chart_collector.ingest.otlp.refusal import HANDLERS
from rt4chart_collector.service.monitor import NAME_CHARS, PATH, rates_document, rates_route
from rt4chart_collector.store.alerts.sampling_rates import (
    SamplingRateRow,
    rates_in_force,
    rates_since,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.ticks import Bin, Tick
from tests.conftest import fresh
from tests.otel_rt4chart.sampling.rates_server import RatesServer, serving
from tests.rt4chart_collector.detect.monitor.world import HOUR, World
from tests.rt4chart_collector.records import NOON, SECOND
from tests.rt4chart_collector.telemetry.asked import get
from tests.tokens import guard_with

SET = SamplingRateRow("shop", "support", NOON, 0.5, NOON + HOUR, "rise")


@pytest.fixture(scope="module")
def calm(store_dsn: str) -> Iterator[World]:
    """Ten calm days of one route, sampled at one in ten."""
    for client in fresh(store_dsn):
        made = World(client, adaptive_cap=400.0)
        made.answer(240, 10 / 3, 0.045, sample_rate=0.1)
        # Chance may have left a little evidence behind.
        made.answer(12, 60, 0.0, sample_rate=0.1)
        yield made


@pytest.fixture
def world(client: Client, calm: World) -> World:
    """A copy of these days."""
    return calm.copied(client)


@pytest.fixture
def server() -> Iterator[RatesServer]:
    """Where an application reads."""
    with serving() as found:
        yield found


def test_an_application_samples_more_while_evidence_rises_and_less_again(
    world: World, server: RatesServer
) -> None:
    """By its own source of rates, at the document that the service would give it."""
    sampler = Sampler(Policy(rate=0.1, route_rates={"other": 0.7}))
    source = RatesSource(server.address, sampler, 3600.0, clock=lambda: world.now / SECOND)

    def rate_after_a_look() -> float:
        world.monitor.run_round()
        rates = world.monitor.rates("shop")
        server.body = json.dumps(rates_document(rates, now_ns=world.now)).encode()
        source.poll()
        assert sampler.policy.rate_of("other") == 0.7
        return sampler.policy.rate_of("support")

    calm = rate_after_a_look()
    world.answer(1, 40, 0.4, sample_rate=0.1)
    risen = rate_after_a_look()
    for _ in range(6):
        world.answer(4, 60, 0.0, sample_rate=risen)
        rate_after_a_look()
    fallen = rate_after_a_look()
    source.close()

    assert (calm, fallen) == (0.1, 0.1)
    assert 0.5 < risen <= 1.0
    told = rates_since(world.client, since_ns=0)
    assert [told[-1].reason, told[0].until_ns <= told[0].at_ns] == ["rise", True]


def test_a_document_ends_by_itself(server: RatesServer) -> None:
    """An application whose monitor is away goes back to its own rate."""
    now = [NOON]
    sampler = Sampler(Policy(rate=0.1))
    server.body = json.dumps(rates_document([SET], now_ns=now[0])).encode()
    source = RatesSource(server.address, sampler, 3600.0, clock=lambda: now[0] / SECOND)
    source.poll()
    raised = sampler.policy.rate_of("support")
    server.status = 503
    now[0] += 200 * SECOND
    source.poll()
    source.close()

    assert (raised, sampler.policy.rate_of("support")) == (0.5, 0.1)


def test_another_process_knows_the_rate_before(world: World) -> None:
    """Read from the answers before it was raised: it lowers to that."""
    world.monitor.run_round()
    world.answer(1, 40, 0.4, sample_rate=0.1)
    world.monitor.run_round()
    (raised,) = rates_in_force(world.client, now_ns=world.now)
    world.now += 300 * SECOND
    another = world.another(adaptive_cap=400.0)
    assert another.run_round()
    for _ in range(6):
        world.answer(4, 60, 0.0, sample_rate=raised.rate)
        another.run_round()

    assert rates_in_force(world.client, now_ns=world.now) == []
    assert rates_since(world.client, since_ns=0)[0].rate == pytest.approx(0.1)


def test_nothing_is_asked_for_where_it_is_off(client: Client) -> None:
    """Evidence alone changes nothing."""
    world = World(client, adaptive=False)
    world.answer(240, 10 / 3, 0.045, sample_rate=0.1)
    world.answer(1, 40, 0.5, sample_rate=0.1)

    world.monitor.run_round()

    assert rates_since(client, since_ns=0) == []


def test_rates_are_for_who_has_the_token() -> None:
    """As the other figures."""
    given = {"shop": [SET]}
    route = rates_route(
        lambda name: given.get(name, ()), guard_with(read="s3cret"), clock=lambda: NOON
    )
    app = Starlette(routes=[route], exception_handlers=dict(HANDLERS))

    assert get(app, f"{PATH}?service=shop").status_code == 401
    answer = get(app, f"{PATH}?service=shop", "s3cret")
    assert answer.json()["raised"] == {"support": 0.5}
    assert answer.json()["expires"].endswith("Z")
    assert get(app, PATH, "s3cret").json()["raised"] == {}


def test_a_document_is_bounded_and_holds_no_patterns() -> None:
    """Names are users'; what is over is over."""
    names = ("a*", "b" * (NAME_CHARS + 1), "good")
    rates = [SamplingRateRow("shop", one, NOON, 0.5, NOON + HOUR, "rise") for one in names]
    over = SamplingRateRow("shop", "over", NOON, 0.5, NOON, "over")

    assert rates_document([*rates, over], now_ns=NOON)["raised"] == {"good": 0.5}


def test_misleading_claims_raise_a_rate_only_when_they_warn() -> None:
    """With the traffic of all verified answers; below that, unfaithful claims decide."""
    calm = DriftFinding(NOON, "calm", 2.0, 1.0, 7.6, 9.0, None, None, 0, 40.0, 400.0, "")
    rare = replace(calm, warn=7.0, beyond=6.0, traffic_per_hour=40.0)
    warns = replace(rare, state="warn")
    unfaithful, misleading = (
        ("shop", "support", measure) for measure in (Measure.UNFAITHFUL, Measure.MISLEADING)
    )
    stale = replace(warns, tick_ns=NOON - 2 * HOUR)

    found = [
        DriftRound({unfaithful: calm, misleading: one}).by_route["shop", "support"]
        for one in (rare, stale, warns)
    ]

    assert found == [calm, calm, replace(calm, state="warn", warn=7.0, beyond=6.0)]


def test_the_usual_rate_is_not_that_of_a_few_answers() -> None:
    """Rules of risk choose at 1, a throttle below: neither is what the application has."""
    bins = (Bin(3, 0, 2, 0.01), Bin(3, 0, 90, 0.1), Bin(3, 0, 8, 1.0))

    assert usual_rate([Tick(0, "m", "1", "r", bins)]) == 0.1
    assert usual_rate([]) is None
