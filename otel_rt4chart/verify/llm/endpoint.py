"""The only module that sends requests: an OpenAI-compatible endpoint with bounded concurrency."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import SplitResult, unquote, urlsplit
from weakref import WeakSet

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.llm.conversation import Completion, UnsentError
from otel_rt4chart.verify.llm.prompt import Prompt
from otel_rt4chart.verify.llm.protocol import (
    Dialect,
    Embeddings,
    completion_from,
    embeddings_from,
    is_final,
    is_too_long,
    tokens_in,
)
from otel_rt4chart.verify.llm.reply_limit import SlowReplyError, bounded_client
from otel_rt4chart.verify.llm.spending import NOTHING, Booking, SharedBudget
from otel_rt4chart.verify.llm.workers import Workers, slow_reason

_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class Reservation:
    """A call and its tokens: an estimate, which the caller replaces by the tokens it used."""

    since: float
    tokens: int


@dataclass(slots=True)
class MinuteLimit:
    """The calls of the last minute, those in progress included; `lock` lets threads share it.

    A failed call keeps its estimate, for its actual tokens are not known.
    """

    budget: Budget
    clock: Callable[[], float]
    lock: AbstractContextManager[object]
    _reservations: deque[Reservation] = field(default_factory=deque)

    def reserve(self, tokens: int) -> Reservation | str:
        """A reservation for a call of at most so many tokens, or the reason for a refusal."""
        with self.lock:
            now = self.clock()
            while self._reservations and self._reservations[0].since <= now - _MINUTE:
                self._reservations.popleft()
            if self.budget.calls is not None and len(self._reservations) >= self.budget.calls:
                return f"over_budget: {self.budget.calls} calls a minute"
            # Refused at once, not queued: the caller reports the claim as undecided.
            spent = sum(reservation.tokens for reservation in self._reservations)
            if self.budget.tokens is not None and spent + tokens > self.budget.tokens:
                return f"over_budget: {self.budget.tokens} tokens a minute"
            reservation = Reservation(now, tokens)
            self._reservations.append(reservation)
            return reservation


OPENAI = "https://api.openai.com/v1"
_NO_KEY = "none"  # a self-hosted server needs no key, but the SDK requires one


def connect(sdk: ModuleType, base_url: str | None, api_key: str | None, **limits: object) -> Any:  # noqa: ANN401 - the client of a package that is loaded late
    """A client; without arguments the SDK reads its own variables, `OPENAI_*`.

    Only addresses other than OpenAI's may do without a key. SettingsError names what is unusable.
    """
    url, key = (base_url or "").strip(), (api_key or "").strip()
    client = _client(sdk, url, key or (_NO_KEY if url else None), limits)
    if not client.api_key.strip():
        client = _client(sdk, url, _NO_KEY, limits)
    if not str(client.base_url).strip("/"):  # a variable that is set and empty
        client = _client(sdk, OPENAI, client.api_key, limits)
    where = _checked(str(client.base_url))
    client.api_key = client.api_key.strip()
    if client.api_key == _NO_KEY and where.hostname == urlsplit(OPENAI).hostname:
        raise SettingsError(
            "the openai judge has no key: set OPENAI_API_KEY, or OPENAI_BASE_URL for an "
            "endpoint that needs none, or use the local judge"
        )
    if not re.fullmatch("[!-~]+", client.api_key):
        raise SettingsError(
            "OPENAI_API_KEY: expected printable ASCII without spaces, got a key with another "
            "character"
        )
    return client


def address_of(base_url: str) -> str:
    """The address without credentials and query; it identifies an endpoint."""
    where = urlsplit(base_url)
    host = where.netloc.rpartition("@")[2]
    return f"{where.scheme}://{host}{where.path.rstrip('/')}"


def secrets_of(base_url: str, api_key: str) -> tuple[str, ...]:
    """The strings that must never be shown: the key, and a password in the address."""
    password = urlsplit(base_url).password or ""
    key = "" if api_key == _NO_KEY else api_key
    return tuple(dict.fromkeys(filter(None, (key, password, unquote(password)))))


def _client(sdk: ModuleType, url: str, key: str | None, limits: dict[str, object]) -> Any:  # noqa: ANN401
    if url:
        _checked(url)
    try:
        return _open(sdk, api_key=key, base_url=url or None, **limits)
    except sdk.OpenAIError:
        if key is not None:
            raise
        return _client(sdk, url, _NO_KEY, limits)
    except Exception as error:  # noqa: BLE001 - the URL parser's errors share no public class
        raise _address_error(url, type(error).__name__) from None


def _open(sdk: ModuleType, **given: Any) -> Any:  # noqa: ANN401
    """A client that follows no redirect: texts are meant for the address that was configured."""
    client = bounded_client(sdk.DefaultHttpxClient, _reply_s(**given))
    waits = sdk.Timeout(given["timeout"], connect=min(given["timeout"], _CONNECT_S))
    return sdk.OpenAI(http_client=client(follow_redirects=False), **given | {"timeout": waits})


_CONNECT_S = 10.0  # an address that takes longer to answer does not answer


def _reply_s(*, timeout: float, max_retries: int, **_: object) -> float:
    """The time of one whole reply: an equal share of what all attempts may take."""
    return deadline_of(timeout, max_retries) / (max_retries + 1)


def deadline_of(timeout_s: float, max_retries: int) -> float:
    """The time of all attempts and the longest pauses between them."""
    return (max_retries + 1) * timeout_s + max_retries * _LONGEST_PAUSE_S


def _checked(url: str) -> SplitResult:
    try:
        where = urlsplit(url)
        host = where.hostname or "%"  # "%" means that the client had to escape the host
        is_usable = where.scheme in ("http", "https") and "%" not in host and where.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isprintable() or " " in url:
        raise _address_error(url)
    return where


def _address_error(url: str, problem: str = "") -> SettingsError:
    # What stands before an "@" or behind a "?" may be a secret, also without a scheme.
    shown = re.sub(r"^(\w+://)?.*@", r"\1***@", re.sub(r"\?.*", "?***", url, flags=re.DOTALL))
    got = repr(shown) if shown else f"one that cannot be used ({problem})"
    return SettingsError(
        f"OPENAI_BASE_URL: expected an address such as http://localhost:8000/v1, got {got}"
    )


def _advice(message: str) -> str:
    if not is_too_long(message):
        return ""
    return "; lower RT4CHART_JUDGE_INPUT_LIMIT, or give the model a longer context"


_SHOWN = 200
_SHORTEST_SECRET = 5  # a shorter string is no key and would be found in any text


@dataclass(frozen=True, slots=True)
class ErrorMessages:
    """Describes the SDK's errors; `secrets` are masked in the endpoint's own messages."""

    sdk: ModuleType
    timeout_s: float
    secrets: tuple[str, ...]

    def judge_error(self, model: str, error: Exception) -> JudgeError:
        """A JudgeError that describes the error."""
        return JudgeError(f"{model}: {self._words(error)}")

    def _words(self, error: Exception) -> str:
        sdk = self.sdk
        match error:
            case SlowReplyError():
                return slow_reason(self.timeout_s)
            case sdk.APITimeoutError():
                return f"cannot be reached, or broke off: not within {self.timeout_s:g} s"
            case sdk.AuthenticationError() | sdk.PermissionDeniedError():
                return f"{error.status_code}: the key was refused; check OPENAI_API_KEY"
            case sdk.RateLimitError():
                return "429: too many requests, also after waiting as asked"
            case sdk.APIStatusError() if 300 <= error.status_code < 400:
                return f"{error.status_code}: the address redirects; redirects are not followed"
            case sdk.APIStatusError():
                return f"{error.status_code}: {self._shown(error.message)}{_advice(error.message)}"
            case sdk.APIConnectionError():
                return f"cannot be reached, or broke off: {self._cause(error)}"
            case RecursionError():
                return "the reply is not what the protocol says: it is nested too deeply"
        return f"the reply is not what the protocol says: {self._shown(str(error))}"

    def _cause(self, error: Exception) -> str:
        message = str(error.__cause__ or error)
        # The message may quote our header in an escaped form, in which no secret is recognised.
        return "a header is not valid" if "header" in message.lower() else self._shown(message)

    def _shown(self, message: str) -> str:
        clean = " ".join(message.split())
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                clean = clean.replace(secret, "***")
        return clean[:_SHOWN]


if TYPE_CHECKING:
    import openai

MODEL = "gpt-4o-mini"  # the paper's
_LONGEST_PAUSE_S = 120.0  # the longest Retry-After that the client obeys


class Endpoint:
    """Chat completions and embeddings at one address; threads and event loops may share it.

    At most `concurrency` requests are in progress at once, over all callers. The client repeats a
    request after a 429, a 5xx or a broken connection, at most `max_retries` times, with jitter and
    as Retry-After says. `timeout_s` bounds each wait for the endpoint: to connect, and for the next
    bytes; a reply that is not there by then is not asked for again. A call is abandoned after
    `deadline_s`, the time of all attempts and the longest pauses between them; each attempt's reply
    must be whole within an equal share of it, and is bounded by `reply_limit`. `per_minute` bounds
    the spending of any 60 seconds, `budget` that of hours and days, which other processes may
    share; a call that could exceed one of them is refused at once.

    Its creator closes an endpoint, best by `with`; calls after that fail with a JudgeError. A
    forked process gets threads and connections of its own.
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
        budget: SharedBudget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `api_key` and `base_url` the client reads its own variables (`OPENAI_*`)."""
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
        self.deadline_s = deadline_of(timeout_s, max_retries)
        self._concurrency = concurrency
        secrets = secrets_of(self._given["base_url"], client.api_key)
        self._failures = ErrorMessages(self._sdk, timeout_s, secrets)
        self._caught = (self._sdk.OpenAIError, ValueError, RecursionError)
        self._dialect = Dialect()
        self._unshortened: set[str] = set()  # embedding models that refuse `dimensions`
        self._minute = MinuteLimit(per_minute or Budget(), clock, Lock())
        self._budget = budget
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
        """The completions, in order, with an error in place of one that failed. Blocks."""
        return self._workers.run([partial(self._send_one, prompt) for prompt in prompts])

    async def send_async(self, prompts: Sequence[Prompt]) -> list[Completion | JudgeError]:
        """The same, awaited; cancelling it cancels the requests that have not begun."""
        jobs = [partial(self._send_one, prompt) for prompt in prompts]
        return await self._workers.run_async(jobs)

    def embed(self, texts: Sequence[str], *, model: str, dimensions: int | None) -> Embeddings:
        """One vector for each text; JudgeError where it fails (UnsentError before it is sent).

        Blocks.
        """
        (reply,) = self._workers.run([partial(self._embed_one, texts, model, dimensions)])
        if isinstance(reply, JudgeError):
            raise reply
        return reply

    def close(self) -> None:
        """Send nothing more, wait for requests in progress, and close the connections."""
        self._workers.close()
        with self._lock:
            if self._opened is not None:
                self._opened.close()

    def _start(self, client: openai.OpenAI | None) -> None:
        """Create what belongs to one process: threads, connections, locks."""
        self._lock = Lock()
        self._opened = client
        self._workers = Workers(self._concurrency, self.deadline_s)

    def reset_after_fork(self) -> None:
        """Start afresh in a forked child; the parent's connections stay open and unused."""
        _PARENT_CLIENTS.append(self._opened)
        is_closed = self._workers.is_closed
        self._minute.lock = Lock()
        if self._budget is not None:
            self._budget.lock = Lock()
        self._start(None)
        if is_closed:
            self._workers.close()

    def _client(self) -> openai.OpenAI:
        with self._lock:
            if self._opened is None:
                self._opened = _open(self._sdk, **self._given)
            return self._opened

    def _send_one(self, prompt: Prompt) -> Completion | JudgeError:
        admitted = self._admit(self.model, prompt.input_tokens, prompt.max_output_tokens)
        if isinstance(admitted, UnsentError):
            return admitted
        reply = self._complete(prompt)
        if isinstance(reply, Completion):
            admitted(reply.input_tokens, reply.cached_tokens, reply.output_tokens)
        return reply

    def _admit(
        self, model: str, input_tokens: int, output_tokens: int
    ) -> Callable[[int, int, int], None] | UnsentError:
        """Reserve a call within all budgets, or the error if one of them has no room.

        The result takes the tokens that the call used: input, of these cached, and output. A call
        that failed keeps its estimate.
        """
        budget = self._budget
        booked = Booking() if budget is None else budget.reserve(model, input_tokens, output_tokens)
        if isinstance(booked, str):
            return UnsentError(booked)
        reservation = self._minute.reserve(input_tokens + output_tokens)
        if isinstance(reservation, str):
            if budget is not None:
                budget.settle(booked, NOTHING)
            return UnsentError(reservation)

        def settle(used: int, cached: int, output: int) -> None:
            reservation.tokens = used + output
            if budget is not None:
                budget.settle(booked, budget.cost(model, used, cached, output))

        return settle

    def _complete(self, prompt: Prompt) -> Completion | JudgeError:
        """The completion; each attempt leaves out a parameter that the endpoint refused.

        A reduced dialect is kept for later calls only once the endpoint has answered in it.
        """
        dialect = known = self._dialect
        while True:
            try:
                reply = self._client().chat.completions.create(
                    model=self.model, **dialect.parameters(prompt)
                )
                completion = completion_from(reply, prompt)
            except self._caught as error:
                less = self._less(dialect, error, sends_logprobs=prompt.asks_odds)
                if less is None:
                    return self._failures.judge_error(self.model, error)
                dialect = less
            else:
                if dialect != known:
                    self._dialect = dialect
                return completion

    def _less(self, spoken: Dialect, error: Exception, *, sends_logprobs: bool) -> Dialect | None:
        if not self._is_refusal(error):
            return None
        message, param = str(getattr(error, "message", "")), getattr(error, "param", None)
        return spoken.without(message, param, sends_logprobs=sends_logprobs)

    def _is_refusal(self, error: Exception) -> bool:
        return isinstance(error, (self._sdk.BadRequestError, self._sdk.UnprocessableEntityError))

    def _embed_one(
        self, texts: Sequence[str], model: str, dimensions: int | None
    ) -> Embeddings | JudgeError:
        admitted = self._admit(model, tokens_in(texts), 0)
        if isinstance(admitted, UnsentError):
            return admitted
        reply = self._embedded(texts, model, dimensions)
        if isinstance(reply, Embeddings):
            admitted(reply.tokens, 0, 0)
        return reply

    def _embedded(
        self, texts: Sequence[str], model: str, dimensions: int | None
    ) -> Embeddings | JudgeError:
        """The vectors; whole ones where the model refuses to shorten them."""
        size = None if model in self._unshortened else dimensions
        while True:
            shortened: dict[str, Any] = {} if size is None else {"dimensions": size}
            try:
                reply = self._client().embeddings.create(
                    model=model, input=list(texts), **shortened
                )
                found = embeddings_from(reply, texts)
            except self._caught as error:
                if size is None or not self._is_refusal(error) or is_final(str(error)):
                    return self._failures.judge_error(model, error)
                size = None
            else:
                if size != dimensions:
                    self._unshortened.add(model)
                return found


# Weak references: an endpoint that nobody uses is freed. Children keep their parent's clients
# referenced: closing one there would end the parent's TLS connections.
_ENDPOINTS: WeakSet[Endpoint] = WeakSet()
_PARENT_CLIENTS: list[object] = []


def _reset_after_fork() -> None:
    for endpoint in list(_ENDPOINTS):
        endpoint.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _sdk() -> ModuleType:
    """The package `openai`, imported late: it takes half a second."""
    try:
        import openai
    except ModuleNotFoundError as error:
        raise SettingsError(
            "this judge needs the package openai: pip install 'otel-rt4chart[openai]'"
        ) from error
    return openai
