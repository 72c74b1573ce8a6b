"""Which judges this installation can run, and what one that it cannot run lacks."""

from __future__ import annotations

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.extras import missing_packages
from otel_rt4chart.judges.names import JUDGE_NAMES, is_on_disk, is_onnx
from otel_rt4chart.settings.application import JudgeSettings

LOCAL, RULES, CASCADE = "local", "rules", "cascade"


def configured_judges(settings: JudgeSettings, used: str = "") -> tuple[str, ...]:
    """The names of the judges that can run here, the one in use first.

    Those behind an endpoint need a key or an address in the settings. A model on disk is one of
    them only if it is in use.
    """
    found = [name for name in JUDGE_NAMES if not missing_for(name, settings)]
    if used in found or is_on_disk(used):
        return tuple(dict.fromkeys((used, *found)))
    return tuple(found)


def missing_for(name: str, settings: JudgeSettings) -> str:
    """What the judge of that name needs and lacks, with what to do; "" if it can run."""
    if name == RULES:
        return ""
    if name == LOCAL or is_on_disk(name):
        return _missing_models() if name == LOCAL else ""
    if name == CASCADE and is_onnx(settings.cascade_second):
        return ""
    return missing_endpoint(settings)


def missing_endpoint(settings: JudgeSettings) -> str:
    """What a judge behind an endpoint lacks; "" if it can run."""
    if missing_packages("openai"):
        return "its client is not installed: pip install 'otel-rt4chart[openai]', or --judge rules"
    if not (settings.api_key or settings.base_url):
        return "it has no endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL, or use --judge rules"
    return ""


def check_installed(name: str, settings: JudgeSettings) -> str:
    """Return the name of a judge that can run; SettingsError says what another one lacks."""
    if missing := missing_for(name, settings):
        raise SettingsError(f"--judge {name}: {missing}")
    return name


def _missing_models() -> str:
    if missing := missing_packages(LOCAL):
        return (
            f"{', '.join(missing)} is not installed: pip install ./models '.[local]' in a "
            "checkout, or --judge rules"
        )
    return ""
