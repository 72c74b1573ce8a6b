"""The one file that sends: an OpenAI-compatible endpoint, asked by a bounded number of threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.llm.ask import Completion, UnsentError
from otel_rt4chart.verify.llm.client import Failures, address_of, connect, secrets_of
from otel_rt4chart.verify.llm.prompt import Prompt
from otel_rt4chart.verify.llm.protocol import (
    Dialect,
    Embeddings,
    completion_from,
    embeddings_from,
    is_final,
    tokens_in,
)
from otel_rt4chart.verify.llm.rate_limit import Minute
from otel_rt4chart.verify.llm.workers import Workers

if TYPE_CHECKING:
    import openai

MODEL = "gpt-4o-mini"  # the paper's
_LONGEST_PAUSE_S = 120.0  # what the client waits at most where Retry-After asks it to


class Endpoint:
    """Chat completions and embeddings at one address; threads and event loops may share it.

    At most `concurrency` requests are under way at once, whoever asks. The client repeats a request
    after a 429, a 5xx or a time-out, at most `max_retries` times, with jitter and as Retry-After
    asks. `timeout_s` bounds each wait for the endpoint: to connect, and for the next bytes. A call
    is given up after `deadline_s`: all attempts, and the longest pauses between them; the thread
    of a call that was given up is free when the endpoint ends it. `per_minute` bounds what is spent
    in any 60 seconds; what could go over is refused, not kept waiting.

    Who makes an endpoint closes it, best by `with`; after that its calls fail with a JudgeError.
    A process that was forked has threads and connections of its own.
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
        if concurrency < 1 or not 0 < timeout_s <= 86_400 or not 0 <= max_retries <= 100:
            raise SettingsError(
                "expected concurrency ≥ 1, 0 < timeout_s ≤ 86400 and 0 ≤ max_retries ≤ 100, "
                f"got {concurrency}, {timeout_s} and {max_retries}"
            )
        self._sdk = _sdk()
        limits = {"timeout": timeout_s, "max_retries": max_retries}
        client = connect(self._sdk, base_url, api_key, **limits)
        self._given: dict[str, Any] = limits | {
            "api_key": client.api_key,
            "base_url": str(client.base_url),
        }
        self.model = model
        self.address = address_of(self._given["base_url"])
        self.deadline_s = (max_retries + 1) * timeout_s + max_retries * _LONGEST_PAUSE_S
        self._concurrency = concurrency
        secrets = secrets_of(self._given["base_url"], client.api_key)
        self._failures = Failures(self._sdk, timeout_s, secrets)
        self._caught = (self._sdk.OpenAIError, ValueError, RecursionError)
        self._dialect = Dialect()
        self._unshortened: set[str] = set()  # embedding models that refuse `dimensions`
        self._minute = Minute(per_minute or Budget(), clock, Lock())
        self._start(client)
        _ENDPOINTS.add(self)

    def __enter__(self) -> Self:
        """The endpoint itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def send(self, prompts: Sequence[Prompt]) -> list[Completion | JudgeError]:
        """The completions, in order; what failed is the error that says why. Blocks."""
        return self._workers.run([partial(self._send_one, prompt) for prompt in prompts])

    async def send_async(self, prompts: Sequence[Prompt]) -> list[Completion | JudgeError]:
        """The same, awaited; cancelling it cancels the requests that have not begun."""
        jobs = [partial(self._send_one, prompt) for prompt in prompts]
        return await self._workers.run_async(jobs)

    def embed(self, texts: Sequence[str], *, model: str, dimensions: int | None) -> Embeddings:
        """One vector a text; JudgeError where it fails, UnsentError before it was sent. Blocks."""
        (told,) = self._workers.run([partial(self._embed_one, texts, model, dimensions)])
        if isinstance(told, JudgeError):
            raise told
        return told

    def close(self) -> None:
        """Send nothing more, wait for what is under way, and close the connections."""
        self._workers.close()
        with self._lock:
            if self._opened is not None:
                self._opened.close()

    def _start(self, client: openai.OpenAI | None) -> None:
        """What belongs to one process: threads, connections, locks."""
        self._lock = Lock()
        self._opened = client
        self._workers = Workers(self._concurrency, self.deadline_s)

    def _start_again(self) -> None:
        """After a fork, in the child; the parent's connections are left alone."""
        _PARENTS.append(self._opened)
        is_closed = self._workers.is_closed
        self._minute.lock = Lock()
        self._start(None)
        if is_closed:
            self._workers.close()

    def _client(self) -> openai.OpenAI:
        with self._lock:
            if self._opened is None:
                self._opened = self._sdk.OpenAI(**self._given)
            return self._opened

    def _send_one(self, prompt: Prompt) -> Completion | JudgeError:
        held = self._minute.hold(prompt.tokens)
        if isinstance(held, str):
            return UnsentError(held)
        told = self._completed(prompt)
        if isinstance(told, Completion):
            held.tokens = told.input_tokens + told.output_tokens
        return told

    def _completed(self, prompt: Prompt) -> Completion | JudgeError:
        """The completion, by as many attempts as it takes to leave out what is refused.

        Only a dialect in which the endpoint did answer is spoken from then on.
        """
        dialect = known = self._dialect
        while True:
            try:
                told = self._client().chat.completions.create(
                    model=self.model, **dialect.parameters(prompt)
                )
                completion = completion_from(told, prompt)
            except self._caught as error:
                less = self._less(dialect, error)
                if less is None:
                    return self._failures.told(self.model, error)
                dialect = less
            else:
                if dialect != known:
                    self._dialect = dialect
                return completion

    def _less(self, spoken: Dialect, error: Exception) -> Dialect | None:
        if not self._is_refusal(error):
            return None
        return spoken.without(str(getattr(error, "message", "")), getattr(error, "param", None))

    def _is_refusal(self, error: Exception) -> bool:
        return isinstance(error, (self._sdk.BadRequestError, self._sdk.UnprocessableEntityError))

    def _embed_one(
        self, texts: Sequence[str], model: str, dimensions: int | None
    ) -> Embeddings | JudgeError:
        held = self._minute.hold(tokens_in(texts))
        if isinstance(held, str):
            return UnsentError(held)
        told = self._embedded(texts, model, dimensions)
        if isinstance(told, Embeddings):
            held.tokens = told.tokens
        return told

    def _embedded(
        self, texts: Sequence[str], model: str, dimensions: int | None
    ) -> Embeddings | JudgeError:
        """The vectors, whole where the model refuses to shorten them."""
        size = None if model in self._unshortened else dimensions
        while True:
            shortened: dict[str, Any] = {} if size is None else {"dimensions": size}
            try:
                told = self._client().embeddings.create(model=model, input=list(texts), **shortened)
                found = embeddings_from(told, texts)
            except self._caught as error:
                if size is None or not self._is_refusal(error) or is_final(str(error)):
                    return self._failures.told(model, error)
                size = None
            else:
                if size != dimensions:
                    self._unshortened.add(model)
                return found


# An endpoint that is not used any more is not kept here; a parent's connections are, in its
# children: to close them there would say goodbye in the parent's name.
_ENDPOINTS: WeakSet[Endpoint] = WeakSet()
_PARENTS: list[object] = []


def _start_again() -> None:
    for endpoint in list(_ENDPOINTS):
        endpoint._start_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_again)


def _sdk() -> ModuleType:
    """The package `openai`, loaded where it is used: it takes half a second."""
    try:
        import openai
    except ModuleNotFoundError as error:
        raise SettingsError(
            "this judge needs the package openai: pip install 'otel-rt4chart[openai]'"
        ) from error
    return openai
