from __future__ import annotations

import stat
from pathlib import Path

import pytest

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.verdict_cache import FileCache
from otel_rt4chart.verify.llm.cache import Cache, MemoryCache, key_of, stored


def test_verdicts_are_found_again_after_a_restart(tmp_path: Path) -> None:
    """The file outlives the process, and its owner alone may read it."""
    path = tmp_path / "new" / "verdicts.db"
    first = FileCache(str(path))
    first.put("key", '{"label": "entailed"}')
    first.close()
    again = FileCache(str(path))

    assert again.get("key") == '{"label": "entailed"}'
    assert again.get("other") is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again.close()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error says which setting to change."""
    with pytest.raises(SettingsError, match=r"RT4CHART_JUDGE_CACHE: expected a file"):
        FileCache(str(tmp_path))


def test_a_closed_or_damaged_cache_costs_calls_and_nothing_else(tmp_path: Path) -> None:
    """Verification goes on without it."""
    cache = FileCache(str(tmp_path / "verdicts.db"))
    cache.close()

    cache.put("key", "1")

    assert cache.get("key") is None


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_full_cache_lets_the_oldest_go(kind: str, tmp_path: Path) -> None:
    """Its size is bounded."""
    cache: Cache = MemoryCache(100)
    if kind == "file":
        cache = FileCache(str(tmp_path / "v.db"), most=100)

    for number in range(1000):
        cache.put(str(number), "1")

    assert (cache.get("0"), cache.get("999")) == (None, "1")
    if isinstance(cache, FileCache):
        cache.close()


def test_a_damaged_value_is_none() -> None:
    """It is asked for again."""
    cache = MemoryCache()
    cache.put("key", "{")

    assert stored(cache, "key") is None


def test_the_parts_of_a_key_are_kept_apart() -> None:
    """Text cannot move from one part to the next."""
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of("a", 1) != key_of("a", "1")
