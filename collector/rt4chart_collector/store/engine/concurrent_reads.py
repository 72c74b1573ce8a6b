"""Independent reads, two at a time where a second client is free."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Generic, TypeAlias, TypeVar

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.connect import Client

_Value = TypeVar("_Value")
# Gives a client that is free at once, or None; never waits for one.
SpareClient: TypeAlias = Callable[[], AbstractContextManager[Client | None]]


class Pending(Generic[_Value]):
    """A read of `ConcurrentReads`, whose result its owner asks for."""

    def __init__(self, reads: ConcurrentReads, call: Callable[[Client], _Value]) -> None:
        """Does not begin to read."""
        self._reads, self._call = reads, call
        self._value: list[_Value] = []
        self._error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """True once the read has ended, also with an error."""
        return bool(self._value) or self._error is not None

    def result(self) -> _Value:
        """The result, after reading it where nobody has begun to; raises the error of the read."""
        self._reads.finish(self)
        if self._error is not None:
            raise self._error
        return self._value[0]

    def run(self, client: Client) -> None:
        """Read, and keep the result or the error; raises a StoreError, which is of the client."""
        try:
            self._value.append(self._call(client))
        except BaseException as error:  # `result` raises it
            self._error = error
            if isinstance(error, StoreError):
                raise


class ConcurrentReads:
    """Reads for one thread over its `client`, and beside it over a spare client in another thread.

    Whoever is free takes the next read, so that without a spare client the owner makes all of them.
    Left by an error, it begins no further read. It ends when the other thread has.
    """

    def __init__(
        self,
        client: Client,
        spare: SpareClient | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """`check` is called before each read of the owner, and may raise to make it the last."""
        self.client = client
        self._spare = spare
        self._check = check
        self._changed = threading.Condition()
        self._waiting: list[Pending[object]] = []
        self._is_closed = False
        self._helper: threading.Thread | None = None

    def start(self, call: Callable[[Client], _Value]) -> Pending[_Value]:
        """Read as soon as a client is free; at the latest, when the result is asked for."""
        pending = Pending(self, call)
        with self._changed:
            self._waiting.append(pending)  # type: ignore[arg-type]
            self._changed.notify_all()
        if self._spare is not None and self._helper is None:
            self._helper = threading.Thread(target=self._help, args=(self._spare,), daemon=True)
            self._helper.start()
        return pending

    def finish(self, pending: Pending[_Value]) -> None:
        """Read until this one is done: itself first, others while the other thread reads it."""
        while not pending.is_done:
            self._check()
            with self._changed:
                if not self._waiting:
                    self._changed.wait_for(lambda: pending.is_done)
                    return
                at = self._waiting.index(pending) if pending in self._waiting else 0  # type: ignore[arg-type]
                taken = self._waiting.pop(at)
            taken.run(self.client)

    def __enter__(self) -> ConcurrentReads:
        """The reads themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Begin no further read, and wait for the one that the other thread may be in."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if self._helper is not None:
            self._helper.join()

    def _help(self, spare: SpareClient) -> None:
        # Where a client cannot be opened or broke, the owner goes on alone.
        with suppress(StoreError), spare() as client:
            while client is not None and (taken := self._next()) is not None:
                try:
                    taken.run(client)
                finally:
                    with self._changed:
                        self._changed.notify_all()

    def _next(self) -> Pending[object] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return self._waiting.pop(0) if self._waiting else None
