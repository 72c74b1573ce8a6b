from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.build import (
    JUDGES,
    build_judge,
    build_verifier,
    judge_id,
    settings_for_judge,
)
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.testing import ScriptedJudge
from otel_rt4chart.verify import Exchange, Passage, Verifier
from otel_rt4chart.verify.llm.spending import parse_budgets
from tests.endpoint_server import EndpointServer
from tests.oracle import Oracle, Truth

POOL = Exchange("", [Passage("p", "The pool is heated.")], "The pool is warm.")


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    """A model that finds the pool warm."""
    with EndpointServer(Oracle({"The pool is warm.": Truth("entailed", ("heated",))})) as running:
        yield running


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_every_judge_is_built_from_its_settings(name: str, server: EndpointServer) -> None:
    """By name, and its id names it."""
    settings = JudgeSettings(base_url=server.base_url, model="m", cascade_threshold=0.9)

    judge = build_judge(name, settings)

    assert judge.id.startswith(name)


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_a_judge_says_whether_it_sends_texts_away(name: str, server: EndpointServer) -> None:
    """And so does the verifier around it, which embeddings from an endpoint make remote too."""
    settings = JudgeSettings(base_url=server.base_url, model="m")

    verifier = build_verifier(name, settings)

    assert verifier.is_remote is (name not in ("local", "rules"))
    assert build_verifier(name, replace(settings, embedding_model="m")).is_remote
    assert build_verifier("rules", replace(settings, embedding_model="local")).is_remote is False


@pytest.mark.parametrize("name", ["local", "rules"])
def test_a_judge_s_id_is_known_without_opening_its_models(name: str) -> None:
    """The same as that of the judge itself."""
    assert judge_id(name) == build_judge(name).id


def test_a_judge_that_does_not_say_is_remote() -> None:
    """Anybody may bring one: what it does with the texts is not known."""

    class Silent(ScriptedJudge):
        is_remote: ClassVar[object] = None  # type: ignore[assignment]

    assert Verifier(Silent({})).is_remote
    assert not Verifier(ScriptedJudge({})).is_remote


def test_settings_reach_the_endpoint(server: EndpointServer, tmp_path: Path) -> None:
    """Model, prices, cache and embeddings are what the variables say."""
    settings = load(
        JudgeSettings,
        environ={
            "OPENAI_BASE_URL": server.base_url,
            "RT4CHART_JUDGE_MODEL": "mine",
            "RT4CHART_JUDGE_PRICES": "mine=1/1/1, small=1/1/0",
            "RT4CHART_JUDGE_CACHE": str(tmp_path / "verdicts.db"),
            "RT4CHART_EMBEDDING_MODEL": "small",
            "RT4CHART_JUDGE_CALLS_PER_ANSWER": "3",
        },
    )

    first = build_verifier("openai", settings).verify(POOL)
    second = build_verifier("openai", settings, clock=lambda: 0).verify(POOL)

    tokens = first.usage.input_tokens + first.usage.output_tokens
    assert first.usage.cost_usd == pytest.approx(tokens / 1e6)
    assert {one.body["model"] for one in server.chats} == {"mine"}
    assert {one.body["model"] for one in server.seen if "input" in one.body} == {"small"}
    assert (second.usage.calls, second.usage.cache_hits, second.usage.milliseconds) == (1, 2, 0.0)


def test_a_model_without_a_price_has_no_cost(server: EndpointServer) -> None:
    """It is not free, it is not known."""
    settings = JudgeSettings(base_url=server.base_url, model="unheard-of")

    assert build_verifier("openai", settings).verify(POOL).usage.cost_usd is None


def test_a_budget_in_dollars_needs_a_price(server: EndpointServer) -> None:
    """Calls of an unknown price would not be bounded by it."""
    settings = JudgeSettings(
        base_url=server.base_url, model="unheard-of", budget=parse_budgets("5usd/day")
    )

    with pytest.raises(SettingsError, match="RT4CHART_JUDGE_BUDGET: expected a price of unheard"):
        build_judge("openai", settings)


