"""Runs the steps of a verification: generators, written once for blocking and asynchronous use."""

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
from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label

_CLAIMS_AT_ONCE = 16  # the deadline is checked after so many claims

T = TypeVar("T")
Request = TypeVar("Request")
Response = TypeVar("Response")


class Batch(NamedTuple):
    """Questions to one judge that do not depend on each other."""

    judge: Judge | BatchJudge | Embedder
    questions: tuple[Question, ...]


Replies = Sequence[Reply | Exception]
Steps = Generator[Batch, Replies, T]


def run_steps(steps: Generator[Request, Response, T], answer: Callable[[Request], Response]) -> T:
    """Run the steps to their end; `answer` gives the response to each request."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(answer(asked))
    except StopIteration as done:
        result: T = done.value
        return result


async def run_steps_async(
    steps: Generator[Request, Response, T], answer: Callable[[Request], Awaitable[Response]]
) -> T:
    """The same with an asynchronous `answer`."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(await answer(asked))
    except StopIteration as done:
        result: T = done.value
        return result


def answer_batch(batch: Batch, meter: Meter) -> Replies:
    """The replies to a batch; a judge's failure takes the place of its reply."""
    judge = batch.judge
    if isinstance(judge, BatchJudge):
        return judge.answers(batch.questions, meter)
    return [_answer_one(judge, question, meter) for question in batch.questions]


async def answer_batch_async(batch: Batch, meter: Meter) -> Replies:
    """The same; models and embedders run in a thread, a judge by rules in the event loop."""
    judge = batch.judge
    if isinstance(judge, BatchJudge):
        return await judge.answers_async(batch.questions, meter)
    if isinstance(judge, Embedder | ModelJudge):
        return await asyncio.to_thread(answer_batch, batch, meter)
    return answer_batch(batch, meter)


def _answer_one(judge: Judge | Embedder, question: Question, meter: Meter) -> Reply | Exception:
    # Batch judges and endpoints count their own calls; here only a tracer counts local ones.
    if meter.counts_all:
        refused = meter.refusal(1, 0) or meter.compare(
            len(getattr(question, "claims", ())), with_model=isinstance(judge, ModelJudge)
        )
        if refused is not None:
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
            return _in_parts(
                asked.claims,
                meter,
                lambda claims: judge.assess(claims, asked.chunk, question=asked.question),
            )
        case Resolve() if not isinstance(judge, Embedder):
            return _in_parts(
                asked.claims,
                meter,
                lambda claims: judge.resolve(
                    claims, asked.context, hint=asked.hint, question=asked.question
                ),
            )
    raise TypeError(f"{type(judge).__name__} cannot be asked {type(asked).__name__}")


def _in_parts(
    claims: tuple[DraftClaim, ...],
    meter: Meter,
    judge: Callable[[tuple[DraftClaim, ...]], Sequence[Judgement]],
) -> Sequence[Judgement]:
    """The judgements of the claims, a few at a time; undecided from the deadline on."""
    judged: list[Judgement] = []
    for at in range(0, len(claims), _CLAIMS_AT_ONCE):
        part = claims[at : at + _CLAIMS_AT_ONCE]
        if meter.is_late:
            late = Judgement(Label.UNDECIDED, reason=meter.late_reason)
            judged.extend([late] * len(part))
            continue
        found = judge(part)
        if not isinstance(found, Sequence):  # a judge of the user's own may reply anything
            return found
        judged.extend(found)
    return judged
