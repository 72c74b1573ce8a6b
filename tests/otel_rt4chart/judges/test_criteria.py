from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.build import build_criteria, shared_endpoint
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify import Budget, Exchange, Passage, Report, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Usage
from otel_rt4chart.verify.criteria.model import (
    KNOWN,
    CitationCheck,
    Criteria,
    Criterion,
    CriterionOutcome,
    JudgedCheck,
    RegexCheck,
)
from tests.criteria_model import FAIL, CriteriaOracle
from tests.endpoint_server import EndpointServer

EXCHANGE = Exchange("How long?", [Passage("p1", "It lasts 14 days.")], "It lasts 14 days [1].")
CITES = Criterion("cites", CitationCheck())
SHORT = Criterion("short", JudgedCheck("The answer is short.", reads_passages=False))


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    """A model for which no answer is short."""
    with EndpointServer(CriteriaOracle({"The answer is short.": FAIL})) as running:
        yield running


def built(server: EndpointServer, *criteria: Criterion, model: str = "m") -> CriteriaJudge:
    """A judge with these criteria at the server."""
    settings = JudgeSettings(base_url=server.base_url, model=model)
    found = build_criteria(Criteria(criteria), settings, shared_endpoint(settings))
    assert found is not None
    return found


def report(exchange: Exchange = EXCHANGE) -> Report:
    """What the rules say of it."""
    return Verifier(RulesJudge()).verify(exchange)


def test_rules_and_models_judge_one_answer(server: EndpointServer) -> None:
    """In the order of the file, each with its version and its judge."""
    judge = built(server, SHORT, CITES)

    (short, cites), usage = judge.judge((SHORT, CITES), EXCHANGE, report())

    assert (short.name, short.outcome, short.judge) == (
        "short",
        CriterionOutcome.FAIL,
        "criteria/m/1",
    )
    assert (cites.name, cites.outcome, cites.judge) == ("cites", CriterionOutcome.PASS, "")
    assert (short.version, cites.version) == tuple(judge.versions.values())
    assert usage.calls == 1


def test_criteria_without_a_model_need_no_endpoint() -> None:
    """Nothing is sent anywhere."""
    settings = JudgeSettings()

    judge = build_criteria(Criteria((CITES,)), settings, shared_endpoint(settings))

    assert judge is not None
    assert not judge.is_remote
    assert judge.judge((CITES,), EXCHANGE, report())[1] == Usage()


def test_a_judged_criterion_without_an_endpoint_stops_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With its name, and what to set."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    settings = JudgeSettings()

    with pytest.raises(SettingsError, match=r"RT4CHART_CRITERIA: short .* set OPENAI_API_KEY"):
        build_criteria(Criteria((CITES, SHORT)), settings, shared_endpoint(settings))


def test_no_criteria_are_no_judge() -> None:
    """And no endpoint is built."""
    settings = JudgeSettings()

    assert build_criteria(Criteria(), settings, shared_endpoint(settings)) is None


def test_a_question_that_does_not_match_costs_no_call(server: EndpointServer) -> None:
    """The condition is looked at first."""
    criterion = replace(SHORT, when_question="refund")

    (found,), usage = built(server, criterion).judge((criterion,), EXCHANGE, report())

    assert found.outcome is CriterionOutcome.NOT_APPLICABLE
    assert usage.calls == len(server.chats) == 0


def test_the_budget_of_an_answer_is_shared(server: EndpointServer) -> None:
    """What its verification has spent is no longer there."""
    settings = JudgeSettings(base_url=server.base_url, model="m", calls_per_answer=3)
    judge = build_criteria(Criteria((SHORT,)), settings, shared_endpoint(settings))
    assert judge is not None
    spent = replace(report(), usage=Usage(calls=3))

    (found,), _ = judge.judge((SHORT,), EXCHANGE, spent)

    assert (found.outcome, found.reason) == (
        CriterionOutcome.UNDECIDED,
        "over_budget: 0 calls an answer",
    )


def test_a_lower_rate_draws_some_of_the_same_answers() -> None:
    """So that a model is asked about both in one call; a route has its own criteria."""
    often = Criterion("often", CitationCheck(), rate=0.5)
    seldom = Criterion("seldom", CitationCheck(), rate=0.1)
    routed = Criterion("routed", CitationCheck(), routes=("support/*", "pay"))
    judge = CriteriaJudge(Criteria((often, seldom, routed)), None, Budget())
    traces = [f"{n:032x}" for n in range(2_000)]

    drawn = [{one.name for one in judge.drawn(trace, "chat")} for trace in traces]

    assert 0.45 < sum("often" in one for one in drawn) / 2_000 < 0.55
    assert 0.07 < sum("seldom" in one for one in drawn) / 2_000 < 0.13
    assert all("often" in one for one in drawn if "seldom" in one)
    assert not any("routed" in one for one in drawn)
    assert "routed" in {one.name for one in judge.drawn(traces[0], "support/refunds")}
    assert "routed" in {one.name for one in judge.drawn(traces[0], "pay")}
    assert [one.name for one in judge.of_route("chat")] == ["often", "seldom"]
    assert len(judge.of_route(None)) == 3


def test_a_version_is_that_of_definition_and_judge() -> None:
    """Rate and routes only choose the answers; of a rule, the model is nobody's business."""
    other = replace(SHORT, check=JudgedCheck("The answer is brief.", reads_passages=False))

    assert SHORT.version("m") == replace(SHORT, rate=0.1, routes=("a",)).version("m")
    assert SHORT.version("m") != SHORT.version("n")
    assert SHORT.version("m") != other.version("m")
    assert SHORT.version("m") != replace(SHORT, when_question="a").version("m")
    assert CITES.version("m") == CITES.version("n")
    must, must_not = RegexCheck("a"), RegexCheck("", "a")
    assert Criterion("a", must).version("") != Criterion("a", must_not).version("")
    assert len({Criterion("a", check).version("") for check in KNOWN.values()}) == len(KNOWN)
