"""Conversations with an endpoint as generators: the prompts to send, and what the replies mean."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from math import exp
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.core.text import clip
from otel_rt4chart.verify.core.judge import Question, Reply
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.steps import run_steps, run_steps_async
from otel_rt4chart.verify.llm.cache import (
    Cache,
    MemoryCache,
    ScopedCache,
    key_of,
    load_value,
    store_value,
)
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import Prompt

_SHOWN_PROBLEM = 300  # characters of a problem, which may quote the reply
ATTEMPTS = 2  # the first call, and one more with what was wrong
T = TypeVar("T")


class UnusableReplyError(JudgeError):
    """The endpoint answered, but the reply could not be used."""


class UnsentError(JudgeError):
    """The call was never made and cost nothing."""


class TokenOdds(NamedTuple):
    """A token's UTF-8, which may be a part of a character, and its probability's natural log."""

    text: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply; `is_cut` at the output limit, with a `refusal` where it declined.

    `is_estimated` where the endpoint did not report its tokens. `tokens` are the reply's own with
    their log-probabilities, where the endpoint tells them.
    """

    text: str
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    is_cut: bool = False
    refusal: str = ""
    is_estimated: bool = False
    tokens: tuple[TokenOdds, ...] = ()


class ParsedReply(NamedTuple):
    """The values of a reply by unit, as JSON, and the problems with the other units.

    `bare` are labels without evidence: their units are asked again, and the values are used where
    the next reply has no better ones.
    """

    found: Mapping[int, Any]
    problems: tuple[str, ...] = ()
    bare: Mapping[int, Any] = MappingProxyType({})


class Task(Protocol):
    """Units (claims or sentences) that one prompt asks about."""

    @property
    def judge(self) -> str:
        """The id of the judge, which has its model."""

    @property
    def units(self) -> int:
        """The number of units; they are numbered from 0."""

    def prompt(self, units: Sequence[int]) -> Prompt:
        """The prompt that asks about these units."""

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """Parse the reply about these units; `is_cut` where it ran into the output limit."""

    def keeps(self, value: object) -> bool:
        """True for a result that may be cached."""


# The key under which a reply's parser finds the probability of the label before it.
LABEL_ODDS = "label_probability"
_LABEL_VALUE = re.compile(rb'"label"\s*:\s*"([^"\\]*)"')


def with_label_odds(completion: Completion) -> str:
    """The reply with the probability of each label behind it, where the tokens tell it.

    What a model says of its own certainty is no such probability, so its own key is renamed.
    """
    text = completion.text
    if f'"{LABEL_ODDS}"' in text:
        return text.replace(f'"{LABEL_ODDS}"', '"said_probability"')
    said = text.encode(errors="surrogatepass")
    # A server may cut off what surrounds the reply, such as a code fence; its tokens are told.
    begin = b"".join(one.text for one in completion.tokens).find(said)
    if not completion.tokens or begin < 0:
        return text
    ends = [end - begin for end in accumulate(len(one.text) for one in completion.tokens)]
    parts, done = [], 0
    for match in _LABEL_VALUE.finditer(said):
        first, last = bisect_right(ends, match.start(1)), bisect_left(ends, match.end(1))
        odds = sum(one.logprob for one in completion.tokens[first : last + 1])
        probability = f', "{LABEL_ODDS}": {exp(min(odds, 0.0)):.6f}'
        parts += [said[done : match.end()], probability.encode()]
        done = match.end()
    return b"".join([*parts, said[done:]]).decode(errors="surrogatepass")


Dialogue = Generator[Prompt, Completion, T]
Round = Sequence[Completion | JudgeError]
Charge = Callable[[Meter, Completion], None]


