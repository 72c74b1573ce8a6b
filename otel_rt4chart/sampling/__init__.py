"""Chooses the answers to verify and their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_rt4chart.core.lazy import lazy_names

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
    "Choice": "otel_rt4chart.sampling.sampler",
    "Layers": "otel_rt4chart.sampling.layers",
    "Policy": "otel_rt4chart.sampling.policy",
    "Risk": "otel_rt4chart.sampling.policy",
    "Sampler": "otel_rt4chart.sampling.sampler",
    "Signals": "otel_rt4chart.sampling.signals",
    "checked_rate": "otel_rt4chart.sampling.policy",
    "force": "otel_rt4chart.sampling.signals",
    "is_sampled": "otel_rt4chart.sampling.policy",
    "position": "otel_rt4chart.sampling.policy",
    "signals_of": "otel_rt4chart.sampling.signals",
}

__getattr__ = lazy_names(__name__, _HOME)
