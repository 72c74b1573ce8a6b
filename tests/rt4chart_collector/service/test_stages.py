"""Threads that die, and an end that is over in time whatever hangs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread, Timer

import pytest

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.ingest.writer import IngestWriter
from rt4chart_collector.service.health import ASSEMBLER, WRITER
from rt4chart_collector.service.stages import Shutdown, closing, stage
from rt4chart_collector.store.engine.connect import Client
from tests.polling import wait_until
from tests.rt4chart_collector.pipeline.line import Line, spans_from


def held(event: Event) -> Callable[..., None]:
    """Something that hangs until the event is set."""

    def wait(*_: object) -> None:
        event.wait(60)

    return wait


def held_store(event: Event) -> Callable[..., tuple[int, ...]]:
    """A store that hangs until the event is set, and then takes everything."""

    def store(*_: object) -> tuple[int, ...]:
        event.wait(60)
        return ()

    return store


def nothing() -> None:
    """A stop that has no effect."""


def test_writer_that_dies_is_noticed_and_its_requests_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its request fails, those behind it too, and no other is accepted."""
    stored: list[Sequence[SpanRecord]] = []
    go = Event()

    def store(spans: Sequence[SpanRecord]) -> tuple[int, ...]:
        go.wait(10)
        raise SystemExit("a user's text")

    ingest, shutdown = IngestWriter(store, stored.append, max_bytes=10**6), Shutdown(1)
    with stage(WRITER, ingest.run, stop=ingest.stop, shutdown=shutdown, abandon=ingest.abandon):
        assert shutdown.health.reasons == ()
        first = ingest.offer(spans_from(1), 10)
        wait_until(lambda: not ingest._waiting)
        second = ingest.offer(spans_from(2), 10)
        go.set()
        wait_until(lambda: shutdown.health.reasons == ("writer_dead",))
        assert ingest.offer(spans_from(3), 10) is None

    for waiting in (first, second):
        assert waiting is not None
        assert isinstance(waiting.exception(1), StoreError)
    assert "a thread of the writer is dead" in caplog.text
    assert "user's text" not in caplog.text
    assert stored == []


def test_assembler_that_dies_is_noticed(client: Client) -> None:
    """Of whatever error: here its clock fails."""
    line, shutdown = Line(client, Verifier(RulesJudge())), Shutdown(1)
    with stage(ASSEMBLER, line.assembler.run, stop=line.assembler.stop, shutdown=shutdown):
        assert shutdown.health.reasons == ()
        del line.now
        wait_until(lambda: shutdown.health.reasons == ("assembler_dead",))


def test_thread_that_returns_before_the_end_is_dead_too() -> None:
    """At the end it is not."""
    early, late = Shutdown(1), Shutdown(1)
    with stage(WRITER, nothing, stop=nothing, shutdown=early):
        wait_until(lambda: early.health.reasons == ("writer_dead",))
    stopped = Event()
    with stage(WRITER, held(stopped), stop=stopped.set, shutdown=late):
        late.begin()

    assert late.health.reasons == ("stopping",)


def test_end_is_over_in_time_though_the_store_hangs(
    caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    """What waits is refused, what is lost is counted, and no connection is closed under it."""
    hung = Event()
    ingest, shutdown = (
        IngestWriter(held_store(hung), lambda _: None, max_bytes=9),
        Shutdown(0.3),
    )
    used = client.sibling()
    with (
        caplog.at_level(logging.ERROR),
        closing(used, shutdown),
        stage(WRITER, ingest.run, stop=ingest.stop, shutdown=shutdown, abandon=ingest.abandon),
    ):
        in_hand = ingest.offer(spans_from(1), 1)
        wait_until(lambda: not ingest._waiting)
        waiting = ingest.offer(spans_from(2), 1)

    # The writer still hangs: the end did not wait for it.
    assert not hung.is_set()
    assert shutdown.is_late
    assert used.command("SELECT 1") == 1
    assert waiting is not None
    assert isinstance(waiting.exception(0), StoreError)
    assert "the writer did not end in time; 1 requests were not stored" in caplog.text
    hung.set()
    assert in_hand is not None
    assert in_hand.result(10) == 0
    wait_until(lambda: not shutdown.is_late)
    used.close()


def test_deadline_is_one_for_all_stages() -> None:
    """A stage that hangs uses it up; the next one gets the grace alone."""
    shutdown, hung = Shutdown(0.2), Event()
    threads = [Thread(target=hung.wait, args=(60,), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    deadline = shutdown.begin()

    assert not shutdown.join(threads[:1], 0.0)
    assert deadline.is_over
    assert shutdown.begin() is deadline
    assert not shutdown.join(threads[1:], 0.0)
    ending = Timer(0.05, nothing)
    ending.start()
    assert shutdown.join([ending])
    assert shutdown.is_late
    hung.set()
    wait_until(lambda: not shutdown.is_late)
