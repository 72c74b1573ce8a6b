from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import current_thread, main_thread

import pytest

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify import Budget, Exchange, Passage, RulesJudge, Usage, Verifier
from otel_rt4chart.verify.core.judge import Decompose, Embed
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.steps import Batch, answer_batch, answer_batch_async
from otel_rt4chart.verify.text.segment import segment

DECOMPOSE = Decompose(segment("The trial lasts 14 days."))


class Embedder:
    """Tells in which thread it was asked."""

    threads: list[bool]

    def __init__(self) -> None:
        self.threads = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors, but not for nothing."""
        self.threads.append(current_thread() is main_thread())
        if not texts:
            raise JudgeError("no texts")
        return [[1.0] for _ in texts]


def test_a_judge_in_this_process_makes_no_calls() -> None:
    """No budget of calls stands in its way."""
    exchange = Exchange("", [Passage("p", "The trial lasts 14 days.")], "The trial lasts 14 days.")

    report = Verifier(RulesJudge(), budget=Budget(calls=0, tokens=0)).verify(exchange)

    assert report.claims[0].reason != "over_budget: 0 calls an answer"
    assert report.decided == 1
    assert report.usage == Usage()


def test_where_all_questions_count_the_budget_holds_for_every_judge() -> None:
    """A trail is bounded by its questions."""
    meter = Meter(Budget(calls=1), counts_all=True)

    first, second = answer_batch(Batch(RulesJudge(), (DECOMPOSE, DECOMPOSE)), meter)

    assert not isinstance(first, Exception)
    assert str(second) == "over_budget: 1 calls an answer"
    assert meter.calls == 1


@pytest.mark.parametrize("texts", [("a", "b"), ()])
def test_an_embedder_is_asked_beside_the_event_loop(texts: tuple[str, ...]) -> None:
    """It may wait or compute; replies and failures are the same."""
    embedder = Embedder()
    batch = Batch(embedder, (Embed(texts),))

    (told,) = answer_batch(batch, Meter())
    (awaited,) = asyncio.run(answer_batch_async(batch, Meter()))

    assert embedder.threads == [True, False]
    assert str(told) == str(awaited) == (str([[1.0], [1.0]]) if texts else "no texts")
