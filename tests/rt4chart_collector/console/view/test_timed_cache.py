"""A small cache of values that may be a little old."""

from __future__ import annotations

from rt4chart_collector.console.view.timed_cache import TimedCache


def test_a_value_is_cached_for_its_time() -> None:
    """After that it is read again."""
    cache: TimedCache[str, int] = TimedCache(most=2, fresh_ns=10)
    cache.put("a", 1, 100)

    assert (cache.get("a", 109), cache.get("a", 110), cache.get("b", 100)) == (1, None, None)


def test_a_value_that_took_long_to_read_is_cached_for_longer() -> None:
    """Reading it then takes a tenth of the time at most; the shortest time holds."""
    cache: TimedCache[str, int] = TimedCache(most=2, fresh_ns=10)
    cache.put("a", 1, 100, took_ns=3)
    cache.put("b", 2, 100, took_ns=0)

    assert [cache.get("a", at_ns) for at_ns in (129, 130)] == [1, None]
    assert [cache.get("b", at_ns) for at_ns in (109, 110)] == [2, None]


def test_the_oldest_key_is_dropped() -> None:
    """A replaced value counts as new."""
    cache: TimedCache[str, int] = TimedCache(most=2, fresh_ns=10)
    for at_ns, (key, value) in enumerate([("a", 1), ("b", 2), ("a", 3), ("c", 4)]):
        cache.put(key, value, at_ns)

    assert [cache.get(key, 5) for key in "abc"] == [3, None, 4]
