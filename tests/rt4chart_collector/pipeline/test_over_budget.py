"""Answers for which the judge's budget of an hour or a day has nothing left, from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock

import pytest

from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    CascadeJudge,
    Label,
    OpenAIJudge,
    Verifier,
)
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.single_judge import SingleJudge
from otel_rt4chart.verify.llm.spending import (
    HOUR_NS,
    Account,
    LedgerError,
    MemoryLedger,
    SharedBudget,
    parse_budgets,
)
from rt4chart_collector.pipeline.backfill import Backfill, BackfillFilter
from rt4chart_collector.store.answers.verifications import verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.traffic import coverage
from tests.endpoint_server import EndpointServer
from tests.rt4chart_collector.pipeline.line import BAD, GOOD, START, Line
from tests.rt4chart_collector.pipeline.test_retries import ORACLE

Judged = Callable[[str], tuple[Line, SharedBudget]]


class Forgetful:
    """A cache that keeps nothing: each answer is asked about."""

    def get(self, key: str) -> str | None:
        """Nothing."""
        return None

    def put(self, key: str, value: str) -> None:
        """Forget it."""


class Away:
    """A ledger that cannot be asked."""

    def lease(self, account: Account, *, limit: float, need: float, most: float) -> float:
        """Not known."""
        raise LedgerError("gone")

    def give_back(self, account: Account, amount: float) -> None:
        """Not known."""
        raise LedgerError("gone")


def judge_of(name: str, endpoint: Endpoint) -> OpenAIJudge | SingleJudge | CascadeJudge:
    """A judge that asks the endpoint; the first one of the cascade is sure of nothing."""
    if name == "single":
        return SingleJudge(endpoint, cache=Forgetful())
    if name == "openai":
        return OpenAIJudge(endpoint, cache=Forgetful())
    unsure = {one: Script(Label.ENTAILED, confidence=0.1) for one in (GOOD, BAD)}
    return CascadeJudge(
        ScriptedJudge(unsure, id="scripted/1"), OpenAIJudge(endpoint, cache=Forgetful()), 0.7
    )


@pytest.fixture(params=["openai", "single", "cascade"])
def judged(request: pytest.FixtureRequest, client: Client) -> Iterator[Judged]:
    """A service whose judge asks an endpoint with that budget."""
    lines: list[Line] = []

    def start(written: str) -> tuple[Line, SharedBudget]:
        budget.limits = parse_budgets(written)
        lines.append(Line(client, Verifier(judge_of(request.param, endpoint))))
        return lines[0], budget

    def clock() -> int:
        return lines[0].now if lines else START

    budget = SharedBudget((), MemoryLedger(), clock, Lock())
    with (
        EndpointServer(ORACLE) as server,
        Endpoint(base_url=server.base_url, api_key="k", max_retries=0, budget=budget) as endpoint,
    ):
        yield start


def test_answers_over_budget_are_counted_and_not_retried(client: Client, judged: Judged) -> None:
    """Each is told its reason, the judge is not paused, and the next hour's are verified."""
    line, budget = judged("1calls/hour")
    line.send(1, 2, 3, 4, 5, 6, 7)
    over = line.decisions()[("over_budget", "none")]
    line.after(30 * 60)
    (told,) = verifications_of_trace(client, f"{7:032x}")
    line.now = (line.now // HOUR_NS + 1) * HOUR_NS
    budget.limits = parse_budgets("100calls/hour")
    line.send(8)

    assert over >= 6
    assert told.error == "over_budget: 1 calls an hour"
    assert line.decisions()[("over_budget", "none")] == over
    assert line.decisions()[("verified", "entailed")] >= 1
    status = line.status()
    assert (status["retries_waiting"], status["dead_letters"]) == (0, {})
    assert status["judging"] == {"paused": False}
    (found,) = coverage(client, QueryScope(0, 2**62, line.verifier.id)).values()
    assert (found.over_budget, found.sampled_out) == (over, over)


def test_a_route_over_its_budget_leaves_the_others_theirs(judged: Judged) -> None:
    """One route cannot spend what is for all."""
    line, _ = judged("1000calls/day, chat=1calls/day")
    line.send(1, 2, 3, answer=BAD, route="chat")
    line.send(4, 5, answer=GOOD, route="support")

    assert line.decisions()[("verified", "entailed")] == 2
    assert line.decisions()[("over_budget", "none")] >= 2


def test_backfill_verifies_what_was_over_budget(client: Client, judged: Judged) -> None:
    """With the sampling probability that the answers had."""
    line, budget = judged("1calls/hour")
    line.send(1, 2, 3)
    budget.limits = parse_budgets("100calls/hour")
    later = line.now + HOUR_NS
    line.now = later

    run = Backfill(
        client,
        line.verifier.get(client),
        BackfillFilter(0),
        sample_rate=1.0,
        clock=lambda: line.now,
        version="0",
    )
    assert list(run.verify_all())

    assert line.decisions() == {("verified", "entailed"): 3}


def test_without_the_store_answers_wait_for_another_attempt(judged: Judged) -> None:
    """Nobody knows what is left, so nothing is sent, and nothing is given up."""
    line, budget = judged("100calls/hour")
    ledger, budget.ledger = budget.ledger, Away()
    line.send(1)
    failing = line.decisions()
    budget.ledger = ledger
    line.after(60)
    line.after(60)

    assert failing == {("error", "none"): 1}
    assert line.status()["retries"] == {"planned": 1, "answered": 1}
    assert line.decisions() == {("verified", "entailed"): 1}
