"""Look-ups for waiting traces: few statements for many, ready before a worker is free."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from threading import Barrier, Event, Thread

import pytest

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.verify import DraftClaim, RulesJudge, Sentence, Verifier
from rt4chart_collector.core.instruments import FAILURES, UNSAVED_TRACES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.look_ahead import LEAST, MOST, LookAhead, LookedUp, LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.route_names import RouteNames
from rt4chart_collector.pipeline.trace_queue import LARGE_BYTES, TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.stages import Shutdown, workers_running
from rt4chart_collector.store.engine.connect import Client, Rows
from tests.polling import wait_until
from tests.rt4chart_collector.pipeline.line import decisions, spans_from

THREADS = 4


class Together(RulesJudge):
    """Answers `THREADS` calls at once or none: a call waits until the others are there."""

    is_remote = True

    def __init__(self) -> None:
        """No call yet."""
        super().__init__()
        self.barrier = Barrier(THREADS, timeout=60)

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Wait for the other calls."""
        self.barrier.wait()
        return super().decompose(sentences)


class Counted(Client):
    """A connection that counts the look-ups of decisions by it."""

    def __init__(self, client: Client) -> None:
        """Another connection to the same database."""
        own = client.sibling()
        super().__init__(own._driver, own.target)
        self.look_ups = 0

    def query(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> Rows:
        """Count, and ask."""
        self.look_ups += "FROM rt4chart_verifications WHERE TraceId IN" in query
        return super().query(query, parameters, settings=settings)


class Parts:
    """A queue of traces and what works on it, with a judge."""

    def __init__(
        self, client: Client, judge: RulesJudge, stack: ExitStack, routes: RouteNames | None = None
    ) -> None:
        self.client = stack.enter_context(closing(Counted(client)))
        self.metrics, self.undecided = ServiceMetrics(), set[str]()
        self.queue = TraceQueue(999, on_done=self._note)
        self.giving_up = Event()
        self._judge, self._stack = judge, stack
        self._open: Callable[[], Client] = lambda: stack.enter_context(closing(client.sibling()))
        self.saver = OutcomeSaver(
            self._open(),
            self.queue.done,
            self.metrics,
            clock=time.time_ns,
            giving_up=self.giving_up,
        )
        verifier = CurrentVerifier(Verifier(judge), time.time_ns)
        self.look_ups = LookUps(self.saver, verifier, self.metrics, routes)
        self.look_ahead = LookAhead(self.client, self.queue, self.look_ups)

    def put(self, number: int, answer: str = "The trial lasts 14 days.") -> None:
        """So many traces at once."""
        spans = [spans_from(one, answer) for one in range(1, number + 1)]
        self.queue.put([AssembledTrace(one[0].trace_id, one, is_whole=True) for one in spans])

    def work(self, threads: int) -> None:
        """Let the threads decide on all that was put."""
        workers = [
            Worker(
                self._open(),
                self.queue,
                self.saver,
                self.look_ups,
                self.metrics,
                Breaker(self._judge.id, time.time_ns),
                sample_rate=1.0,
                clock=time.time_ns,
            )
            for _ in range(threads)
        ]
        with workers_running(
            self.look_ahead, workers, self.saver, self.giving_up, shutdown=Shutdown(120)
        ):
            pass

    def start(self) -> None:
        """The look-ahead's own thread; nobody takes what is ready."""
        thread = Thread(target=self.look_ahead.run, daemon=True)
        thread.start()
        self._stack.callback(thread.join, 60)
        self._stack.callback(self.look_ahead.abandon)
        self._stack.callback(self.queue.close)

    def _note(self, traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        self.undecided |= set(undecided)


def test_every_thread_waits_for_a_slow_endpoint_at_once(client: Client) -> None:
    """One thread took all waiting traces, and waited for the judge with one after another."""
    with ExitStack() as stack:
        parts = Parts(client, Together(), stack)
        parts.put(3 * THREADS)

        parts.work(THREADS)

    assert decisions(client) == {("verified", "entailed"): 3 * THREADS}


def test_waiting_traces_are_looked_up_together(client: Client) -> None:
    """Each look-up doubles while the workers are quick; an answer of its own took one each."""
    with ExitStack() as stack:
        parts = Parts(client, RulesJudge(), stack)
        parts.put(MOST)

        parts.work(THREADS)
        taken = parts.client.look_ups

    assert taken < MOST / 2
    assert decisions(client) == {("verified", "entailed"): MOST}


def test_no_more_is_ready_than_workers_soon_take(client: Client) -> None:
    """What is known of an answer may change while it waits: others stay in the queue unread."""
    with ExitStack() as stack:
        parts = Parts(client, RulesJudge(), stack)
        parts.put(MOST)
        parts.start()

        assert wait_until(lambda: parts.client.look_ups == 1)
        first = parts.look_ahead.take()
        ready = MOST - (parts.queue.limit - parts.queue.room)

    assert isinstance(first, LookedUp)
    assert [len(first.answers), first.before, first.letters] == [1, {}, {}]
    assert ready == LEAST


def test_a_large_trace_is_handed_over_as_it_is(client: Client) -> None:
    """Reading it would hold up the others; the worker that takes it looks it up."""
    with ExitStack() as stack:
        parts = Parts(client, RulesJudge(), stack)
        parts.put(1, "The trial lasts 14 days. " * (LARGE_BYTES // 25 + 1))
        parts.start()

        found = parts.look_ahead.take()
        looked_up = parts.client.look_ups

    assert isinstance(found, AssembledTrace)
    assert looked_up == 0


def test_a_store_that_is_away_leaves_the_traces_undecided(client: Client) -> None:
    """They are counted, and their lease ends: recovery finds them again."""
    with ExitStack() as stack:
        parts = Parts(client, RulesJudge(), stack)
        parts.client.close()
        parts.put(3)
        parts.queue.close()

        parts.look_ahead.run()
        parts.saver.save_waiting()

    assert len(parts.undecided) == parts.metrics.total(UNSAVED_TRACES) == 3
    assert parts.metrics.counts(FAILURES) == {("StoreError",): 1}


class Unreadable(RouteNames):
    """Names that cannot be made of one trace."""

    def __init__(self) -> None:
        """None."""

    def named(self, answers: Sequence[object]) -> Sequence[object]:  # type: ignore[override]
        """Fail for the trace 1."""
        if str(getattr(answers[0], "trace_id", "")).endswith("1"):
            raise ValueError("unreadable")
        return answers


def test_a_trace_that_cannot_be_read_keeps_no_other_from_it(client: Client) -> None:
    """It has no answers, as if it had none."""
    with ExitStack() as stack:
        parts = Parts(client, RulesJudge(), stack, routes=Unreadable())
        parts.put(2)

        parts.work(1)

    assert decisions(client) == {("verified", "entailed"): 1}
    assert parts.metrics.counts(FAILURES) == {("ValueError",): 1}


@pytest.mark.parametrize("is_closed", [True, False])
def test_what_is_abandoned_is_taken_by_nobody(client: Client, *, is_closed: bool) -> None:
    """When the time for the end is over, no worker begins anything new."""
    with ExitStack() as stack:
        parts = Parts(client, RulesJudge(), stack)
        parts.put(MOST)
        parts.start()
        assert wait_until(lambda: parts.client.look_ups == 1)
        if is_closed:
            parts.queue.close()

        left = parts.look_ahead.abandon()
        parts.queue.close()
        taken = parts.look_ahead.take()

    assert (left, taken) == (MOST, None)
