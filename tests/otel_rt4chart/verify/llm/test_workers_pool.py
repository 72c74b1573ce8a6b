from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest

from otel_rt4chart.verify.llm.workers import DaemonPool

HERE: ContextVar[str] = ContextVar("here", default="")
HANGS = """
import threading
from otel_rt4chart.verify.llm.workers import DaemonPool
begun = threading.Event()
def hang():
    begun.set()
    threading.Event().wait(60)
DaemonPool(1, "hangs").submit(hang)
begun.wait(10)
"""


def test_jobs_run_beside_each_other_up_to_the_bound() -> None:
    """Two meet, a third waits for one of them."""
    pool, meeting, most = DaemonPool(2, "two"), threading.Barrier(2), [0, 0]
    lock = threading.Lock()

    def meet() -> None:
        with lock:
            most[0] += 1
            most[1] = max(most)
        meeting.wait(10)
        with lock:
            most[0] -= 1

    for future in [pool.submit(meet) for _ in range(4)]:
        future.result(10)

    assert most == [0, 2]
    pool.close()


def test_a_thread_that_is_free_is_used_again() -> None:
    """Work one after the other needs one thread."""
    pool = DaemonPool(8, "again")

    names = set()
    for _ in range(20):
        names.add(pool.submit(lambda: threading.current_thread().name).result(10))
        time.sleep(0.002)

    assert len(names) <= 2
    pool.close()


def test_errors_go_to_who_waits() -> None:
    """And the thread goes on."""
    pool = DaemonPool(1, "errors")

    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 // 0).result(10)

    assert pool.submit(lambda: 3).result(10) == 3
    pool.close()


def test_a_job_sees_the_context_of_who_submitted_it() -> None:
    """So that a request is not traced where its caller said so."""
    pool = DaemonPool(1, "context")
    token = HERE.set("caller")
    try:
        assert pool.submit(HERE.get).result(10) == "caller"
    finally:
        HERE.reset(token)
    assert pool.submit(HERE.get).result(10) == ""
    pool.close()


def test_a_closed_pool_does_what_it_has_and_takes_no_more() -> None:
    """Its threads end."""
    pool, go = DaemonPool(1, "closed"), threading.Event()
    futures = [pool.submit(go.wait, 10) for _ in range(3)]

    pool.close()
    go.set()

    assert [future.result(10) for future in futures] == [True] * 3
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(go.wait)


def test_a_pool_that_nobody_uses_any_more_lets_its_threads_go() -> None:
    """Without being closed."""
    pool = DaemonPool(2, "forgotten")
    thread = pool.submit(threading.current_thread).result(10)

    del pool
    gc.collect()
    thread.join(10)

    assert not thread.is_alive()


def test_a_job_that_hangs_does_not_keep_the_process() -> None:
    """Unlike the threads of concurrent.futures."""
    ended = subprocess.run([sys.executable, "-c", HANGS], check=False, timeout=60)

    assert ended.returncode == 0
