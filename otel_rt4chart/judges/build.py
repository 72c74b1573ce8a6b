"""Builds judges and verifiers by name from the settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Literal

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.extras import missing_packages
from otel_rt4chart.core.guard import LOG
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.judges.embedded_models import LOCAL_EMBEDDER, build_embedder
from otel_rt4chart.judges.names import (
    ON_DISK,
    ONNX_PREFIX,
    SPANS_PREFIX,
    calls_model,
    is_on_disk,
    is_onnx,
)
from otel_rt4chart.judges.verdict_cache import FileCache
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import BatchJudge, Embedder, Judge
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.criteria.judged import CriteriaModel
from otel_rt4chart.verify.criteria.model import Criteria
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.openai_embedder import OpenAIEmbedder
from otel_rt4chart.verify.llm.openai_judge import OpenAIJudge
from otel_rt4chart.verify.llm.prices import PRICES, Price, parse_prices
from otel_rt4chart.verify.llm.single_judge import SingleJudge
from otel_rt4chart.verify.llm.spending import MemoryLedger, SharedBudget, Unit
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.neural.local_judge import LocalJudge, local_judge_id
from otel_rt4chart.verify.neural.onnx_judge import OnnxJudge
from otel_rt4chart.verify.neural.onnx_spans_judge import OnnxSpansJudge
from otel_rt4chart.verify.pipeline import Verifier
from otel_rt4chart.verify.stages.options import PipelineStep


def settings_for_judge(name: str, model: str | None, *, exhaustive: bool = False) -> JudgeSettings:
    """The judge settings of the environment, with those of `--model` and `--exhaustive`."""
    settings = load(JudgeSettings)
    if exhaustive:
        settings = replace(settings, exhaustive=True)
    if model is None:
        return settings
    if not calls_model(name):
        raise SettingsError(
            f"--model: expected a judge that calls a model, got {name}: choose one with --judge"
        )
    return replace(settings, model=model)


def build_judge(name: str, settings: JudgeSettings | None = None) -> Judge | BatchJudge:
    """The judge of that name; SettingsError for an unknown name or an incomplete endpoint.

    Its connections and the file of its cache stay open until the process ends.
    """
    judge_settings = settings or load(JudgeSettings)
    return _build_judge_named(name, judge_settings, cache(lambda: build_endpoint(judge_settings)))


def judge_id(name: str, settings: JudgeSettings | None = None) -> str:
    """The id of the judge of that name; the embedded models are not opened for it."""
    if name == "local" and not missing_packages("local"):
        return local_judge_id()
    return build_judge(name, settings).id


def build_verifier(
    name: str,
    settings: JudgeSettings | None = None,
    *,
    clock: Callable[[], int] | None = None,
    left_out: Collection[PipelineStep] = (),
    endpoint: Callable[[], Endpoint] | None = None,
) -> Verifier:
    """A verifier with the judge of that name, its budget and the configured embedding model.

    Judge and embeddings share one endpoint with its limits on concurrency and on spending per
    minute. The embedded encoder needs no endpoint. `left_out` are steps to measure it without.
    `endpoint` is that of `shared_endpoint`, where others share it too.
    """
    judge_settings = settings or load(JudgeSettings)
    endpoint = endpoint or shared_endpoint(judge_settings)
    judge = _build_judge_named(name, judge_settings, endpoint)
    return Verifier(
        judge,
        embedder=_build_embedder(judge_settings, endpoint),
        budget=budget_per_answer(judge_settings),
        cherry_pick_threshold=judge_settings.cherry_pick_threshold,
        clock=clock,
        window=judge_settings.window,
        overlap=judge_settings.overlap,
        exhaustive=judge_settings.exhaustive,
        left_out=left_out,
    )


def shared_endpoint(
    settings: JudgeSettings, budget: SharedBudget | None = None
) -> Callable[[], Endpoint]:
    """The endpoint of the settings, built at most once, and only if somebody needs it.

    So that all share its limits, and a local judge starts without a key. `budget` is that of
    `build_budget`, where its ledger is to be another than this process's own.
    """
    return cache(lambda: build_endpoint(settings, budget))


def build_budget(settings: JudgeSettings) -> SharedBudget:
    """The budgets of hours and days, with a ledger of this process alone.

    SettingsError for one in US dollars where a model has no known price.
    """
    prices = known_prices(settings)
    models = {settings.model, settings.embedding_model} - {"", LOCAL_EMBEDDER}
    unknown = sorted(models - prices.keys())
    if unknown and any(limit.unit is Unit.USD for limit in settings.budget):
        raise SettingsError(
            f"RT4CHART_JUDGE_BUDGET: expected a price of {', '.join(unknown)} for a budget in usd, "
            "got none; set it in RT4CHART_JUDGE_PRICES, or limit calls or tokens"
        )
    return SharedBudget(settings.budget, MemoryLedger(), time.time_ns, Lock(), prices)


def build_criteria(
    criteria: Criteria, settings: JudgeSettings, endpoint: Callable[[], Endpoint]
) -> CriteriaJudge | None:
    """What judges answers by these criteria; None without one.

    The judged ones are asked at the judge's endpoint. SettingsError names one that has none.
    """
    if not criteria:
        return None
    model = None
    if criteria.judged:
        try:
            asked = endpoint()
        except SettingsError as error:
            raise SettingsError(
                f"RT4CHART_CRITERIA: {criteria.judged[0].name} is judged by a model: expected an "
                f"endpoint, got none that can be used: {error}"
            ) from error
        model = CriteriaModel(
            asked,
            votes=settings.votes,
            cache=_build_cache(settings),
            prices=known_prices(settings),
            input_limit=settings.input_limit,
        )
    return CriteriaJudge(criteria, model, budget_per_answer(settings))


def budget_per_answer(settings: JudgeSettings) -> Budget:
    """The most that one answer may cost."""
    return Budget(
        calls=settings.calls_per_answer,
        tokens=settings.tokens_per_answer,
        question_characters=settings.question_characters,
        answer_characters=settings.answer_characters,
        passage_characters=settings.passage_characters,
        passages=settings.passages_per_answer,
        sentences=settings.sentences_per_answer,
        claims=settings.claims_per_answer,
        comparisons=settings.comparisons_per_answer,
        model_comparisons=settings.model_comparisons_per_answer,
        seconds=settings.seconds_per_answer,
    )


def build_endpoint(settings: JudgeSettings, budget: SharedBudget | None = None) -> Endpoint:
    """The endpoint of the settings, with this budget or one of this process alone."""
    return Endpoint(
        settings.model,
        base_url=settings.base_url or None,
        api_key=settings.api_key or None,
        timeout_s=settings.timeout_s,
        max_retries=settings.retries,
        concurrency=settings.concurrency,
        per_minute=Budget(settings.calls_per_minute, settings.tokens_per_minute),
        budget=budget or build_budget(settings),
    )


def _build_embedder(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> Embedder | None:
    model = settings.embedding_model
    if model == LOCAL_EMBEDDER:
        return build_embedder(settings.onnx_threads)
    return OpenAIEmbedder(endpoint(), model=model, prices=known_prices(settings)) if model else None


def _build_judge_named(
    name: str, settings: JudgeSettings, endpoint: Callable[[], Endpoint]
) -> Judge | BatchJudge:
    if is_onnx(check_judge_name(name)):
        return _build_onnx(name, settings)
    if is_on_disk(name):
        return _build_spans(name, settings)
    return JUDGES[name](settings, endpoint)


def check_judge_name(name: object, *, also: Sequence[str] = ()) -> str:
    """Return the name if a judge has it; nothing is built. The error tells the names `also`."""
    if not isinstance(name, str) or (name not in JUDGES and not is_on_disk(name)):
        raise SettingsError(
            f"unknown judge {name!r}: expected one of "
            f"{', '.join([*sorted(JUDGES), *also])}, {ON_DISK}"
        )
    return name


def _build_onnx(name: str, settings: JudgeSettings) -> OnnxJudge:
    return OnnxJudge(
        Path(name.removeprefix(ONNX_PREFIX)).expanduser(),
        labels=settings.onnx_labels,
        threads=settings.onnx_threads,
        threshold=settings.onnx_threshold,
    )


def _build_spans(name: str, settings: JudgeSettings) -> OnnxSpansJudge:
    return OnnxSpansJudge(
        Path(name.removeprefix(SPANS_PREFIX)).expanduser(),
        labels=settings.onnx_labels,
        threads=settings.onnx_threads,
        threshold=settings.onnx_threshold,
    )


def _build_local(
    settings: JudgeSettings, endpoint: Callable[[], Endpoint]
) -> LocalJudge | RulesJudge:
    return _build_in_process("local", settings)


def _build_rules(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> RulesJudge:
    return RulesJudge()


def _build_in_process(name: str, settings: JudgeSettings) -> LocalJudge | RulesJudge:
    """The embedded judge; the rules judge, with its own id, if the models are not installed."""
    if name == "rules":
        return RulesJudge()
    if missing := missing_packages("local"):
        LOG.warning(
            "using the rules judge instead of %s: the package %s is not installed; "
            "pip install ./otel-rt4chart/models './otel-rt4chart[local]'",
            name,
            ", ".join(missing),
        )
        return RulesJudge()
    return LocalJudge(threads=settings.onnx_threads)


def _build_openai(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> OpenAIJudge:
    decomposition: Literal["sentence", "holistic"] = (
        "holistic" if settings.decomposition == "holistic" else "sentence"
    )
    return OpenAIJudge(
        endpoint(),
        votes=settings.votes,
        decomposition=decomposition,
        labels=_labels(settings),
        cache=_build_cache(settings),
        prices=known_prices(settings),
        input_limit=settings.input_limit,
    )


def _build_single(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> SingleJudge:
    return SingleJudge(
        endpoint(),
        votes=settings.votes,
        form="card" if settings.form == "card" else "sentences",
        labels=_labels(settings),
        cache=_build_cache(settings),
        prices=known_prices(settings),
        input_limit=settings.input_limit,
    )


def _labels(settings: JudgeSettings) -> Literal["three", "two"]:
    return "two" if settings.labels == "two" else "three"


def _build_cascade(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> CascadeJudge:
    name = settings.cascade_first
    first = _build_onnx(name, settings) if is_onnx(name) else _build_in_process(name, settings)
    second = (
        _build_onnx(settings.cascade_second, settings)
        if is_onnx(settings.cascade_second)
        else _build_openai(settings, endpoint)
    )
    return CascadeJudge(first, second, settings.cascade_threshold)


def _build_cache(settings: JudgeSettings) -> Cache | None:
    return FileCache(settings.cache) if settings.cache else None


def known_prices(settings: JudgeSettings) -> Mapping[str, Price]:
    """The prices of models, with those of the settings."""
    return {**PRICES, **parse_prices(settings.prices)}


JUDGES: dict[str, Callable[[JudgeSettings, Callable[[], Endpoint]], Judge | BatchJudge]] = {
    "local": _build_local,
    "rules": _build_rules,
    "openai": _build_openai,
    "single": _build_single,
    "cascade": _build_cascade,
}