def test_a_budget_bounds_the_calls_of_a_process(server: EndpointServer) -> None:
    """Also where no store shares it, as in the application."""
    settings = JudgeSettings(base_url=server.base_url, budget=parse_budgets("1calls/day"))
    verifier = build_verifier("openai", settings)

    first, second = verifier.verify(POOL), verifier.verify(POOL)

    assert first.usage.calls + second.usage.calls == 1
    assert second.claims[0].reason == "over_budget: 1 calls a day"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("RT4CHART_JUDGE_VOTES", "two", "expected 1 or an odd number from 3 to 99; got 'two'"),
        ("RT4CHART_JUDGE_VOTES", "2", "expected 1 or an odd number from 3 to 99; got '2'"),
        ("RT4CHART_JUDGE_VOTES", "-1", "expected 1 or an odd number from 3 to 99; got '-1'"),
        ("RT4CHART_JUDGE_RETRIES", "-1", "expected a number from 0 to 100; got '-1'"),
        ("RT4CHART_JUDGE_CONCURRENCY", "0", "expected a number from 1 to 1000; got '0'"),
        ("RT4CHART_JUDGE_TIMEOUT_S", "0", "expected more than 0 and at most 86400; got '0'"),
        ("RT4CHART_JUDGE_TIMEOUT_S", "nan", "expected more than 0 and at most 86400; got 'nan'"),
        ("RT4CHART_JUDGE_INPUT_LIMIT", "100", "expected 200 or more; got '100'"),
        ("RT4CHART_JUDGE_CALLS_PER_ANSWER", "0", "expected an integer of 1 or more; got '0'$"),
        ("RT4CHART_JUDGE_TOKENS_PER_MINUTE", "-1", "expected an integer of 1 or more; got '-1'$"),
        ("RT4CHART_JUDGE_DECOMPOSITION", "both", "expected sentence or holistic; got 'both'"),
        ("RT4CHART_JUDGE_BUDGET", "5eur/day", "expected NUMBER calls, .* got '5eur/day'"),
        ("RT4CHART_JUDGE_PRICES", "x", "expected MODEL=INPUT/CACHED/OUTPUT .* got 'x'"),
        ("RT4CHART_CASCADE_THRESHOLD", "1.5", "expected a number from 0 to 1; got '1.5'"),
        ("OPENAI_BASE_URL", "localhost:1", "expected an address .* got 'localhost:1'"),
    ],
)
def test_a_wrong_setting_names_its_variable(name: str, value: str, told: str) -> None:
    """What was expected, and what came."""
    with pytest.raises(SettingsError, match=f"{name}: {told}"):
        build_judge("cascade", load(JudgeSettings, environ={"OPENAI_API_KEY": "k", name: value}))


def test_the_key_is_not_shown_with_the_settings() -> None:
    """A settings value may end up in a log; an address may hold a password."""
    shown = repr(JudgeSettings(api_key="sk-1", base_url="http://user:hunter2@host/v1"))

    assert "sk-1" not in shown
    assert "hunter2" not in shown


def test_judge_and_embeddings_share_what_a_minute_may_cost(server: EndpointServer) -> None:
    """One budget for one endpoint."""
    settings = JudgeSettings(
        base_url=server.base_url, model="m", embedding_model="small", calls_per_minute=2
    )

    report = build_verifier("openai", settings).verify(POOL)

    assert report.usage.calls == len(server.seen) == 2
    assert report.claims[0].reason == "over_budget: 2 calls a minute"


def test_a_model_may_be_named_beside_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a command's option, which wins; the local judge has none."""
    monkeypatch.setenv("RT4CHART_JUDGE_MODEL", "from the environment")

    assert settings_for_judge("openai", None).model == "from the environment"
    assert settings_for_judge("openai", "mine").model == "mine"
    with pytest.raises(
        SettingsError, match="--model: expected a judge that calls a model, got local"
    ):
        settings_for_judge("local", "mine")
