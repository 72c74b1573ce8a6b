"""Judges by name, and the verifier around them, as the settings ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.settings import JudgeSettings
from otel_rt4chart.verdict_cache import FileCache
from otel_rt4chart.verify.cascade import CascadeJudge
from otel_rt4chart.verify.judge import BatchJudge, Judge
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.embedder import OpenAIEmbedder
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.judge import OpenAIJudge
from otel_rt4chart.verify.llm.prices import PRICES, parse_prices
from otel_rt4chart.verify.llm.single import SingleJudge
from otel_rt4chart.verify.local.judge import LocalJudge
from otel_rt4chart.verify.meter import Budget
from otel_rt4chart.verify.pipeline import Verifier


def build_judge(name: str, settings: JudgeSettings | None = None) -> Judge | BatchJudge:
    """The judge of that name; SettingsError names the known ones, or what an endpoint lacks."""
    if name not in JUDGES:
        raise SettingsError(f"unknown judge {name!r}: expected one of {', '.join(sorted(JUDGES))}")
    return JUDGES[name](settings or JudgeSettings.from_environment())


def build_verifier(
    name: str,
    settings: JudgeSettings | None = None,
    *,
    clock: Callable[[], int] | None = None,
) -> Verifier:
    """A verifier with that judge, its budget and, where a model is named, links by meaning."""
    given = settings or JudgeSettings.from_environment()
    embedder = None
    if given.embedding_model:
        embedder = OpenAIEmbedder(build_endpoint(given, given.embedding_model))
    return Verifier(
        build_judge(name, given),
        embedder=embedder,
        budget=_budget(given.calls_per_answer, given.tokens_per_answer),
        clock=clock,
    )


def build_endpoint(settings: JudgeSettings, model: str = "") -> Endpoint:
    """The endpoint that the settings name."""
    return Endpoint(
        model or settings.model,
        base_url=settings.base_url or None,
        api_key=settings.api_key or None,
        timeout_s=settings.timeout_s,
        max_retries=settings.retries,
        concurrency=settings.concurrency,
        per_minute=_budget(settings.calls_per_minute, settings.tokens_per_minute),
    )


def _openai(settings: JudgeSettings) -> OpenAIJudge:
    decomposition: Literal["sentence", "holistic"] = (
        "holistic" if settings.decomposition == "holistic" else "sentence"
    )
    return OpenAIJudge(
        build_endpoint(settings),
        votes=settings.votes,
        decomposition=decomposition,
        cache=_cache(settings),
        prices={**PRICES, **parse_prices(settings.prices)},
        input_limit=settings.input_limit,
    )


def _single(settings: JudgeSettings) -> SingleJudge:
    return SingleJudge(
        build_endpoint(settings),
        cache=_cache(settings),
        prices={**PRICES, **parse_prices(settings.prices)},
        input_limit=settings.input_limit,
    )


def _cascade(settings: JudgeSettings) -> CascadeJudge:
    return CascadeJudge(LocalJudge(), _openai(settings), settings.cascade_threshold)


def _cache(settings: JudgeSettings) -> Cache | None:
    return FileCache(settings.cache) if settings.cache else None


def _budget(calls: int, tokens: int) -> Budget:
    return Budget(calls or None, tokens or None)


JUDGES: dict[str, Callable[[JudgeSettings], Judge | BatchJudge]] = {
    "local": lambda settings: LocalJudge(),
    "openai": _openai,
    "single": _single,
    "cascade": _cascade,
}
