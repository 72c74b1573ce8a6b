from __future__ import annotations

import threading

import pytest

from otel_rt4chart.spans.exchange.assembly import TraceTimeouts
from otel_rt4chart.verify import CheckPlan, Exchange, Report, RulesJudge, Verifier
from otel_rt4chart.verify.pipeline import EVERY_CHECK
from tests.otel_rt4chart.inline.app import App

AT_ONCE = TraceTimeouts(quiet_ns=0, orphan_ns=0, max_ns=0)


class Endless(Verifier):
    """Each answer that is verified is followed by the next one, until `is_enough`."""

    def __init__(self) -> None:
        super().__init__(RulesJudge())
        self.app: App | None = None
        self.is_enough = threading.Event()
        self.count = 0

    def verify(
        self, exchange: Exchange, *, strict: bool = False, plan: CheckPlan = EVERY_CHECK
    ) -> Report:
        """As ever."""
        self.count += 1
        if self.app is not None and not self.is_enough.is_set():
            self.app.ask()
        return super().verify(exchange, strict=strict, plan=plan)


def test_a_flush_ends_under_load() -> None:
    """When what was there at its arrival is verified, however much comes after."""
    endless = Endless()
    app = App(build=lambda: endless, timeouts=AT_ONCE)
    endless.app = app
    try:
        app.ask()
        assert app.inline.force_flush(10_000)
        assert app.inline.force_flush(10_000)
        assert not endless.is_enough.is_set()
        assert endless.count >= 2
    finally:
        endless.is_enough.set()
        app.close()


def test_several_flushes_end_each_in_its_time() -> None:
    """Threads may flush side by side."""
    app, done = App(), []
    for _ in range(10):
        app.ask()
    threads = [threading.Thread(target=lambda: done.append(app.flush())) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)

    assert done == [True] * 4
    assert app.decisions == {"verified": 10}
    app.close()


def test_a_thread_that_cannot_be_started_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is at its limit of threads may have room again; a flush says what waits."""

    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    app = App()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        app.ask()
        assert not app.inline.force_flush(100)
    app.ask()

    assert app.flush()
    assert app.decisions == {"verified": 2}
    app.close()


def test_what_waits_without_a_thread_is_verified_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No span comes any more that would start one."""

    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    app = App()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        app.ask()
    app.close()

    assert app.decisions == {"verified": 1}


def test_a_flush_of_nothing_is_done_at_once() -> None:
    """No thread is needed for it, before the first span and after the end."""
    app = App()
    assert app.inline.force_flush(0)
    assert app.inline._thread is None
    app.close()
    assert app.inline.force_flush(0)
