"""The budget of one answer's verification, and the meter of what it has cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_rt4chart.verify.core.model import Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that verifying one answer may cost; None means no limit."""

    calls: int | None = None
    tokens: int | None = None


@dataclass(slots=True)
class Meter:
    """Counts the calls and tokens of one answer; not thread-safe.

    `cost_usd` is None once a call has no known price. `reserved` are the tokens that calls in
    progress may use. A judge in this process costs nothing and is counted only with `counts_all`.
    """

    budget: Budget = field(default_factory=Budget)
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cache_hits: int = 0
    cost_usd: float | None = 0.0
    reserved: int = 0
    counts_all: bool = False

    def refusal(self, calls: int, tokens: int) -> str | None:
        """The reason why so many more calls and tokens exceed the budget, or None."""
        if self.budget.calls is not None and self.calls + calls > self.budget.calls:
            return f"over_budget: {self.budget.calls} calls an answer"
        # Calls in progress count by their estimate, else parallel calls would pass the budget.
        spent = self.input_tokens + self.output_tokens + self.reserved
        if self.budget.tokens is not None and spent + tokens > self.budget.tokens:
            return f"over_budget: {self.budget.tokens} tokens an answer"
        return None

    def charge(
        self, input_tokens: int, cached_tokens: int, output_tokens: int, cost_usd: float | None
    ) -> None:
        """Add the tokens and cost of a call that `calls` already counts."""
        self.input_tokens += input_tokens
        self.cached_tokens += cached_tokens
        self.output_tokens += output_tokens
        known = self.cost_usd is not None and cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (cost_usd or 0.0) if known else None

    def usage(self, milliseconds: float | None = None) -> Usage:
        """The sums for a report."""
        return Usage(
            calls=self.calls,
            input_tokens=self.input_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
            cache_hits=self.cache_hits,
            cost_usd=self.cost_usd,
            milliseconds=milliseconds,
        )
