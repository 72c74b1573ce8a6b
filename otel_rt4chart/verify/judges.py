"""Judges by name."""

from __future__ import annotations

from collections.abc import Callable

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.verify.judge import Judge
from otel_rt4chart.verify.local.judge import LocalJudge

JUDGES: dict[str, Callable[[], Judge]] = {"local": LocalJudge}


def build_judge(name: str) -> Judge:
    """The judge of that name; SettingsError names the known ones."""
    try:
        return JUDGES[name]()
    except KeyError:
        known = ", ".join(sorted(JUDGES))
        raise SettingsError(f"unknown judge {name!r}: expected one of {known}") from None
