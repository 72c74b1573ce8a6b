"""Several questions to one endpoint at once: what they ask, sent together, put back in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any, Protocol, TypeVar

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.judge import Question, Reply, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.llm.ask import Completion, Round, Talk, ask_units, in_rounds
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.labelling import Picking, Resolving
from otel_rt4chart.verify.llm.prices import Price
from otel_rt4chart.verify.llm.prompt import Prompt

INPUT_LIMIT = 24_000
CLAIMS_A_CALL = 20
T = TypeVar("T")
Conversation = Generator[list[Prompt], Round, list[Reply | Exception]]


class Sender(Protocol):
    """What a judge needs of an endpoint."""

    @property
    def model(self) -> str:
        """The model's name at the endpoint."""

    @property
    def address(self) -> str:
        """Where the endpoint is, without credentials."""

    def send(self, prompts: Sequence[Prompt]) -> Round:
        """The completions in the prompts' order, an error in place of one that failed."""

    async def send_async(self, prompts: Sequence[Prompt]) -> Round:
        """The same, awaited."""


def answer_all(
    questions: Sequence[Question | Resolving],
    talks: Sequence[Sequence[Talk[list[Any]]]],
    reply: Callable[[Any, list[Any]], Reply | Exception],
    meter: Meter,
    price: Price | None,
) -> Conversation:
    """All talks of all questions together; their results, joined question by question."""

    def charge(meter: Meter, completion: Completion) -> None:
        used = (completion.input_tokens, completion.cached_tokens, completion.output_tokens)
        is_known = price is not None and not completion.is_estimated
        meter.charge(*used, price.of(*used) if price and is_known else None)

    results = iter((yield from in_rounds([talk for some in talks for talk in some], meter, charge)))
    return [
        reply(question, [item for told in islice(results, len(some)) for item in told])
        for question, some in zip(questions, talks, strict=True)
    ]


def batches(items: Sequence[T], size: int) -> list[tuple[T, ...]]:
    """The items in order, at most `size` at a time."""
    return [tuple(items[at : at + size]) for at in range(0, len(items), size)]


def picking(question: Select, judge: str, meter: Meter, cache: Cache) -> list[Talk[list[Any]]]:
    """Evidence selection as talks of a bounded size."""
    return [
        ask_units(Picking(judge, claims, question.sentences), meter, cache)
        for claims in batches(question.claims, CLAIMS_A_CALL)
    ]


def picked(question: Select, told: Sequence[Any]) -> Reply | Exception:
    """The sentences' own indices; a claim without a selection fails the whole question."""
    at = [sentence.index for sentence in question.sentences]
    for one in told:
        if isinstance(one, JudgeError):
            return one
    return [tuple(at[number - 1] for number in numbers) for numbers in told]


def checked_limit(tokens: int) -> int:
    """The limit itself; SettingsError where no passage would fit."""
    if tokens < 200:
        raise SettingsError(f"input limit: expected 200 tokens or more, got {tokens}")
    return tokens
