"""The span processor of the inline mode, and its one thread."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 what it does at the end is to stand before ours
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event, Lock, Thread

from opentelemetry.context import Context
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import guard
from otel_rt4chart.emit import Emitter
from otel_rt4chart.emit.content import without_texts
from otel_rt4chart.inline.completion_hook import HELD
from otel_rt4chart.inline.decide import Decider
from otel_rt4chart.inline.gather import PATIENCE, Answer, Complete, Gatherer
from otel_rt4chart.inline.span_queue import SpanQueue, taken
from otel_rt4chart.sampling import Sampler
from otel_rt4chart.spans.exchange.assembly import Patience
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.spans.reading.sdk import Route, is_ours
from otel_rt4chart.verify import Verifier

TICK_S = 0.2
STOP_S = 5.0
LAST_S = 0.5  # to count, after that, what was not verified
AT_ONCE = 64
SHUTDOWN = "shutdown"


class _Flush:
    """Someone who waits until as many answers are settled as were pending when he came."""

    def __init__(self) -> None:
        self.done = Event()
        self.due = 0
        self.is_settled = False


class InlineVerifier(SpanProcessor):
    """Verifies the answers of ended traces in one daemon thread, and hands the verdicts over.

    `on_end` puts a span into a bounded queue; nothing else is done on the application's threads,
    and nothing there waits. Each candidate answer is counted with exactly one decision. After a
    fork the child begins empty, with a thread of its own at its first span. When the process ends,
    what is queued is verified for at most `stop_s` seconds; the rest is counted as an error.
    """

    def __init__(
        self,
        *,
        sampler: Sampler,
        build_verifier: Callable[[], Verifier],
        emitter: Emitter,
        route: Route | None = None,
        queue_size: int = 4096,
        clock: Callable[[], int] = time.time_ns,
        patience: Patience = PATIENCE,
        stop_s: float = STOP_S,
        complete: Complete = HELD.added,
    ) -> None:
        """`build_verifier` is called in the thread, when the first answer needs it."""
        self._new_gatherer = partial(Gatherer, route=route, complete=complete, patience=patience)
        self._new_decider = partial(
            Decider,
            sampler=sampler,
            build_verifier=build_verifier,
            redactor=emitter.redactor,
            clock=clock,
        )
        self._emitter = emitter
        self._queue_size = queue_size
        self._clock = clock
        self._left_s = stop_s
        self._is_down = False
        self._counts: Counter[str] = Counter()
        self._renew()
        after_fork(self._renew)
        _before_exit(self)
        emitter.watch(self._dropped)

    def _renew(self) -> None:
        """What belongs to one process: its queue, its locks, its thread."""
        self._queue = SpanQueue(self._queue_size)
        self._counts = Counter()
        self._counting, self._gathering, self._starting = Lock(), Lock(), Lock()
        self._wake = Event()
        self._thread: Thread | None = None
        self._is_stopping = self._is_over = False
        self._flushes: deque[_Flush] = deque()
        self._waiting: deque[_Flush] = deque()
        self._settled = 0
        self._pending: deque[Answer] = deque()
        self._in_hand: deque[Answer] = deque()
        self._gatherer = self._new_gatherer()
        self._decider = self._new_decider()

    @property
    def counts(self) -> Mapping[str, int]:
        """`spans.taken`, `spans.queue_full`, and `decisions.` with each decision's name."""
        with self._counting:
            return {**self._counts, **{f"spans.{k}": v for k, v in self._dropped().items()}}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing is done with a span that has not ended."""

    def on_end(self, span: ReadableSpan) -> None:
        """Queue the span."""
        # The guard costs more than what it guards here: it is entered where something is wrong.
        try:
            if self._is_down or is_ours(span):
                return
            self._queue.offer(span)
            # Else the thread looks by itself soon: to wake it each time would cost the application.
            if len(self._queue) == self._queue.size // 2:
                self._wake.set()
            if self._thread is None:
                self._start()
        except Exception:  # the border to the application
            with guard("an ended span"):
                raise

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Verify what is queued of traces whose local root has ended.

        False where time ran out, or where spans wait and no thread lives that would read them.
        """
        with guard("flushing"):
            if self._thread is None and len(self._queue):
                self._start()
            if self._thread is None or not self._thread.is_alive():
                return not (len(self._queue) or self._pending)
            if self._thread is threading.current_thread():
                return False
            flush = _Flush()
            self._flushes.append(flush)
            self._wake.set()
            flush.done.wait(max(timeout_millis, 0) / 1000)
            return flush.is_settled
        return False

    def shutdown(self) -> None:
        """Verify what is queued until the deadline, count the rest as errors, and end."""
        with guard("shutting down"):
            if self._is_down:
                return
            self._is_down = self._is_stopping = True
            self._wake.set()
            if self._thread is None and len(self._queue):
                self._start()
            thread = self._thread
            if thread is None or thread is threading.current_thread():
                return
            thread.join(self._left_s)
            if thread.is_alive():
                self._is_over = True
                # What hangs may be anything that a verdict needs, so it is not done here.
                giving_up = Thread(target=self._abandon, name="rt4chart-end", daemon=True)
                giving_up.start()
                giving_up.join(LAST_S)

    def _start(self) -> None:
        if self._starting.acquire(blocking=False):
            thread = Thread(target=self._run, name="rt4chart-inline", daemon=True)
            try:
                thread.start()
                self._thread = thread
            finally:
                # The system may have no thread to give now, and one for the next span.
                if self._thread is None:
                    self._starting.release()

    def _run(self) -> None:
        # The judge's own requests are no part of the application's traces.
        with suppress_instrumentation():
            while not self._is_stopping:
                self._wake.wait(TICK_S)
                self._wake.clear()
                with guard("verifying answers"):
                    self._step()
            with guard("verifying answers"):
                self._step()
            for flush in taken(self._flushes) + taken(self._waiting):
                flush.done.set()

    def _step(self) -> None:
        self._gather()
        while self._pending and not self._is_over:
            self._settle()
            self._gather()

    def _gather(self) -> None:
        """Read what is queued, and close what is due, for those who flush too."""
        with self._gathering:
            # Asked before the queue is read: what had ended when they came is then in it.
            flushes = len(self._flushes)
            now, spans = self._clock(), self._queue.take()
            self._gatherer.lose(self._queue.lost())
            self._gatherer.add(spans, now)
            if self._is_stopping:
                found = self._gatherer.close_all()
            elif flushes:
                found = self._gatherer.close_rooted()
            else:
                found = self._gatherer.close(now, max(AT_ONCE - len(self._pending), 0))
            self._pending.extend(found)
            for flush in [self._flushes.popleft() for _ in range(flushes)]:
                flush.due = self._settled + len(self._pending)
                self._waiting.append(flush)
            self._answer_flushes()
        if spans:
            self._count("spans.taken", len(spans))

    def _settle(self) -> None:
        """Decide on the next answer, unless it was given up meanwhile."""
        try:
            answer = self._pending.popleft()
        except IndexError:
            return
        self._in_hand.append(answer)
        verdict = self._decider.decide(answer)
        try:
            self._in_hand.pop()
        except IndexError:
            return
        self._settled += 1
        self._tell(answer, verdict)

    def _answer_flushes(self) -> None:
        while self._waiting and self._waiting[0].due <= self._settled:
            flush = self._waiting.popleft()
            flush.is_settled = True
            flush.done.set()

    def _tell(self, answer: Answer, verdict: Verdict) -> None:
        self._count(f"decisions.{verdict.decision}")
        self._emitter.emit(without_texts(verdict) if answer.is_private else verdict)

    def _abandon(self) -> None:
        """Count what the thread will not come to; it may still be at work on one answer."""
        with suppress_instrumentation(), guard("giving answers up"):
            self._give_up()
            self._gather()
            self._give_up()

    def _give_up(self) -> None:
        for waiting in (self._in_hand, self._pending):
            for answer in taken(waiting):
                self._tell(answer, self._decider.failed(answer, SHUTDOWN, SHUTDOWN))

    def _count(self, what: str, number: int = 1) -> None:
        with self._counting:
            self._counts[what] += number

    def _dropped(self) -> Mapping[str, int]:
        return {"queue_full": self._queue.dropped}

    def _exit(self) -> None:
        """While judges may still be asked: verify what is ready, for as long as is left."""
        until = time.monotonic() + self._left_s
        if not self._is_down:
            is_done = self.force_flush(int(self._left_s * 1000))
            self._left_s = max(until - time.monotonic(), 0.0) if is_done else 0.0


def _before_exit(verifier: InlineVerifier) -> None:
    """Call `_exit` while thread pools still take work.

    `atexit` comes too late: `concurrent.futures` refuses work before it. What it uses itself,
    `threading._register_atexit`, runs the latest registered first; so its own must stand before.
    """
    register = getattr(threading, "_register_atexit", None)
    if register is None:
        return
    known = weakref.WeakMethod(verifier._exit)

    def leave() -> None:
        alive = known()
        if alive is not None:
            with guard("ending the process"):
                alive()

    with guard("registering for the end"):
        register(leave)