def ask_units(task: Task, meter: Meter, cache: Cache) -> Dialogue[list[Any]]:
    """One result for each unit, or a JudgeError in its place.

    Units in the cache are not asked about. Those that the reply lacks are asked about once more,
    by themselves, with a description of the problem.
    """
    keys = _cache_keys(task)
    known = {unit: load_value(cache, key) for unit, key in enumerate(keys)}
    found = {unit: value for unit, value in known.items() if value is not None}
    meter.cache_hits += len(found)
    failure: JudgeError = UnusableReplyError("nothing was asked")
    prompt: Prompt | None = None
    bare: Mapping[int, Any] = {}
    for attempt in range(ATTEMPTS):
        missing = [unit for unit in range(task.units) if unit not in found]
        if not missing:
            break
        # Only the first attempt builds its prompt here; the loop's end builds the second one.
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
        parsed = task.read(with_label_odds(completion), missing, is_cut=completion.is_cut)
        bare = parsed.bare
        for unit, value in parsed.found.items():
            found[unit] = value
            if task.keeps(value):
                store_value(cache, keys[unit], value)
        failure = UnusableReplyError(_failure(parsed, completion))
        still = [unit for unit in missing if unit not in found]
        # A reply that was cut is not shown again: the next prompt asks about fewer units.
        fresh = task.prompt(still or missing)
        prompt = fresh if completion.is_cut else fresh.again(completion.text, _complaint(parsed))
    return [found.get(unit, bare.get(unit, failure)) for unit in range(task.units)]


def _cache_keys(task: Task) -> list[str]:
    """A key for each unit, over all that the prompt shows.

    Its neighbours count: a text that persuades a model may change the verdicts of all claims in its
    call, and these must not become the verdicts of other answers.
    """
    if not task.units:
        return []
    whole = task.prompt(range(task.units))
    shown = key_of(task.judge, whole.messages, whole.seed)
    return [key_of(shown, unit) for unit in range(task.units)]


def run_in_rounds(
    dialogues: Sequence[Dialogue[T]], meter: Meter, charge: Charge
) -> Generator[list[Prompt], Round, list[T]]:
    """Advance all dialogues in rounds; a round is a list of prompts that can be sent together.

    A dialogue whose next call would exceed the budget gets a JudgeError instead.
    """
    results: dict[int, T] = {}
    waiting: dict[int, Prompt] = {}

    def advance(number: int, sent: Completion | JudgeError | None) -> None:
        dialogue = dialogues[number]
        try:
            prompt = dialogue.throw(sent) if isinstance(sent, JudgeError) else dialogue.send(sent)  # type: ignore[arg-type]
            while (refused := meter.refusal(1, prompt.tokens)) is not None:
                prompt = dialogue.throw(JudgeError(refused))
            # Reserved until the reply: all prompts of a round share one budget.
            meter.calls += 1
            meter.reserved += prompt.tokens
            waiting[number] = prompt
        except StopIteration as done:
            results[number] = done.value

    for number in range(len(dialogues)):
        advance(number, None)
    while waiting:
        numbers, prompts = list(waiting), list(waiting.values())
        waiting.clear()
        replies = yield prompts
        meter.reserved -= sum(prompt.tokens for prompt in prompts)
        for number, reply in zip(numbers, replies, strict=True):
            if isinstance(reply, Completion):
                charge(meter, reply)
            meter.calls -= isinstance(reply, UnsentError)  # counted before it was known
            advance(number, reply)
    return [results[number] for number in range(len(dialogues))]


def _failure(parsed: ParsedReply, completion: Completion) -> str:
    if completion.is_cut:
        return "the model's reply was cut at its output limit"
    problems = "; ".join(clip(problem, _SHOWN_PROBLEM) for problem in parsed.problems[:3])
    return f"the model's reply was not usable: {problems or 'it lacks this claim'}"


def _complaint(parsed: ParsedReply) -> str:
    problems = "\n".join(f"- {clip(problem, _SHOWN_PROBLEM)}" for problem in parsed.problems[:20])
    return (
        f"That reply cannot be used:\n{problems or '- entries are missing'}\n"
        "Answer again, with JSON only, for what the last message asked and was not answered well."
    )


