"""Where a trace lies in [0, 1), and so whether a rate takes it: the same in every process."""

from __future__ import annotations

import hashlib

from otel_rt4chart.errors import SettingsError

_BITS = 53  # what a float holds exactly, so that the comparison rounds nothing


def is_sampled(trace_id: str, rate: float, salt: str = "") -> bool:
    """True for the share `rate` of all trace ids; what is sampled at 0.1 is sampled at 0.5 too.

    Another `salt` draws another sample. Raises `SettingsError` for a rate outside [0, 1].
    """
    return position(trace_id, salt) < checked_rate(rate)


def position(trace_id: str, salt: str = "") -> float:
    """Where the trace lies in [0, 1): uniform over trace ids, fixed for each of them."""
    digest = hashlib.sha256((salt + trace_id).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / (1 << _BITS)


def checked_rate(rate: object) -> float:
    """The rate itself; `SettingsError` for what is no probability (NaN too)."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise SettingsError(f"sample_rate: expected a number from 0 to 1, got {rate!r}")
    return float(rate)
