"""Runs verification's steps: written once as generators, driven with or without `await`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import NamedTuple, TypeVar

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import (
    Assess,
    BatchJudge,
    Decompose,
    Embed,
    Embedder,
    Judge,
    MeteredEmbedder,
    ModelJudge,
    Question,
    Reply,
    Resolve,
)
from otel_rt4chart.verify.core.meter import Meter

T = TypeVar("T")
Asked = TypeVar("Asked")
Told = TypeVar("Told")


class Batch(NamedTuple):
    """Questions to one judge that do not wait for each other."""

    judge: Judge | BatchJudge | Embedder
    questions: tuple[Question, ...]


Replies = Sequence[Reply | Exception]
Steps = Generator[Batch, Replies, T]


def drive(steps: Generator[Asked, Told, T], answer: Callable[[Asked], Told]) -> T:
    """Run the steps to their end; each thing they ask is answered before the next."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(answer(asked))
    except StopIteration as done:
        result: T = done.value
        return result


async def drive_async(
    steps: Generator[Asked, Told, T], answer: Callable[[Asked], Awaitable[Told]]
) -> T:
    """The same with awaited answers."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(await answer(asked))
    except StopIteration as done:
        result: T = done.value
        return result


def ask(batch: Batch, meter: Meter) -> Replies:
    """The replies to a batch; a judge's failure stands in place of its reply."""
    judge = batch.judge
    if isinstance(judge, BatchJudge):
        return judge.answers(batch.questions, meter)
    return [_ask_one(judge, question, meter) for question in batch.questions]


async def ask_async(batch: Batch, meter: Meter) -> Replies:
    """The same; what waits or computes long is asked in a thread, a judge by rules in line."""
    judge = batch.judge
    if isinstance(judge, BatchJudge):
        return await judge.answers_async(batch.questions, meter)
    if isinstance(judge, Embedder | ModelJudge):
        return await asyncio.to_thread(ask, batch, meter)
    return ask(batch, meter)


def _ask_one(judge: Judge | Embedder, question: Question, meter: Meter) -> Reply | Exception:
    if meter.counts_all:
        if (refused := meter.refusal(1, 0)) is not None:
            return JudgeError(refused)
        meter.calls += 1
    try:
        return _call(judge, question, meter)
    except JudgeError as error:
        return error


def _call(judge: Judge | Embedder, asked: Question, meter: Meter) -> Reply:
    match asked:
        case Embed() if isinstance(judge, MeteredEmbedder):
            return judge.embed_metered(asked.texts, meter)
        case Embed() if isinstance(judge, Embedder):
            return judge.embed(asked.texts)
        case Decompose() if not isinstance(judge, Embedder):
            return judge.decompose(asked.sentences)
        case Assess() if not isinstance(judge, Embedder):
            return judge.assess(asked.claims, asked.chunk, question=asked.question)
        case Resolve() if not isinstance(judge, Embedder):
            return judge.resolve(
                asked.claims, asked.context, hint=asked.hint, question=asked.question
            )
    raise TypeError(f"{type(judge).__name__} cannot be asked {type(asked).__name__}")
