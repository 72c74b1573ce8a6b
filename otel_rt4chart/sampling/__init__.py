"""Which answers of the live traffic are verified, and with which weight each one counts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_rt4chart.sampling.forcing import force
    from otel_rt4chart.sampling.policy import Policy, Risk, checked_rate, is_sampled, position
    from otel_rt4chart.sampling.sampler import Choice, Sampler
    from otel_rt4chart.sampling.signals import Signals, signals_of

__all__ = [
    "Choice",
    "Policy",
    "Risk",
    "Sampler",
    "Signals",
    "checked_rate",
    "force",
    "is_sampled",
    "position",
    "signals_of",
]

# Loaded when they are asked for: the settings need the policy alone, the rules need the verifier.
_HOME = {
    "Choice": "sampler",
    "Policy": "policy",
    "Risk": "policy",
    "Sampler": "sampler",
    "Signals": "signals",
    "checked_rate": "policy",
    "force": "forcing",
    "is_sampled": "policy",
    "position": "policy",
    "signals_of": "signals",
}


def __getattr__(name: str) -> object:
    """The public names (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
