"""The agent, driven: what it may spend, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import Usage
from otel_rt4chart.verify.core.steps import run_steps
from otel_rt4chart.verify.llm.conversation import Completion, PromptSender, run_in_rounds
from otel_rt4chart.verify.llm.prices import Price
from rt4chart_clustering.explain.agent import TURNS, Ended, Tools, agent

TOKENS = 200_000


@dataclass(frozen=True, slots=True)
class Explained:
    """How it ended, and what it took."""

    ended: Ended
    usage: Usage


def explain(
    endpoint: PromptSender,
    tools: Tools,
    *,
    turns: int = TURNS,
    tokens: int = TOKENS,
    price: Price | None = None,
) -> Explained:
    """Run the agent at the endpoint to its end, which comes after `turns` or `tokens` at most."""
    meter = Meter(Budget(tokens=tokens))

    def charge(meter: Meter, completion: Completion) -> None:
        used = (completion.input_tokens, completion.cached_tokens, completion.output_tokens)
        is_known = price is not None and not completion.is_estimated
        meter.charge(*used, price.of(*used) if price and is_known else None)

    (ended,) = run_steps(run_in_rounds([agent(tools, turns=turns)], meter, charge), endpoint.send)
    if ended.why.startswith("over_budget"):
        ended = Ended(None, f"the budget of {tokens} tokens is spent", ended.turns)
    return Explained(ended, meter.usage())
