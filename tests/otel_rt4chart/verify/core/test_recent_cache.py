from __future__ import annotations

from otel_rt4chart.verify.neural.runtime import RecentCache


def test_what_was_asked_for_least_recently_is_forgotten() -> None:
    """And there are never more than so many."""
    kept: RecentCache[int, str] = RecentCache(8)
    for number in range(8):
        kept.put(number, str(number))
    kept.get(0)

    kept.put(8, "8")

    assert len(kept) == 8
    assert (kept.get(0), kept.get(1), kept.get(8)) == ("0", None, "8")
