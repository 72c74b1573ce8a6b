"""Criteria in the pipeline: a trace goes in, and the verdicts of its criteria are in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import pytest

from otel_rt4chart.core import semconv
from otel_rt4chart.judges.build import build_criteria, shared_endpoint
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.sampling.layers import Layers
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import Budget, RulesJudge, Verifier
from otel_rt4chart.verify.criteria.model import (
    CitationCheck,
    Criteria,
    Criterion,
    CriterionOutcome,
    JudgedCheck,
    RegexCheck,
)
from rt4chart_collector.core.filters.filter_language import parse_filter
from rt4chart_collector.core.instruments import CRITERION_VERDICTS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.store.answers.criteria import CriterionRow, criteria_of
from rt4chart_collector.store.answers.verifications import verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.lists.answer_filter import ANSWER_KEYS, AnswerFilter
from rt4chart_collector.store.lists.answer_list import answer_page
from rt4chart_collector.store.rates.criterion_rates import criteria_rates
from tests.criteria_model import FAIL, CriteriaOracle
from tests.endpoint_server import Answer, EndpointServer, Seen, error
from tests.rt4chart_collector.chain_app import assembled, run
from tests.rt4chart_collector.one_worker import OneWorker

SECOND = 1_000_000_000
RETURNS = Criterion("returns", RegexCheck(must_match=r"(?i)\b30 days\b"))
CITES = Criterion("cites", CitationCheck(), rate=0.5)
FEE = Criterion("fee", JudgedCheck("The answer mentions a fee."))
Make = Callable[..., OneWorker]


@dataclass
class Model:
    """A model that finds no fee, and can be away."""

    is_away: bool = False

    def __call__(self, seen: Seen) -> Answer:
        """The reply."""
        if self.is_away:
            return error(500, "down")
        return CriteriaOracle({"The answer mentions a fee.": FAIL})(seen)


@pytest.fixture
def model() -> Model:
    """The model behind the server."""
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[EndpointServer]:
    """Its endpoint."""
    with EndpointServer(model) as running:
        yield running


@pytest.fixture
def metrics() -> ServiceMetrics:
    """Nothing counted."""
    return ServiceMetrics()


@pytest.fixture
def worker(client: Client, metrics: ServiceMetrics, server: EndpointServer) -> Make:
    """Makes a worker with these criteria on the test's database."""
    clock = count(2_000_000_000 * SECOND, SECOND)

    def now() -> int:
        return next(clock)

    def make(*criteria: Criterion, sample_rate: float = 1.0) -> OneWorker:
        settings = JudgeSettings(base_url=server.base_url, model="m", retries=0)
        judge = build_criteria(Criteria(criteria), settings, shared_endpoint(settings))
        verifier = Verifier(RulesJudge())
        additions = verdict_additions(
            verifier, metrics, layers=Layers(), calls=60, clock=now, criteria=judge
        )
        return OneWorker(
            client,
            verifier,
            now,
            metrics=metrics,
            additions=additions,
            sample_rate=sample_rate,
        )

    return make


def stored(client: Client, spans: tuple[SpanRecord, ...]) -> list[CriterionRow]:
    """The verdicts of the criteria on the only answer of a trace."""
    (found,) = verifications_of_trace(client, spans[0].trace_id)
    return criteria_of(client, found)


