"""The one file that sends: an OpenAI-compatible endpoint, in threads or awaited."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from otel_rt4chart.errors import JudgeError, SettingsError
from otel_rt4chart.verify.llm.ask import Completion
from otel_rt4chart.verify.llm.dialect import Dialect
from otel_rt4chart.verify.llm.prompt import Prompt
from otel_rt4chart.verify.meter import Budget

if TYPE_CHECKING:
    import openai

MODEL = "gpt-4o-mini"  # the paper's
_MINUTE = 60.0
_SHOWN = 200


class Endpoint:
    """Chat completions and embeddings of one model at one address; threads may share it.

    At most `concurrency` requests are under way at once. The client repeats a request after a
    429, a 5xx or a time-out, at most `max_retries` times, with jitter and as Retry-After asks, so
    a call ends after (max_retries + 1) × `timeout_s` and the pauses between. `per_minute` bounds
    what is spent in any 60 seconds; what goes over is refused, not kept waiting.
    """

    def __init__(
        self,
        model: str = MODEL,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 3,
        concurrency: int = 8,
        per_minute: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `api_key` and `base_url` the client's own variables count (`OPENAI_*`)."""
        self._sdk = _sdk()
        if concurrency < 1 or timeout_s <= 0 or max_retries < 0:
            raise SettingsError(
                "expected concurrency ≥ 1, timeout_s > 0 and max_retries ≥ 0, "
                f"got {concurrency}, {timeout_s} and {max_retries}"
            )
        self.model = model
        # A server of one's own needs no key, but the client wants one.
        key = api_key or ("none" if base_url else None)
        self._given: dict[str, Any] = {
            "api_key": key,
            "base_url": base_url or None,
            "timeout": timeout_s,
            "max_retries": max_retries,
        }
        try:
            self._client = self._sdk.OpenAI(**self._given)
        except self._sdk.OpenAIError as error:
            raise SettingsError(
                "the openai judge has no key: set OPENAI_API_KEY, or OPENAI_BASE_URL for an "
                "endpoint that needs none, or use the local judge"
            ) from error
        self._secret = key or ""
        self._concurrency = concurrency
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="rt4chart-judge")
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()
        self._dialect = Dialect()
        self._spent = _Minute(per_minute or Budget(), clock)

    def send(self, prompts: Sequence[Prompt]) -> list[Completion | JudgeError]:
        """The completions, in order; what failed is the error that says why. Blocks."""
        return list(self._pool.map(self._send_one, prompts))

    async def send_async(self, prompts: Sequence[Prompt]) -> list[Completion | JudgeError]:
        """The same, awaited, in the running event loop."""
        loop = self._loop()

        async def one(prompt: Prompt) -> Completion | JudgeError:
            async with loop.gate:
                return await self._send_one_async(loop.client, prompt)

        return list(await asyncio.gather(*map(one, prompts)))

    def embed(self, texts: Sequence[str], *, dimensions: int | None) -> list[list[float]]:
        """One vector a text; JudgeError where it fails. Blocks."""
        try:
            told = self._client.embeddings.create(**self._embedding(texts, dimensions))
            return _vectors(told, len(texts))
        except (self._sdk.OpenAIError, ValueError) as error:
            raise self._failure(error) from error

    async def embed_async(
        self, texts: Sequence[str], *, dimensions: int | None
    ) -> list[list[float]]:
        """The same, awaited."""
        loop = self._loop()
        try:
            async with loop.gate:
                told = await loop.client.embeddings.create(**self._embedding(texts, dimensions))
            return _vectors(told, len(texts))
        except (self._sdk.OpenAIError, ValueError) as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Wait for what is under way, and close the connections."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._client.close()

    async def close_async(self) -> None:
        """Close the running event loop's connections."""
        if (loop := self._loops.pop(asyncio.get_running_loop(), None)) is not None:
            await loop.client.close()

    def _send_one(self, prompt: Prompt) -> Completion | JudgeError:
        if (refused := self._spent.refusal(prompt.tokens)) is not None:
            return JudgeError(refused)
        while True:
            dialect = self._dialect
            try:
                told = self._client.chat.completions.create(
                    model=self.model, **dialect.parameters(prompt)
                )
                return self._counted(_completion(told))
            except (self._sdk.OpenAIError, ValueError) as error:
                if not self._learns(dialect, error):
                    return self._failure(error)

    async def _send_one_async(
        self, client: openai.AsyncOpenAI, prompt: Prompt
    ) -> Completion | JudgeError:
        if (refused := self._spent.refusal(prompt.tokens)) is not None:
            return JudgeError(refused)
        while True:
            dialect = self._dialect
            try:
                told = await client.chat.completions.create(
                    model=self.model, **dialect.parameters(prompt)
                )
                return self._counted(_completion(told))
            except (self._sdk.OpenAIError, ValueError) as error:
                if not self._learns(dialect, error):
                    return self._failure(error)

    def _learns(self, spoken: Dialect, error: Exception) -> bool:
        """True where the endpoint refused a parameter that the next attempt leaves out."""
        if not isinstance(error, (self._sdk.BadRequestError, self._sdk.UnprocessableEntityError)):
            return False
        if self._dialect != spoken:
            return True  # another thread has learnt meanwhile
        known = spoken.without(f"{error.param} {error.message}")
        if known is None:
            return False
        self._dialect = known
        return True

    def _counted(self, completion: Completion) -> Completion:
        self._spent.add(completion.input_tokens + completion.output_tokens)
        return completion

    def _failure(self, error: Exception) -> JudgeError:
        """What went wrong, for a person; never the key."""
        return JudgeError(f"{self.model}: {self._told(error)}")

    def _told(self, error: Exception) -> str:
        sdk = self._sdk
        match error:
            case sdk.APITimeoutError():
                return f"no reply within {self._given['timeout']:g} s"
            case sdk.AuthenticationError() | sdk.PermissionDeniedError():
                return f"{error.status_code}: the key was refused; check OPENAI_API_KEY"
            case sdk.RateLimitError():
                return "429: too many requests, also after waiting as asked"
            case sdk.APIStatusError():
                return f"{error.status_code}: {self._shown(error.message)}"
            case sdk.APIConnectionError():
                return (
                    f"cannot be reached, or broke off: {self._shown(str(error.__cause__ or error))}"
                )
        return f"the reply is not what the protocol says: {self._shown(str(error))}"

    def _shown(self, message: str) -> str:
        clean = " ".join(message.split())
        if len(self._secret) > 4:
            clean = clean.replace(self._secret, "***")
        return clean[:_SHOWN]

    def _embedding(self, texts: Sequence[str], dimensions: int | None) -> dict[str, Any]:
        told: dict[str, Any] = {"model": self.model, "input": list(texts)}
        return told if dimensions is None else told | {"dimensions": dimensions}

    def _loop(self) -> _Loop:
        running = asyncio.get_running_loop()
        if running not in self._loops:
            client = self._sdk.AsyncOpenAI(**self._given)
            self._loops[running] = _Loop(client, asyncio.Semaphore(self._concurrency))
        return self._loops[running]


