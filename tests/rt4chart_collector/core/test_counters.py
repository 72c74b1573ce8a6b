"""Counts and times from many threads, read at one moment."""

from __future__ import annotations

from itertools import accumulate
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.core.counters import BOUNDS_S, Counters


@given(st.lists(st.floats(0, 1e6)))
def test_every_time_is_in_the_bucket_of_its_bound(times: list[float]) -> None:
    """As many are at most a bound as lie in the buckets up to it; the sum is theirs."""
    counters = Counters()
    for seconds in times:
        counters.observe("lag", seconds)

    found = counters.read().times.get("lag")

    assert (found.count if found else 0) == len(times)
    if found:
        assert found.total_s == pytest.approx(sum(times))
        up_to = list(accumulate(found.counts))[:-1]
        assert up_to == [sum(one <= bound for one in times) for bound in BOUNDS_S]


def test_clock_that_was_set_back_takes_no_time() -> None:
    """A negative time counts as none."""
    counters = Counters()
    counters.observe("lag", -5.0)

    found = counters.read().times["lag"]
    assert (found.counts[0], found.total_s) == (1, 0.0)


def test_block_is_timed_or_counted_as_failed() -> None:
    """A failure is no time, and goes on to whoever called."""
    counters = Counters()
    with counters.timed("insert.spans"):
        pass
    with pytest.raises(SystemExit), counters.timed("insert.spans"):
        raise SystemExit

    read = counters.read()
    assert read.times_under("insert")["spans"].count == 1
    assert read.under("failed") == {"insert.spans": 1}


def test_what_was_read_does_not_change() -> None:
    """It is of one moment, whatever other threads add meanwhile."""
    counters = Counters()

    def add() -> None:
        for _ in range(1000):
            counters.add("a.x")
            counters.observe("lag", 1)

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    before = counters.read()
    told = before.under("a")
    for thread in threads:
        thread.join()

    assert before.under("a") == told
    assert (counters["a.x"], counters.read().times["lag"].count) == (4000, 4000)
