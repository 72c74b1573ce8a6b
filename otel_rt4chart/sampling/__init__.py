"""Chooses the answers to verify and their weights."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_rt4chart.sampling.layers import Layers
    from otel_rt4chart.sampling.policy import Policy, Risk, checked_rate, is_sampled, position
    from otel_rt4chart.sampling.sampler import Choice, Sampler
    from otel_rt4chart.sampling.signals import Signals, force, signals_of

__all__ = [
    "Choice",
    "Layers",
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

# Loaded on first access: the settings only need the policy, but the rules import the verifier.
_HOME = {
    "Choice": "sampler",
    "Layers": "layers",
    "Policy": "policy",
    "Risk": "policy",
    "Sampler": "sampler",
    "Signals": "signals",
    "checked_rate": "policy",
    "force": "signals",
    "is_sampled": "policy",
    "position": "policy",
    "signals_of": "signals",
}


def __getattr__(name: str) -> object:
    """Load a public name on first access (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
