"""The span processor of the inline mode and its worker thread."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 its exit handler must be registered before ours
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

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import guard
from otel_rt4chart.emit import Emitter
from otel_rt4chart.emit.emitter import without_texts
from otel_rt4chart.inline.answer_decider import AnswerDecider
from otel_rt4chart.inline.answer_gatherer import (
    TIMEOUTS,
    Answer,
    AnswerGatherer,
    CompleteRecord,
    needs_verdict,
)
from otel_rt4chart.inline.completion_hook import PENDING_COMPLETIONS
from otel_rt4chart.inline.held_traces import Need
from otel_rt4chart.inline.span_queue import SpanQueue, drain
from otel_rt4chart.judges.answer_verdicts import DEFAULT_LAYERS
from otel_rt4chart.sampling import Layers, Sampler
from otel_rt4chart.spans.exchange.assembly import TraceTimeouts
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.spans.reading.sdk import RouteCallable, is_verdict_span
from otel_rt4chart.verify import Verifier

TICK_S = 0.2
SHUTDOWN_S = 5.0
ABANDON_S = 0.5  # after that, for counting the answers that were not verified
MAX_PENDING = 64
SHUTDOWN = "shutdown"
OnVerdict = Callable[[Verdict], object]


class _Flush:
    """A call of `force_flush` that waits for the answers that were pending when it started."""

    def __init__(self) -> None:
        self.done = Event()
        self.due_count = 0
        self.is_complete = False


class InlineVerifier(SpanProcessor):
    """Verifies the answers of ended traces in one daemon thread, and emits the verdicts.

    On the application's threads, `on_end` only puts a span into a bounded queue, and never waits.
    Each candidate answer is counted with exactly one decision. A trace of which nothing would be
    verified or checked is not read: it counts as one answer, `not_sampled`. Nor is one of which
    only citations would be checked, if its answer has none. A forked child starts
    empty, with a new thread at its first span. When the process ends, queued answers are verified
    for at most `stop_s` seconds; the rest is counted as errors. `on_verdict` is called in that
    thread with each verdict, after it was emitted: a slow callback delays verification, never a
    request.
    """

    def __init__(
        self,
        *,
        sampler: Sampler,
        build_verifier: Callable[[], Verifier],
        emitter: Emitter,
        layers: Layers = DEFAULT_LAYERS,
        route: RouteCallable | None = None,
        queue_size: int = 4096,
        clock: Callable[[], int] = time.time_ns,
        timeouts: TraceTimeouts = TIMEOUTS,
        stop_s: float = SHUTDOWN_S,
        complete: CompleteRecord = PENDING_COMPLETIONS.with_messages,
        on_verdict: OnVerdict | None = None,
    ) -> None:
        """`build_verifier` is called in the worker thread for the first answer that needs it."""
        self._new_gatherer = partial(
            AnswerGatherer,
            route=route,
            complete=complete,
            forget=PENDING_COMPLETIONS.forget,
            has_messages=PENDING_COMPLETIONS.has_messages,
            # The application is told of every answer that it asks to be told of.
            need_of=partial(need_of, sampler, layers) if on_verdict is None else needs_verdict,
            timeouts=timeouts,
        )
        self._new_decider = partial(
            AnswerDecider,
            sampler=sampler,
            build_verifier=build_verifier,
            redactor=emitter.redactor,
            layers=layers,
            clock=clock,
        )
        self._emitter = emitter
        self._on_verdict = on_verdict
        self._queue_size = queue_size
        self._clock = clock
        self._remaining_s = stop_s
        self._is_down = False
        self._counts: Counter[str] = Counter()
        self._renew()
        after_fork(self._renew)
        _register_exit(self)
        emitter.observe_dropped(self._dropped)

    def _renew(self) -> None:
        """Reset the state that belongs to one process: queue, locks and thread."""
        self._queue = SpanQueue(self._queue_size)
        self._counts = Counter()
        self._count_lock, self._gather_lock, self._start_lock = Lock(), Lock(), Lock()
        self._wake = Event()
        self._thread: Thread | None = None
        self._is_stopping = self._is_abandoned = False
        self._flushes: deque[_Flush] = deque()
        self._waiting_flushes: deque[_Flush] = deque()
        self._done_count = 0
        self._pending: deque[Answer] = deque()
        self._in_progress: deque[Answer] = deque()
        self._gatherer = self._new_gatherer()
        self._decider = self._new_decider()

    @property
    def counts(self) -> Mapping[str, int]:
        """`spans.taken`, `spans.queue_full`, `callback.failed`, and `decisions.<name>` for each."""
        with self._count_lock:
            return {**self._counts, **{f"spans.{k}": v for k, v in self._dropped().items()}}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing happens at the start of a span."""

    def on_end(self, span: ReadableSpan) -> None:
        """Queue the span."""
        # A guard costs more than this method, which runs for every span: it is entered on errors.
        try:
            if self._is_down or is_verdict_span(span):
                return
            self._queue.offer(span)
            # Otherwise the thread looks within TICK_S: a wake-up for each span would cost too much.
            if len(self._queue) == self._queue.size // 2:
                self._wake.set()
            if self._thread is None:  # not started yet, or its thread ended
                self._start()
        except Exception:  # the boundary to the application
            with guard("an ended span"):
                raise

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Verify the queued answers of traces whose local root has ended.

        False on a timeout, or if spans wait but there is no live thread to read them.
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
            return flush.is_complete
        return False

    def shutdown(self) -> None:
        """Verify queued answers until the deadline, count the rest as errors, and stop."""
        with guard("shutting down"):
            if self._is_down:
                return
            self._is_down = self._is_stopping = True
            self._wake.set()
            # The spans may have ended before the thread could be started.
            if self._thread is None and len(self._queue):
                self._start()
            thread = self._thread
            if thread is None or thread is threading.current_thread():
                return
            thread.join(self._remaining_s)
            if thread.is_alive():
                self._is_abandoned = True
                # In another thread: what hangs may hold a lock that this needs.
                giving_up = Thread(target=self._abandon, name="rt4chart-end", daemon=True)
                giving_up.start()
                giving_up.join(ABANDON_S)

    def _start(self) -> None:
        if self._start_lock.acquire(blocking=False):
            thread = Thread(target=self._run, name="rt4chart-inline", daemon=True)
            self._thread = thread
            try:
                thread.start()
            except BaseException:  # for example a limit on threads: the next span tries again
                self._forget_thread()
                raise

    def _forget_thread(self) -> None:
        """Let the next span start a thread."""
        self._thread = None
        self._start_lock.release()

    def _run(self) -> None:
        try:
            self._verify_until_stopped()
        finally:
            # Whatever ended the thread, answers are verified on.
            if not self._is_stopping:
                self._forget_thread()

    def _verify_until_stopped(self) -> None:
        # Requests of the judge must not appear in the application's traces.
        with suppress_instrumentation():
            while not self._is_stopping:
                with guard("verifying answers", is_own_thread=True):
                    self._wake.wait(TICK_S)
                    self._wake.clear()
                    self._step()
            with guard("verifying answers", is_own_thread=True):
                self._step()
            for flush in drain(self._flushes) + drain(self._waiting_flushes):
                flush.done.set()

    def _step(self) -> None:
        self._gather()
        while self._pending and not self._is_abandoned:
            self._verify_next()
            self._gather()

    def _gather(self) -> None:
        """Read queued spans, close traces that are due, and register waiting flushes."""
        with self._gather_lock:
            # Counted before the queue is read, so that it holds all spans that ended before them.
            flushes = len(self._flushes)
            now, spans = self._clock(), self._queue.take()
            self._gatherer.lose(self._queue.take_lost_traces())
            self._gatherer.add(spans, now)
            if self._is_stopping:
                found = self._gatherer.close_all()
            elif flushes:
                found = self._gatherer.close_rooted()
            else:
                found = self._gatherer.close(now, max(MAX_PENDING - len(self._pending), 0))
            self._pending.extend(found)
            for flush in [self._flushes.popleft() for _ in range(flushes)]:
                flush.due_count = self._done_count + len(self._pending)
                self._waiting_flushes.append(flush)
            self._release_flushes()
        if spans:
            self._count("spans.taken", len(spans))

    def _verify_next(self) -> None:
        """Decide on the next answer, unless `_abandon` has taken it."""
        try:
            answer = self._pending.popleft()
        except IndexError:
            return
        self._in_progress.append(answer)
        verdict = self._decider.decide(answer)
        # The thread that removes the answer emits its verdict, so that it is counted exactly once.
        try:
            self._in_progress.pop()
        except IndexError:
            return
        self._done_count += 1
        self._emit(answer, verdict)

    def _release_flushes(self) -> None:
        while self._waiting_flushes and self._waiting_flushes[0].due_count <= self._done_count:
            flush = self._waiting_flushes.popleft()
            flush.is_complete = True
            flush.done.set()

    def _emit(self, answer: Answer, verdict: Verdict) -> None:
        self._count(f"decisions.{verdict.decision}")
        self._emitter.emit(without_texts(verdict) if answer.is_private else verdict)
        self._call_back(verdict)

    def _call_back(self, verdict: Verdict) -> None:
        """Hand the verdict to the application; its exceptions are counted and logged."""
        if self._on_verdict is None:
            return
        try:
            self._on_verdict(verdict)
        except BaseException:  # the boundary to the application
            self._count("callback.failed")
            self._emitter.count_callback_failure()
            with guard("the on_verdict callback", is_own_thread=True):
                raise

    def _abandon(self) -> None:
        """Count the answers that the thread cannot finish; it may still verify one of them."""
        with suppress_instrumentation(), guard("giving answers up"):
            self._fail_remaining()
            self._gather()
            self._fail_remaining()

    def _fail_remaining(self) -> None:
        for answers in (self._in_progress, self._pending):
            for answer in drain(answers):
                self._emit(answer, self._decider.failed(answer, SHUTDOWN, SHUTDOWN))

    def _count(self, what: str, number: int = 1) -> None:
        with self._count_lock:
            self._counts[what] += number

    def _dropped(self) -> Mapping[str, int]:
        return {"queue_full": self._queue.dropped}

    def _exit(self) -> None:
        """Verify the answers that are ready, while judges can still be called and time is left."""
        deadline = Deadline(self._remaining_s)
        if not self._is_down:
            is_done = self.force_flush(int(self._remaining_s * 1000))
            self._remaining_s = deadline.remaining if is_done else 0.0


def need_of(sampler: Sampler, layers: Layers, trace_id: str) -> Need:
    """What the answers of a trace are read for, unless it is forced."""
    if not sampler.never_samples(trace_id):
        return Need.VERDICT
    return Need.NOTHING if layers.never_checks_citations(trace_id) else Need.CITATIONS


def _register_exit(verifier: InlineVerifier) -> None:
    """Call `_exit` at the end of the process, while thread pools still accept work.

    `atexit` is too late: `concurrent.futures` rejects work before that. Its own handler is in
    `threading._register_atexit`, which runs the latest registration first, so ours must be later.
    """
    register = getattr(threading, "_register_atexit", None)
    if register is None:
        return
    reference = weakref.WeakMethod(verifier._exit)

    def exit_if_alive() -> None:
        exit_method = reference()
        if exit_method is not None:
            with guard("ending the process"):
                exit_method()

    with guard("registering for the end"):
        register(exit_if_alive)
