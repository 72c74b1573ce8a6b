"""The monitor's round, over a store and under a clock that the test moves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import CheckPlan
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.facts import DriftFacts, JudgeFacts
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.monitor.route_detector import RouteDetector
from rt4chart_collector.store.alerts.alert_events import accept, resolve
from rt4chart_collector.store.alerts.drift_states import latest_drift
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.ticks import Tick
from tests.conftest import fresh
from tests.rt4chart_collector.detect.monitor.world import DAY, HOUR, START, World
from tests.rt4chart_collector.records import SECOND, VERIFIER, verdict
from tests.rt4chart_collector.store.alerts.drift_rows import drift_rows

MISLEADING = Measure.MISLEADING


@pytest.fixture(scope="module")
def calm(store_dsn: str) -> Iterator[World]:
    """Ten calm days of one route: 2,400 claims, three in a hundred of them unfaithful."""
    for client in fresh(store_dsn):
        made = World(client)
        made.answer(240, 10 / 3, 0.045)
        yield made


@pytest.fixture
def world(client: Client, calm: World) -> World:
    """A copy of these days."""
    return calm.copied(client)


def test_a_rise_is_alarmed_with_all_that_is_known_of_it(world: World) -> None:
    """Before and after with n, since when, what changed, and the worst answers with a claim."""
    assert world.monitor.run_round()
    assert world.alerts() == []
    began = world.now
    world.answer(2, 40, 0.6, release="1.1")
    world.monitor.run_round()

    (alert,) = world.alerts()
    facts = alert.facts

    assert isinstance(facts, DriftFacts)
    assert (alert.rule, alert.severity, alert.service, alert.route) == (
        *("route_drift", "critical", "shop"),
        "support",
    )
    assert abs(alert.starts_ns - began) < HOUR
    before, after, evidence = facts.before, facts.after, facts.evidence
    assert before is not None
    assert after is not None
    assert evidence is not None
    assert (before.low or 1) < (before.rate or 1) < 0.06 < (after.low or 0)
    assert before.claims > 2000
    assert after.answers > 50
    assert (facts.changed[0].attribute, facts.changed[0].value) == ("release", "1.1")
    assert len(facts.worst_answers) == 10
    assert facts.worst_answers[0].label == "contradicted"
    assert facts.worst_answers[0].claim == "The trial lasts 14 days."
    assert evidence.log > evidence.threshold
    assert facts.since_ns == alert.starts_ns


def test_an_alert_says_which_part_of_a_rise_is_another_mix_of_questions(client: Client) -> None:
    """Where "why" is asked five times as often, is usually answered worse, and now all are."""
    world = World(client)
    for hours, an_hour, why, worse in ((100, 8, 2, 0.0), (3, 20, 40, 0.45)):
        began = world.now
        world.answer(hours, an_hour, 0.03 + worse)
        world.answer(hours, why, 0.5 + worse, question="Why so?", since_ns=began)
    world.monitor.run_round()

    (alert,) = world.alerts()
    facts = alert.facts

    assert isinstance(facts, DriftFacts)
    assert facts.parts is not None
    assert 0.05 < facts.parts.mix.low < facts.parts.mix.high
    assert 0.02 < facts.parts.quality.low < facts.parts.quality.high
    assert {kind.value for kind in facts.parts.kinds} == {"how many", "why"}


def test_another_mix_of_questions_alone_alerts_nobody(client: Client) -> None:
    """The rate is twice as high, and no kind is answered worse."""
    world = World(client)
    for hours, an_hour, why in ((100, 8, 2), (3, 20, 40)):
        began = world.now
        world.answer(hours, an_hour, 0.03)
        world.answer(hours, why, 0.5, question="Why so?", since_ns=began)
    world.monitor.run_round()

    assert world.alerts() == []


def test_a_rise_of_misleading_claims_alone_is_an_alert_of_its_own(world: World) -> None:
    """With its measure, its answers and its id; none says that claims are unfaithful."""
    world.monitor.run_round()
    world.answer(2, 40, 0.6, release="1.1", measure=MISLEADING)
    world.monitor.run_round()

    (alert,) = world.alerts()
    facts = alert.facts

    assert isinstance(facts, DriftFacts)
    assert (alert.rule, alert.route, alert.severity) == ("misleading_drift", "support", "critical")
    assert re.fullmatch(
        r"Drift detected on support: \d+\.\d% of claims are misleading, up from 0\.0%", alert.title
    )
    assert facts.measure is MISLEADING
    assert facts.before is not None
    assert facts.after is not None
    assert (facts.before.rate, facts.before.claims > 2000) == (0.0, True)
    assert 0.1 < (facts.after.low or 0) < 0.2 < (facts.after.high or 0) < 0.3
    worst = facts.worst_answers[0]
    assert (worst.label, worst.status, worst.claim_index) == ("entailed", "cherry_picked", 1)
    assert (worst.misleading, worst.unfaithful, worst.decided) == (1, 0, 3)
    states = {
        measure: latest_drift(world.client, since_ns=START, verifier=VERIFIER, measure=measure)
        for measure in (Measure.UNFAITHFUL, MISLEADING)
    }
    assert {measure: row["shop", "support"].state for measure, row in states.items()} == {
        Measure.UNFAITHFUL: "calm",
        MISLEADING: "page",
    }


def test_a_rise_of_unfaithful_claims_alone_says_nothing_of_misleading_ones(world: World) -> None:
    """One alert, whose id is that of earlier versions."""
    world.monitor.run_round()
    world.answer(2, 40, 0.6)
    world.monitor.run_round()

    (alert,) = world.alerts()

    assert alert.rule == "route_drift"
    assert "of claims are unfaithful" in alert.title
    digest = hashlib.sha256(b"route_drift\x1fshop\x1fsupport\x1f0").hexdigest()
    assert alert.id == digest[:16]


def test_both_measures_alert_and_resolve_apart(world: World) -> None:
    """Two ids on one route; what a person accepts of one is not accepted of the other."""
    world.monitor.run_round()
    began = world.now
    world.answer(2, 40, 0.6)
    world.answer(2, 40, 0.6, measure=MISLEADING, since_ns=began)
    world.monitor.run_round()
    both = {one.rule: one.id for one in world.alerts()}
    accept(world.client, both["misleading_drift"], actor="ann", now_ns=world.now)
    world.answer(1, 40, 0.6)
    world.monitor.run_round()

    assert set(both) == {"route_drift", "misleading_drift"}
    assert len(set(both.values())) == 2
    assert [one.rule for one in world.alerts()] == ["route_drift"]


def test_answers_that_some_checks_left_out_are_no_evidence(world: World) -> None:
    """A check that is drawn more often finds more, which is no rise."""
    some = CheckPlan(cherry_picking=0.0, is_complete=False)
    world.monitor.run_round()
    world.answer(2, 40, 0.6, measure=MISLEADING, plan=some)
    world.monitor.run_round()

    assert world.alerts() == []


def test_a_rise_that_a_person_only_resolves_is_not_the_usual_rate(world: World) -> None:
    """The baseline stays; the alert comes back after the rate was back and rose again."""
    world.monitor.run_round()
    before = latest_drift(world.client, since_ns=START, verifier=VERIFIER)
    world.answer(2, 40, 0.6, release="1.1")
    world.monitor.run_round()
    (alert,) = world.alerts()
    resolve(world.client, alert.id, actor="ann", now_ns=world.now)
    world.answer(2, 40, 0.6, release="1.1")
    world.monitor.run_round()

    after = latest_drift(world.client, since_ns=START, verifier=VERIFIER)
    assert world.alerts() == []
    assert "page" in {one.state for one in after.values()}
    assert {key: one.baseline for key, one in after.items()} == {
        key: one.baseline for key, one in before.items()
    }


def test_a_rise_that_a_person_accepts_is_the_usual_rate_from_then_on(world: World) -> None:
    """For this process and the next one: calm at that rate, alarmed again on a further rise."""
    world.monitor.run_round()
    world.answer(2, 40, 0.3, release="1.1")
    world.monitor.run_round()
    (alert,) = world.alerts()
    accept(world.client, alert.id, actor="ann", now_ns=world.now)
    for _ in range(4):
        world.answer(18, 20, 0.3, release="1.1")
        world.monitor.run_round()
    states = latest_drift(world.client, since_ns=START, verifier=VERIFIER)
    world.now += 300 * SECOND
    another = world.another()
    another.run_round()
    again = latest_drift(world.client, since_ns=START, verifier=VERIFIER)
    calm = world.alerts()
    world.answer(4, 40, 0.9, release="1.2")
    another.run_round()

    assert {one.state for one in states.values()} <= {"calm", "warn"}
    assert again == states
    assert calm == []
    assert [one.id for one in world.alerts()] == [alert.id]


def test_another_process_goes_on_where_one_ended(world: World) -> None:
    """What is stored is what it goes by: the same findings, no second alert."""
    world.monitor.run_round()
    world.answer(2, 40, 0.6, release="1.1")
    world.monitor.run_round()
    before = latest_drift(world.client, since_ns=START, verifier=VERIFIER)
    world.now += 300 * SECOND

    another = world.another()
    assert another.run_round()

    assert len(world.alerts()) == 1
    assert latest_drift(world.client, since_ns=START, verifier=VERIFIER) == before
    assert world.monitor.run_round() is False
    assert world.monitor.figures() == ()


def test_looking_every_minute_finds_what_one_look_finds(world: World) -> None:
    """Settled ticks are gone through once, open ones again and again: the rows are the same."""
    world.monitor.run_round()
    since = world.now
    for _ in range(10):
        world.answer(1 / 12, 36, 0.3, release="1.1")
        world.monitor.run_round()
    steps = drift_rows(world.client, since_ns=since)
    for table in ("rt4chart_drift", "rt4chart_monitor_states"):
        world.client.command(f"TRUNCATE TABLE {table}")
    world.now += 300 * SECOND
    world.another().run_round()

    at_once = drift_rows(world.client, since_ns=since)

    assert len(steps) == 20
    assert [one.tick_ns for one in at_once] == [one.tick_ns for one in steps]
    assert [one.page for one in at_once] == pytest.approx([one.page for one in steps])


def test_figures_are_of_the_last_hour_and_the_last_tick(world: World) -> None:
    """What /metrics shows of a route."""
    world.answer(1, 20, 0.0)
    world.monitor.run_round()

    found, misleading = world.monitor.figures()

    assert (misleading.measure, misleading.claims, misleading.rate) == (MISLEADING, 60, 0.0)
    assert (found.service, found.route, found.claims) == ("shop", "support", 60)
    assert (found.rate, found.undecided) == (0.0, 0.0)
    assert (set(found.evidence), set(found.thresholds)) == ({"any", "page"}, {"warn", "page"})
    assert found.detectable == pytest.approx(0.3230, abs=1e-4)


def test_one_bad_route_stops_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is logged without its texts, and tried again in the next round."""
    world.answer(1, 20, 0.0, route="aaa", since_ns=world.now - HOUR)
    real = RouteDetector.update

    def failing(
        self: RouteDetector,
        ticks: Sequence[Tick],
        *,
        settled_ns: int,
        accepted_ns: Sequence[int] = (),
    ) -> list[DriftFinding]:
        if len(ticks) < 20:
            raise ValueError("secret text")
        return real(self, ticks, settled_ns=settled_ns, accepted_ns=accepted_ns)

    monkeypatch.setattr(RouteDetector, "update", failing)

    assert world.monitor.run_round()

    assert {one.route for one in world.monitor.figures()} == {"support"}


