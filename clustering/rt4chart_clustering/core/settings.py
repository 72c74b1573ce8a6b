"""The batch side's settings, from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_collector.store.engine.dsn import default_dsn

EMBEDDERS = ("hashing", "local")
MARKS = ("none", "local")
DISTILLERS = ("none", "llm")


def dsn(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_DSN, else the embedded database in the user's data folder."""
    return environ.get("RT4CHART_DSN") or default_dsn(environ)


def embedder(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_EMBEDDER: what lays failures beside each other, by words or by meaning."""
    return _one_of("RT4CHART_EMBEDDER", EMBEDDERS, environ)


def marks(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_MARKS: what marks the wrong words of claims whose judge marked none."""
    return _one_of("RT4CHART_MARKS", MARKS, environ)


def distill(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_DISTILL: what writes phrases and names; llm is the judge's endpoint and model."""
    return _one_of("RT4CHART_DISTILL", DISTILLERS, environ)


def check(environ: Mapping[str, str] = os.environ) -> None:
    """Raise the SettingsError of a variable that grouping would stumble over later."""
    embedder(environ)
    marks(environ)
    if distill(environ) == "llm":
        JudgeSettings.from_environment(environ)


def _one_of(name: str, known: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """The variable's value, the first of the known ones where it is not set."""
    value = environ.get(name, "").strip() or known[0]
    if value not in known:
        raise SettingsError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
    return value