def test_verdicts_of_criteria_are_stored_with_their_answer(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """Those of rules and of a model, with the probability of being judged."""
    spans = run()

    worker(RETURNS, FEE).handle([assembled(spans)])

    fee, returns = stored(client, spans)
    assert (returns.outcome, returns.reason, returns.judge) == (
        CriterionOutcome.PASS,
        "“30 days” matches must_match",
        "",
    )
    assert (fee.outcome, fee.reason, fee.judge) == (
        CriterionOutcome.FAIL,
        "It does not.",
        "criteria/m/1",
    )
    assert (fee.service, fee.route, fee.sample_rate) == ("shop", "research", 1.0)
    assert metrics.counts(CRITERION_VERDICTS)["fee", "fail"] == 1


def test_the_carrier_has_an_evaluation_for_each_criterion(client: Client, worker: Make) -> None:
    """For whoever reads the spans elsewhere; the cost of the answer has that of the model."""
    spans = run()

    worker(RETURNS, FEE).handle([assembled(spans)])

    ((found,),) = client.query(
        "SELECT SpanAttributes FROM otel_traces WHERE ScopeName = {scope:String}",
        {"scope": semconv.SCOPE_NAME},
    ).result_rows
    names = [(one["name"], one["outcome"]) for one in json.loads(found[semconv.CRITERIA])]
    assert names == [("returns", "pass"), ("fee", "fail")]
    assert found["evaluations.0.evaluation.name"] == "rt4chart.faithfulness"
    assert found["evaluations.1.evaluation.name"] == "returns"
    assert found["evaluations.2.evaluation.label"] == "fail"
    assert float(found["evaluations.2.evaluation.score"]) == 0.0
    assert found["evaluations.2.evaluation.annotator_kind"] == "LLM"
    (verification,) = verifications_of_trace(client, spans[0].trace_id)
    assert verification.cost.calls == 1


def test_an_answer_is_judged_once_across_restarts(
    client: Client, worker: Make, server: EndpointServer
) -> None:
    """A repeated trace is decided; after a crash before that, only the model's verdict is there."""
    spans = run()
    worker(RETURNS, FEE).handle([assembled(spans)])
    worker(RETURNS, FEE).handle([assembled(spans)])
    client.command("TRUNCATE TABLE rt4chart_verifications")

    worker(RETURNS, FEE).handle([assembled(spans)])

    assert len(server.chats) == 1
    assert [row.name for row in stored(client, spans)] == ["fee", "returns"]
    assert [one.of.decided for one in criteria_rates(client, QueryScope()).together] == [1, 1]


def test_an_undecided_criterion_is_judged_with_the_next_verdict(
    client: Client, worker: Make, model: Model
) -> None:
    """A model that was away has not judged the answer."""
    spans = run()
    model.is_away = True
    worker(FEE).handle([assembled(spans)])
    (before,) = stored(client, spans)
    client.command("TRUNCATE TABLE rt4chart_verifications")
    model.is_away = False

    worker(FEE).handle([assembled(spans)])

    (after,) = stored(client, spans)
    assert (before.outcome, after.outcome) == (CriterionOutcome.UNDECIDED, CriterionOutcome.FAIL)


def test_only_drawn_answers_are_judged(client: Client, worker: Make) -> None:
    """At the criterion's rate, of the answers that are verified."""
    requests = [run() for _ in range(60)]

    worker(CITES).handle([assembled(spans) for spans in requests])

    (found,) = criteria_rates(client, QueryScope()).together
    assert 15 < found.of.decided < 45
    assert found.of.failed == found.of.decided


def test_an_answer_outside_of_the_sample_is_not_judged(
    client: Client, worker: Make, server: EndpointServer
) -> None:
    """As it is not verified."""
    spans = run()

    worker(RETURNS, FEE, sample_rate=0.0).handle([assembled(spans)])

    assert stored(client, spans) == []
    assert server.chats == []


def test_criteria_that_break_lose_no_verdict(client: Client, metrics: ServiceMetrics) -> None:
    """Each says so, and the answer is verified."""

    class Broken(CriteriaJudge):
        def judge(self, *given: object) -> object:  # type: ignore[override]
            raise ZeroDivisionError

    broken = Broken(Criteria((RETURNS,)), None, Budget())
    verifier, now = Verifier(RulesJudge()), lambda: 2_000_000_000 * SECOND
    additions = verdict_additions(
        verifier, metrics, layers=Layers(), calls=60, clock=now, criteria=broken
    )
    spans = run()

    OneWorker(client, verifier, now, additions=additions).handle([assembled(spans)])

    (row,) = stored(client, spans)
    assert (row.outcome, row.reason) == (
        CriterionOutcome.UNDECIDED,
        "judging failed: ZeroDivisionError",
    )


def test_answers_are_found_by_the_criterion_that_they_fail(client: Client, worker: Make) -> None:
    """With the key `fails` of a filter."""
    worker(replace(RETURNS, name="weeks", check=RegexCheck(must_match="weeks")), RETURNS).handle(
        [assembled(run())]
    )

    def number(text: str) -> int:
        terms = parse_filter(text, ANSWER_KEYS)
        return len(answer_page(client, AnswerFilter(QueryScope(), terms=terms)).rows)

    assert [number(f"fails:{name}") for name in ("weeks", "returns", "none")] == [1, 0, 0]
    assert number("-fails:weeks") == 0
