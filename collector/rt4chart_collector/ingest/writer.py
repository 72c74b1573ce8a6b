"""The writer: collects the spans of requests into batches, stores them, resolves each request."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import InputError, RT4ChartError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.redacted_error import redacted_error

# Measured: the insert rate hardly rises beyond 5,000 to 10,000 rows. A larger request is not split.
BATCH_ROWS = 5_000
BATCH_BYTES = 8 * 2**20
LINGER_S = 0.02

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """The spans of one request.

    `stored` is resolved when they are on disk, with the number of those that conflict with stored
    spans and are not; or with the error.
    """

    spans: Sequence[SpanRecord]
    size_bytes: int
    stored: Future[int] = field(default_factory=Future)


class IngestWriter:
    """A queue bounded in bytes, and the loop that empties it; `run` is the thread's function.

    `store` writes a batch or raises, and returns the positions of the spans that it refuses because
    they conflict with stored ones. `on_stored` receives the other spans of every batch that was
    written. A request is resolved after both: acknowledging it earlier could lose its spans in a
    crash.
    """

    def __init__(
        self,
        store: Callable[[Sequence[SpanRecord]], Collection[int]],
        on_stored: Callable[[Sequence[SpanRecord]], object],
        *,
        max_bytes: int,
    ) -> None:
        """Nothing is written until `run`."""
        self._store = store
        self._on_stored = on_stored
        self.max_bytes = max_bytes
        self._waiting: deque[Request] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._wanted = 0
        # Requests that the store has refused since it last took one.
        self._refused = 0
        self.size_bytes = 0
        self.requests = 0

    def offer(self, spans: Sequence[SpanRecord], size_bytes: int) -> Future[int] | None:
        """Queue a request; None if the queue is full or closed. An empty queue accepts any size."""
        request = Request(spans, size_bytes)
        with self._changed:
            is_full = self._waiting and self.size_bytes + size_bytes > self.max_bytes
            self._wanted = size_bytes if is_full else 0
            if self._stopping or is_full:
                return None
            # A client that goes away cancels its wait for the future, not the future.
            request.stored.set_running_or_notify_cancel()
            self._waiting.append(request)
            self.size_bytes += size_bytes
            self.requests += 1
            self._changed.notify()
        return request.stored

    @property
    def is_full(self) -> bool:
        """True while a request as large as the last refused one would be refused again."""
        with self._changed:
            is_over = self.size_bytes + self._wanted > self.max_bytes
            return bool(self._wanted and self._waiting) and is_over

    def stop(self) -> None:
        """Accept nothing more; `run` returns when all accepted requests are written."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def abandon(self) -> int:
        """Accept nothing more, and fail the waiting requests; returns their number."""
        with self._changed:
            self._stopping = True
            left = list(self._waiting)
            self._waiting.clear()
            self._forget(left)
            self._changed.notify()
        _fail(left, StoreError("the service ended before these spans were stored"))
        return len(left)

    def run(self) -> None:
        """Write batches until stopped and empty."""
        batch: Sequence[Request] = ()
        try:
            while batch := self._next_batch():
                self._write(batch)
                with self._changed:
                    self._forget(batch)
        finally:
            # If the thread dies, no request may wait for it for ever.
            _fail(batch, StoreError("the writer has ended"))
            self.abandon()

    def _forget(self, requests: Sequence[Request]) -> None:
        self.size_bytes -= sum(request.size_bytes for request in requests)
        self.requests -= len(requests)

    def _next_batch(self) -> list[Request]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            # Each insert creates a part on disk, which ClickHouse must merge: a short wait lets
            # requests that arrive together share one.
            linger = Deadline(LINGER_S)
            while not (self._stopping or self._is_full_batch()):
                if not self._changed.wait(linger.remaining):
                    break
            batch: list[Request] = []
            rows = size = 0
            while self._waiting and not (rows >= BATCH_ROWS or size >= BATCH_BYTES):
                batch.append(self._waiting.popleft())
                rows, size = rows + len(batch[-1].spans), size + batch[-1].size_bytes
            return batch

    def _is_full_batch(self) -> bool:
        rows = sum(len(request.spans) for request in self._waiting)
        return rows >= BATCH_ROWS or self.size_bytes >= BATCH_BYTES

    def _write(self, batch: Sequence[Request]) -> None:
        try:
            spans = [span for request in batch for span in request.spans]
            refused = frozenset(self._store(spans))
            kept = (
                [span for at, span in enumerate(spans) if at not in refused] if refused else spans
            )
            self._on_stored(kept)
        except InputError as error:
            if len(batch) == 1:
                _fail(batch, error)
            else:
                # One request's bad value must not cost the others their spans.
                for request in batch:
                    self._write([request])
        except StoreError as error:
            self._note_refused(len(batch), error)
            _fail(batch, error)
        except Exception as error:  # noqa: BLE001 - thread boundary: the writer outlives a batch
            if len(batch) > 1:
                for request in batch:
                    self._write([request])
                return
            log.error("a request was not stored: %s", redacted_error(error))
            _fail(batch, _unexpected(error))
        else:
            self._note_stored()
            first = 0
            for request in batch:
                positions = range(first, first := first + len(request.spans))
                request.stored.set_result(len(refused.intersection(positions)) if refused else 0)

    def _note_refused(self, requests: int, error: StoreError) -> None:
        """Log the first failure alone: clients send again, for as long as a disk is full."""
        if not self._refused:
            log.warning("requests are not stored, and refused until one is stored: %s", error)
        self._refused += requests

    def _note_stored(self) -> None:
        if self._refused:
            log.warning("requests are stored again; %d were refused", self._refused)
            self._refused = 0


def _unexpected(error: Exception) -> RT4ChartError:
    """The error for a request that fails alone, which its client must not send for ever."""
    name = type(error).__name__
    if isinstance(error, RecursionError):
        return InputError(f"expected less nested spans: {name} while they were read")
    return StoreError(f"unexpected {name}")


def _fail(batch: Sequence[Request], error: RT4ChartError) -> None:
    for request in batch:
        if not request.stored.done():
            request.stored.set_exception(error)