INPUT_LIMIT = 24_000
Asked = TypeVar("Asked")
RoundSteps = Generator[list[Prompt], Round, list[Reply | Exception]]


class PromptSender(Protocol):
    """The part of an endpoint that judges use."""

    @property
    def model(self) -> str:
        """The model's name at the endpoint."""

    @property
    def address(self) -> str:
        """The endpoint's address, without credentials."""

    def send(self, prompts: Sequence[Prompt]) -> Round:
        """The completions in the order of the prompts, an error in place of one that failed."""

    async def send_async(self, prompts: Sequence[Prompt]) -> Round:
        """The same, awaited."""


def charge_completion(meter: Meter, completion: Completion, price: Price | None) -> None:
    """Add what a reply has cost; nobody knows the cost without a price or its tokens."""
    used = (completion.input_tokens, completion.cached_tokens, completion.output_tokens)
    is_known = price is not None and not completion.is_estimated
    meter.charge(*used, price.of(*used) if price and is_known else None)


def answer_all(
    questions: Sequence[Asked],
    dialogues: Sequence[Sequence[Dialogue[list[Any]]]],
    reply: Callable[[Asked, list[Any]], Reply | Exception],
    meter: Meter,
    price: Price | None,
) -> RoundSteps:
    """Run the dialogues of all questions together; return the results by question."""

    def charge(meter: Meter, completion: Completion) -> None:
        charge_completion(meter, completion, price)

    results = iter(
        (
            yield from run_in_rounds(
                [dialogue for some in dialogues for dialogue in some], meter, charge
            )
        )
    )
    return [
        reply(question, [item for result in islice(results, len(some)) for item in result])
        for question, some in zip(questions, dialogues, strict=True)
    ]


def batches(items: Sequence[T], size: int) -> list[tuple[T, ...]]:
    """The items in order, at most `size` at a time."""
    return [tuple(items[at : at + size]) for at in range(0, len(items), size)]


def checked_limit(tokens: int) -> int:
    """The limit itself; SettingsError where no passage would fit."""
    if tokens < 200:
        raise SettingsError(f"input limit: expected 200 tokens or more, got {tokens}")
    return tokens


class EndpointJudge(ABC):
    """A `BatchJudge` over an endpoint, with its prices and its cache."""

    is_remote = True

    def __init__(
        self,
        endpoint: PromptSender,
        *,
        cache: Cache | None = None,
        prices: Mapping[str, Price] = PRICES,
        input_limit: int = INPUT_LIMIT,
    ) -> None:
        """`input_limit` is the most tokens of context in one call; the cache is one in memory."""
        self._endpoint = endpoint
        self._cache = ScopedCache(MemoryCache() if cache is None else cache, endpoint.address)
        self._price = prices.get(endpoint.model)
        self._input_limit = checked_limit(input_limit)

    @property
    def input_limit(self) -> int:
        """The most tokens of context in one call."""
        return self._input_limit

    def answers(self, questions: Sequence[Question], meter: Meter) -> list[Reply | Exception]:
        """Block until all are answered, by as many calls at once as the endpoint allows."""
        return run_steps(self._conversation(questions, meter), self._endpoint.send)

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> list[Reply | Exception]:
        """The same, awaited."""
        return await run_steps_async(
            self._conversation(questions, meter), self._endpoint.send_async
        )

    def ask(self, task: Task, meter: Meter) -> Any:  # noqa: ANN401 a value of the task's reply
        """The result of a task's only unit, or a JudgeError; blocks until it is there."""
        dialogue = ask_units(task, meter, self._cache)
        replies = run_steps(
            answer_all([task], [[dialogue]], lambda _, values: values, meter, self._price),
            self._endpoint.send,
        )
        (values,) = replies
        return values[0] if isinstance(values, Sequence) else values

    @abstractmethod
    def _conversation(self, questions: Sequence[Question], meter: Meter) -> RoundSteps:
        """The rounds of prompts that answer the questions."""
