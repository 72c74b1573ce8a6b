"""The budget of one answer's verification, and the meter of what it has cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.verify.core.model import Exchange, Usage

# Every reason of the limits on size begins with it.
TOO_LARGE, TOO_SLOW = "too_large", "took_too_long"
BUDGET = "budget"  # the step that decides on what exceeds it


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that verifying one answer may cost; None means no limit.

    The limits on size keep an answer within about ten CPU seconds with a judge in this process.
    `comparisons` are pairs of a claim and a chunk that the rules compare, `model_comparisons` those
    that a model in this process reads. `seconds` is a safety net for what these limits do not
    foresee: it bounds the wall time of the judges in this process, so it depends on the machine.
    """

    calls: int | None = None
    tokens: int | None = None
    question_characters: int | None = 500_000
    answer_characters: int | None = 50_000
    passage_characters: int | None = 500_000
    passages: int | None = 1_000
    sentences: int | None = 20_000
    claims: int | None = 300
    comparisons: int | None = 5_000
    model_comparisons: int | None = 600
    seconds: float | None = 300.0

    def after(self, usage: Usage, *, seconds: float = 0.0) -> Budget:
        """The budget that is left after this usage and so many seconds."""
        spent = usage.input_tokens + usage.output_tokens
        return replace(
            self,
            calls=None if self.calls is None else max(self.calls - usage.calls, 0),
            tokens=None if self.tokens is None else max(self.tokens - spent, 0),
            seconds=None if self.seconds is None else max(self.seconds - seconds, 0.0),
        )

    def part(self, parts: int) -> Budget:
        """The budget with one of so many parts of its comparisons."""
        return replace(
            self,
            comparisons=_part(self.comparisons, parts),
            model_comparisons=_part(self.model_comparisons, parts),
        )

    def size_problem(self, exchange: Exchange) -> str | None:
        """The reason why this answer is too large to be verified, or None."""
        read = sum(len(passage.text) for passage in exchange.passages)
        return (
            _excess(len(exchange.question), self.question_characters, "characters in the question")
            or _excess(len(exchange.answer), self.answer_characters, "characters in the answer")
            or _excess(len(exchange.passages), self.passages, "passages")
            or _excess(read, self.passage_characters, "characters in the passages")
        )

    def sentence_problem(self, sentences: Sequence[object]) -> str | None:
        """The same, once the passages are split into sentences."""
        return _excess(len(sentences), self.sentences, "sentences in the passages")


def _part(limit: int | None, parts: int) -> int | None:
    return None if limit is None else max(limit // parts, 1)


def _excess(found: int, limit: int | None, what: str) -> str | None:
    if limit is None or found <= limit:
        return None
    return f"{TOO_LARGE}: {found:,} {what}, expected at most {limit:,}"


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
    comparisons: int = 0
    model_comparisons: int = 0
    deadline: Deadline | None = None

    def start_judging(self) -> None:
        """Start the time that the judges in this process may take."""
        if self.budget.seconds is not None:
            self.deadline = Deadline(self.budget.seconds)

    @property
    def is_late(self) -> bool:
        """True once that time is over."""
        return self.deadline is not None and self.deadline.is_over

    @property
    def late_reason(self) -> str:
        """The reason of the claims that were not judged in time."""
        return f"{TOO_SLOW}: {self.budget.seconds:g} s of judging an answer in this process"

    def compare(self, number: int, *, with_model: bool) -> str | None:
        """Count so many comparisons; the reason why they exceed the budget, or None."""
        limit = self.budget.model_comparisons if with_model else self.budget.comparisons
        made = (self.model_comparisons if with_model else self.comparisons) + number
        if limit is not None and made > limit:
            kind = "model comparisons" if with_model else "comparisons"
            return (
                f"{TOO_LARGE}: {made:,} {kind} of a claim with a part of the passages, "
                f"expected at most {limit:,}"
            )
        if with_model:
            self.model_comparisons = made
        else:
            self.comparisons = made
        return None

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
