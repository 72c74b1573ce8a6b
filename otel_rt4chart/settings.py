"""The application side's settings: read once from the environment, then passed on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.sampling import checked_rate

MODES = ("mark",)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; each field knows its variable and what it is for."""

    mode: str = field(
        default="mark",
        metadata={"name": "RT4CHART_MODE", "help": "mark: decide, mark the spans, and no more"},
    )
    sample_rate: float = field(
        default=1.0,
        metadata={"name": "RT4CHART_SAMPLE_RATE", "help": "share of traces to verify, 0 to 1"},
    )
    salt: str = field(
        default="",
        metadata={"name": "RT4CHART_SALT", "help": "draws another sample at the same rate"},
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.mode not in MODES:
            raise SettingsError(f"mode: expected one of {', '.join(MODES)}, got {self.mode!r}")
        checked_rate(self.sample_rate)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        given = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for one in fields(cls):
            name = one.metadata["name"]
            # OpenTelemetry's rule: an empty variable is one that is not set.
            if given.get(name, "").strip():
                values[one.name] = _converted(name, given[name], type(one.default))
        try:
            return cls(**values)
        except SettingsError as error:
            named = ", ".join(f.metadata["name"] for f in fields(cls) if f.name in values)
            raise SettingsError(f"{error} (set: {named})") from error


def _converted(name: str, text: str, kind: type) -> object:
    try:
        return kind(text.strip())
    except ValueError as error:
        raise SettingsError(f"{name}: expected a {kind.__name__}, got {text!r}") from error