@dataclass(frozen=True, slots=True)
class _Loop:
    """What belongs to one event loop: connections and the gate in front of them."""

    client: openai.AsyncOpenAI
    gate: asyncio.Semaphore


@dataclass(slots=True)
class _Minute:
    """Calls and tokens of the last minute."""

    budget: Budget
    clock: Callable[[], float]
    calls: deque[float] = field(default_factory=deque)
    tokens: deque[tuple[float, int]] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)

    def refusal(self, tokens: int) -> str | None:
        """Why a call that may use so many tokens is refused; else it is counted, and None."""
        with self.lock:
            now = self.clock()
            self._forget(now - _MINUTE)
            if self.budget.calls is not None and len(self.calls) >= self.budget.calls:
                return f"over_budget: {self.budget.calls} calls a minute"
            spent = sum(count for _, count in self.tokens)
            if self.budget.tokens is not None and spent + tokens > self.budget.tokens:
                return f"over_budget: {self.budget.tokens} tokens a minute"
            self.calls.append(now)
            return None

    def add(self, tokens: int) -> None:
        """Count the tokens that a call has used."""
        with self.lock:
            self.tokens.append((self.clock(), tokens))

    def _forget(self, before: float) -> None:
        while self.calls and self.calls[0] <= before:
            self.calls.popleft()
        while self.tokens and self.tokens[0][0] <= before:
            self.tokens.popleft()


def _sdk() -> ModuleType:
    """The package `openai`, loaded where it is used: it takes half a second."""
    try:
        import openai
    except ModuleNotFoundError as error:
        raise SettingsError(
            "this judge needs the package openai: pip install 'otel-rt4chart[openai]'"
        ) from error
    return openai


def _completion(told: Any) -> Completion:  # noqa: ANN401 - an endpoint may send anything
    """The first choice; ValueError where the reply has another shape than the protocol's."""
    try:
        choice = told.choices[0]
        content, refusal = choice.message.content, getattr(choice.message, "refusal", None)
        reason = choice.finish_reason
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"expected choices[0].message, got {str(told)[:80]!r}") from error
    if not isinstance(content, str | None) or (content is None and not refusal):
        raise ValueError(f"expected a message of text, got {type(content).__name__}")
    usage = getattr(told, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Completion(
        content or "",
        _count(usage, "prompt_tokens"),
        _count(details, "cached_tokens"),
        _count(usage, "completion_tokens"),
        is_cut=reason == "length",
        refusal=str(refusal) if refusal else "",
    )


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value >= 0 else 0


def _vectors(told: Any, expected: int) -> list[list[float]]:  # noqa: ANN401
    try:
        vectors = [[float(value) for value in one.embedding] for one in told.data]
    except (AttributeError, TypeError) as error:
        raise ValueError("expected data[].embedding") from error
    if len(vectors) != expected:
        raise ValueError(f"expected {expected} vectors, got {len(vectors)}")
    return vectors