def test_an_empty_store_is_no_reason_for_an_alert(client: Client) -> None:
    """A round goes through it all the same."""
    world = World(client)

    assert world.monitor.run_round() is True
    assert world.alerts() == []
    assert world.monitor.figures() == ()


def test_a_judge_that_never_had_a_verdict_is_alarmed_when_it_fails(client: Client) -> None:
    """On a new store, and where another judge had verdicts before."""
    world = World(client)
    failing = [
        replace(
            verdict(at, start_ns=START, decision=Decision.ERROR, decided_ns=START),
            verifier="new/judge",
        )
        for at in range(1, 61)
    ]
    insert_verdicts(client, failing)
    world.now += HOUR // 2
    world.monitor.run_round()
    first = [one.rule for one in world.alerts()]
    world.answer(0.25, 400, 0.0)
    world.monitor.run_round()

    (alert,) = world.alerts()
    assert first == ["judge_failing"]
    assert isinstance(alert.facts, JudgeFacts)
    assert (alert.facts.verifier, alert.facts.failed) == ("new/judge", 60)


def test_silence_of_more_than_a_week_still_has_alerts_that_end(client: Client) -> None:
    """Without a verifier nothing drifts, but what was open resolves in its time."""
    world = World(client)
    world.answer(24 * 7, 30, 0.0)
    world.monitor.run_round()
    world.now += 2 * HOUR
    world.monitor.run_round()
    silent = [one.rule for one in world.alerts()]
    for _ in range(4):
        world.now += 4 * DAY
        world.monitor.run_round()

    assert silent == ["no_data"]
    assert world.alerts() == []
