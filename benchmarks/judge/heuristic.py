"""ai-evaluation's path without a model, with the labels of its claims."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.judge.systems import Said, Verdict, joined
from otel_rt4chart.bench.rivals.heuristic import Heuristic, read_claims
from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.rates.population import score_of


def verify(exchange: Exchange) -> Verdict:
    """The verdict on the answer, and those on its claims, which the package counts alone."""
    whole = Heuristic().verify(exchange)
    claims = tuple(
        Said(label, confidence, score_of(label, confidence), where, where)
        for where, (label, confidence) in read_claims(exchange)
    )
    return replace(joined(claims), label=whole.label, unfaithful=whole.score or 0.0)
