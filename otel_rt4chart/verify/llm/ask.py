"""Conversations with a model, as generators: what to ask, what to do with the answer.

Nothing here sends anything: `in_rounds` advances all conversations of a batch a round at a time,
and whoever drives it sends a round's prompts, one after the other, in threads, or awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.llm.cache import Cache, keep, stored
from otel_rt4chart.verify.llm.prompt import Prompt

ATTEMPTS = 2  # the first call, and one more with what was wrong
T = TypeVar("T")


class UnusableReplyError(JudgeError):
    """The endpoint answered, and nothing could be made of it."""


class UnsentError(JudgeError):
    """The call was never made, and cost nothing."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply: `is_cut` where it ran into the output limit, `refusal` where it declined.

    `is_estimated` where the endpoint did not say how many tokens it took.
    """

    text: str
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    is_cut: bool = False
    refusal: str = ""
    is_estimated: bool = False


class Readings(NamedTuple):
    """What a reply said of each unit, as JSON values, and what is wrong with the rest.

    `bare` are values of units that are asked again, and count where the last reply has no better.
    """

    found: Mapping[int, Any]
    problems: tuple[str, ...] = ()
    bare: Mapping[int, Any] = MappingProxyType({})


class Task(Protocol):
    """Units (claims, sentences) that one prompt asks about; each has its own place in the cache."""

    @property
    def units(self) -> int:
        """How many there are, numbered from 0."""

    def key(self, unit: int) -> str:
        """What a unit's result depends on, hashed."""

    def prompt(self, units: Sequence[int]) -> Prompt:
        """The call that asks about these units."""

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> Readings:
        """The reply about these units; `is_cut` where it ran into the output limit."""

    def keeps(self, value: object) -> bool:
        """True for a result that may be kept for the next time."""


Talk = Generator[Prompt, Completion, T]
Round = Sequence[Completion | JudgeError]
Charge = Callable[[Meter, Completion], None]


def ask_units(task: Task, meter: Meter, cache: Cache) -> Talk[list[Any]]:
    """One result a unit, or the JudgeError that stands for it.

    What the cache has is not asked; what the reply lacks is asked once more, alone, with the error.
    """
    known = {unit: stored(cache, task.key(unit)) for unit in range(task.units)}
    found = {unit: value for unit, value in known.items() if value is not None}
    meter.cache_hits += len(found)
    failure: JudgeError = UnusableReplyError("nothing was asked")
    prompt: Prompt | None = None
    bare: Mapping[int, Any] = {}
    for attempt in range(ATTEMPTS):
        missing = [unit for unit in range(task.units) if unit not in found]
        if not missing:
            break
        if attempt == 0 or prompt is None:
            prompt = task.prompt(missing)
        bare = {}
        try:
            completion = yield prompt
        except JudgeError as error:
            failure = error
            break
        if completion.refusal:
            failure = JudgeError(f"the model refused: {completion.refusal[:200]}")
            break
        readings = task.read(completion.text, missing, is_cut=completion.is_cut)
        bare = readings.bare
        for unit, value in readings.found.items():
            found[unit] = value
            if task.keeps(value):
                keep(cache, task.key(unit), value)
        failure = UnusableReplyError(_failure(readings, completion))
        still = [unit for unit in missing if unit not in found]
        # A reply that was cut is not shown again: the rest is asked alone, and is shorter.
        fresh = task.prompt(still or missing)
        prompt = fresh if completion.is_cut else fresh.again(completion.text, _complaint(readings))
    return [found.get(unit, bare.get(unit, failure)) for unit in range(task.units)]


def in_rounds(
    talks: Sequence[Talk[T]], meter: Meter, charge: Charge
) -> Generator[list[Prompt], Round, list[T]]:
    """Advance all talks together: each round is a list of prompts that do not wait for each other.

    A talk whose next call the budget does not allow is told so by a JudgeError.
    """
    results: dict[int, T] = {}
    waiting: dict[int, Prompt] = {}

    def advance(number: int, told: Completion | JudgeError | None) -> None:
        talk = talks[number]
        try:
            prompt = talk.throw(told) if isinstance(told, JudgeError) else talk.send(told)  # type: ignore[arg-type]
            while (refused := meter.refusal(1, prompt.tokens)) is not None:
                prompt = talk.throw(JudgeError(refused))
            meter.calls += 1
            meter.reserved += prompt.tokens
            waiting[number] = prompt
        except StopIteration as done:
            results[number] = done.value

    for number in range(len(talks)):
        advance(number, None)
    while waiting:
        numbers, prompts = list(waiting), list(waiting.values())
        waiting.clear()
        replies = yield prompts
        meter.reserved -= sum(prompt.tokens for prompt in prompts)
        for number, reply in zip(numbers, replies, strict=True):
            if isinstance(reply, Completion):
                charge(meter, reply)
            meter.calls -= isinstance(reply, UnsentError)
            advance(number, reply)
    return [results[number] for number in range(len(talks))]


def _failure(readings: Readings, completion: Completion) -> str:
    if completion.is_cut:
        return "the model's reply was cut at its output limit"
    told = "; ".join(readings.problems[:3])
    return f"the model's reply was not usable: {told or 'it lacks this claim'}"


def _complaint(readings: Readings) -> str:
    told = "\n".join(f"- {problem}" for problem in readings.problems[:20])
    return (
        f"That reply cannot be used:\n{told or '- entries are missing'}\n"
        "Answer again, with JSON only, for what the last message asked and was not answered well."
    )
