"""Builds the rivals by name from the settings."""

from __future__ import annotations

from otel_rt4chart.bench.rivals.asking import Asker, version
from otel_rt4chart.bench.rivals.heuristic import Heuristic
from otel_rt4chart.bench.rivals.metaqa import MetaQA
from otel_rt4chart.bench.rivals.packages import deepeval, ragas
from otel_rt4chart.bench.rivals.selfcheck import (
    SelfCheck,
    compare_by_inference,
    compare_by_prompt,
)
from otel_rt4chart.bench.rivals.verdict import Rival
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.extras import missing_packages
from otel_rt4chart.judges.build import budget_per_answer, build_endpoint, known_prices
from otel_rt4chart.judges.choice import missing_endpoint
from otel_rt4chart.judges.names import RIVAL_NAMES
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.neural.cross_encoder import CrossEncoder
from otel_rt4chart.verify.neural.model_folder import model_folder


def is_rival(name: str) -> bool:
    """True for the name of a rival."""
    return name in RIVAL_NAMES


def build_rival(name: str, settings: JudgeSettings) -> Rival:
    """The rival of that name; SettingsError says which package, model or endpoint it lacks."""
    if name == "heuristic":
        return Heuristic()
    if missing := missing_endpoint(settings):
        raise SettingsError(f"--judge {name}: {missing}")
    asker = Asker(build_endpoint(settings), known_prices(settings))
    budget = budget_per_answer(settings)
    match name:
        case "selfcheck-prompt":
            variant = f"selfcheck-prompt{version('consistent')}"
            return SelfCheck(asker, compare_by_prompt(asker), variant, budget)
        case "selfcheck-nli":
            network = _network()
            variant = f"selfcheck-nli-{network.id}"
            return SelfCheck(asker, compare_by_inference(network), variant, budget)
        case "metaqa":
            return MetaQA(asker, budget)
        case "ragas":
            return ragas(asker, budget)
        case "deepeval":
            return deepeval(asker, budget)
    raise SettingsError(f"unknown judge {name!r}: expected one of {', '.join(RIVAL_NAMES)}")


def _network() -> CrossEncoder:
    if missing := missing_packages("local"):
        raise SettingsError(
            f"--judge selfcheck-nli: {', '.join(missing)} is not installed: pip install ./models "
            "'.[local]' in a checkout, or --judge selfcheck-prompt"
        )
    return CrossEncoder(model_folder())
