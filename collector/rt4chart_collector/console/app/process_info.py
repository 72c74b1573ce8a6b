"""Settings and status of the process that serves the console."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from otel_rt4chart.core.settings import SettingInForce


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """`settings` are those of this process; `status` returns its pipeline's figures, if any.

    `judge` is the name of the judge in use.
    """

    settings: tuple[SettingInForce, ...] = ()
    status: Callable[[], Mapping[str, object]] | None = None
    database: str = ""
    judge: str = ""
