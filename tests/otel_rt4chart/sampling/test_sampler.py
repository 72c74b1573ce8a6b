"""Who is chosen, why, and with which weight."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.sampling import Choice, Policy, Risk, Sampler, Signals, position

NOW = 1_800_000_000.0
ids = st.integers(1, 2**128 - 1).map(lambda number: f"{number:032x}")
FORCED = Signals(forced=True)


def trace_ids(size: int, seed: int = 1) -> list[str]:
    """Random ids, the same each time."""
    draw = random.Random(seed)  # noqa: S311 no secret
    return [f"{draw.getrandbits(128):032x}" for _ in range(size)]


def still() -> float:
    """A clock that stands."""
    return NOW


class Rushes:
    """A clock of Poisson arrivals: ten minutes at 60 candidates a minute, then ten at 1,200."""

    def __init__(self) -> None:
        """At a full ten minutes."""
        self.now = 600.0 * 3_000_000
        self._draw = random.Random(2)  # noqa: S311 no secret

    def step(self) -> bool:
        """Go to the next arrival; True in a rush."""
        is_rush = int(self.now / 600) % 2 == 1
        self.now += self._draw.expovariate(20 if is_rush else 1)
        return is_rush


@given(ids, st.floats(0, 1), st.floats(0, 1))
def test_what_is_chosen_at_a_rate_is_chosen_at_every_higher_one(
    trace_id: str, one: float, other: float
) -> None:
    """So a rate can be raised and lowered without losing what was seen."""
    low, high = (Sampler(Policy(rate=rate)) for rate in sorted((one, other)))

    assert low.choose(trace_id, Signals()).sampled <= high.choose(trace_id, Signals()).sampled


@given(ids, st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", "support/chat", "legal"]))
def test_what_is_never_chosen_is_chosen_on_no_route(
    trace_id: str, one: float, other: float, route: str
) -> None:
    """It is known before anything of the trace but its id; a force may still choose it."""
    sampler = Sampler(Policy(rate=one, route_rates={"support/*": other}))
    found = [sampler.choose(trace_id, Signals(route=name)).sampled for name in ("", "support/a")]

    assert sampler.never_samples(trace_id) is not any(found)
    assert not (
        sampler.never_samples(trace_id) and sampler.choose(trace_id, Signals(route)).sampled
    )
    assert sampler.choose(trace_id, FORCED).sampled


def test_with_a_risk_rule_every_answer_may_be_chosen() -> None:
    """The rule reads the spans."""
    assert not Sampler(Policy(rate=0.0, risks=frozenset({Risk.ERROR}))).never_samples("a" * 32)


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.8])
def test_the_share_chosen_is_the_rate_of_the_route(rate: float) -> None:
    """Over 10,000 ids within four standard errors; each one says the rate."""
    sampler = Sampler(Policy(rate=0.5, route_rates={"support/*": rate}))
    size = 10_000

    made = [sampler.choose(one, Signals(route="support/chat")) for one in trace_ids(size)]

    taken = sum(choice.sampled for choice in made)
    assert abs(taken / size - rate) < 4 * (rate * (1 - rate) / size) ** 0.5
    assert set(made) == {
        Choice(True, rate, "sampled", "rate"),
        Choice(False, rate, "not_sampled", "rate"),
    }


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        (Signals(is_error=True), "risk:error"),
        (Signals(is_disliked=True), "risk:feedback"),
        (Signals(top_score=0.29), "risk:low_score"),
        (Signals(question="So I can return it, right?"), "risk:confirmation"),
        (Signals(is_error=True, is_disliked=True), "risk:error"),
        (Signals(is_error=True, forced=True), "forced"),
    ],
)
def test_a_risk_is_chosen_whatever_the_rate(signals: Signals, reason: str) -> None:
    """Its probability is 1, and so is its weight; without its rule it is like any other."""
    policy = Policy(rate=0.0, risks=frozenset(Risk), low_score=0.3)

    assert Sampler(policy).choose("a", signals) == Choice(True, 1.0, "sampled", reason)
    plain = Sampler(Policy(rate=0.0)).choose("a", signals)
    assert plain.sampled is signals.forced


@pytest.mark.parametrize(
    "signals",
    [Signals(), Signals(top_score=0.3), Signals(question="What can I return?", top_score=0.9)],
)
def test_without_a_risk_the_rate_decides(signals: Signals) -> None:
    """A score at the bound is not under it, and none at all is unknown."""
    policy = Policy(rate=0.0, risks=frozenset(Risk), low_score=0.3)

    assert Sampler(policy).choose("a", signals) == Choice(False, 0.0, "not_sampled", "rate")


def test_the_throttle_holds_back_and_forced_answers_pass_it() -> None:
    """What is held back keeps the rate that it had."""
    sampler = Sampler(Policy(per_minute=2), clock=still)

    made = [sampler.choose(one, Signals()) for one in trace_ids(4)]

    assert made[:2] == [Choice(True, 1.0, "sampled", "rate")] * 2
    assert made[2:] == [Choice(False, 1.0, "throttled", "throttle")] * 2
    assert sampler.choose("a", FORCED) == Choice(True, 1.0, "sampled", "forced")


def test_a_rush_weighs_what_it_held() -> None:
    """Through rushes of ten times the bound, weighted sums come to what was there."""
    times = Rushes()
    sampler = Sampler(Policy(rate=0.5, per_minute=60), clock=lambda: times.now)
    rushed = weighed = weighed_rush = 0.0
    size = 12_000
    for one in trace_ids(size):
        is_rush = times.step()
        rushed += is_rush
        choice = sampler.choose(one, Signals())
        if choice.sampled:
            weighed += 1 / choice.rate
            weighed_rush += is_rush / choice.rate

    assert weighed == pytest.approx(size, rel=0.1)
    assert weighed_rush / weighed == pytest.approx(rushed / size, abs=0.02)


def test_a_day_s_budget_ends_and_comes_again() -> None:
    """Forced answers are within it: a loop can force as well."""
    now = [NOW]
    sampler = Sampler(Policy(per_day=2), clock=lambda: now[0])
    assert sampler.choose("a", FORCED).sampled
    assert sampler.choose("b", Signals()).sampled

    for signals in (FORCED, Signals()):
        assert sampler.choose("c", signals) == Choice(False, 1.0, "over_budget", "budget")
    now[0] += 86_400
    assert sampler.choose("c", Signals()).sampled


def test_what_the_rate_leaves_out_costs_nothing() -> None:
    """Only who is chosen counts against the bounds."""
    sampler = Sampler(Policy(rate=0.0, per_minute=1, per_day=1), clock=still)
    for one in trace_ids(50):
        assert sampler.choose(one, Signals()).decision == "not_sampled"

    assert sampler.choose("a", FORCED).sampled


def test_another_policy_holds_from_the_next_answer_on() -> None:
    """With what was spent before."""
    sampler = Sampler(Policy(per_day=1), clock=still)
    assert sampler.choose("a", Signals()).sampled

    sampler.policy = Policy(rate=0.0, per_day=1)
    assert sampler.choose("b", Signals()).decision == "not_sampled"
    sampler.policy = Policy(per_day=2)
    assert [sampler.choose(one, Signals()).sampled for one in "bc"] == [True, False]


def test_threads_share_one_budget() -> None:
    """No answer is chosen over it, and none is lost."""
    sampler = Sampler(Policy(per_day=500), clock=still)

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda one: sampler.choose(one, Signals()), trace_ids(2_000)))

    assert sum(choice.sampled for choice in made) == 500


FORK = """
import os, signal
from otel_rt4chart.sampling import Policy, Sampler, Signals
sampler = Sampler(Policy(per_day=10))
with sampler._lock:
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(not sampler.choose("a", Signals()).sampled)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_can_choose_although_the_lock_was_held() -> None:
    """The thread that held it is not there to give it back; a child that hangs would be ended."""
    assert subprocess.run([sys.executable, "-c", FORK]).returncode == 0


def test_a_salt_draws_another_sample() -> None:
    """The one that the policy names."""
    rate, salt = 0.5, "v2"
    sampler = Sampler(Policy(rate=rate, salt=salt))

    for one in trace_ids(200):
        assert sampler.choose(one, Signals()).sampled is (position(one, salt) < rate)
