"""Rates and rules of risk as they are written in a variable."""

from __future__ import annotations

from otel_rt4chart.sampling.policy import Risk
from otel_rt4chart.variables import names


def rates_from_text(text: str) -> dict[str, float]:
    """`support/*=0.5,checkout=1`; a route may hold `=`. ValueError for what is none."""
    rates = {}
    for one in names(text):
        route, _, rate = one.rpartition("=")
        if not route.strip():
            raise ValueError(one)
        rates[route.strip()] = float(rate)
    return rates


def risks_from_text(text: str) -> frozenset[Risk]:
    """`all`, `none`, or some of the rules' names; ValueError for what is none."""
    if text in ("all", "none"):
        return frozenset(Risk if text == "all" else ())
    return frozenset(Risk(name) for name in names(text))
