from __future__ import annotations

import multiprocessing
import sqlite3
import stat
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.verdict_cache import FileCache
from otel_rt4chart.verify.llm.cache import (
    Cache,
    MemoryCache,
    ScopedCache,
    key_of,
    load_value,
    store_value,
)


def test_verdicts_are_found_again_after_a_restart(tmp_path: Path) -> None:
    """The file outlives the process, and its owner alone may read it."""
    path = tmp_path / "verdicts.db"
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
    with pytest.raises(SettingsError, match=r"RT4CHART_JUDGE_CACHE: expected a writable file"):
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


@pytest.mark.parametrize(
    "text", ["", "{", '{"label": "bogus"}', "[1]", "0 1", f"{'0' * 64} 1", "[" * 50_000]
)
def test_a_value_that_was_not_kept_like_that_is_none(text: str) -> None:
    """It is asked for again, whatever stands in the cache."""
    cache = MemoryCache()
    store_value(cache, "key", {"label": "entailed"})
    assert load_value(cache, "key") == {"label": "entailed"}

    cache.put("key", text)

    assert load_value(cache, "key") is None


def test_a_value_under_another_key_is_none() -> None:
    """The seal is over key and value."""
    cache = MemoryCache()
    store_value(cache, "key", 1)

    cache.put("other", cache.get("key") or "")

    assert load_value(cache, "other") is None


def test_what_is_kept_for_one_scope_is_not_found_in_another() -> None:
    """The same model's name may be another model at another address."""
    cache = MemoryCache()
    here, there = ScopedCache(cache, "http://a/v1"), ScopedCache(cache, "http://b/v1")

    here.put("key", "1")

    assert (here.get("key"), there.get("key")) == ("1", None)


def test_an_existing_file_becomes_its_owners_alone(tmp_path: Path) -> None:
    """Its companions too."""
    path = tmp_path / "verdicts.db"
    companions = [path.with_name(path.name + name) for name in ("", "-wal", "-shm")]
    first = FileCache(str(path))
    first.put("key", "1")
    for one in companions:
        one.chmod(0o644)

    second = FileCache(str(path))

    assert [stat.S_IMODE(one.stat().st_mode) for one in companions] == [0o600] * 3
    first.close()
    second.close()


def test_a_file_that_another_process_writes_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One write waits a moment, the next ones do not; what is lost is counted and told once."""
    path, now = tmp_path / "verdicts.db", [0.0]
    cache = FileCache(str(path), clock=lambda: now[0])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    for number in range(200):  # would take minutes, should each of them wait
        cache.put(str(number), "1")
    other.execute("ROLLBACK")
    cache.put("resting", "1")
    now[0] = 10.0
    cache.put("key", "1")

    assert (cache.get("0"), cache.get("resting"), cache.get("key")) == (None, None, "1")
    assert cache.lost == 201
    assert len(caplog.records) == 1
    assert "database is locked" in caplog.text
    other.close()
    cache.close()


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_opens_the_file_itself(tmp_path: Path) -> None:
    """Both sides go on with it."""
    cache = FileCache(str(tmp_path / "verdicts.db"))
    cache.put("before", "1")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        cache.put("child", "2")
        sender.send(cache.get("before"))

    process = context.Process(target=child)
    process.start()
    assert receiver.poll(60)
    process.join(60)

    assert receiver.recv() == "1"
    assert cache.get("child") == "2"
    cache.close()


def test_the_parts_of_a_key_are_kept_apart() -> None:
    """Text cannot move from one part to the next."""
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of("a", 1) != key_of("a", "1")


def test_a_folder_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    """A path with a slip in it is told, not created."""
    with pytest.raises(SettingsError, match=r"create the folder .*nowhere first"):
        FileCache(str(tmp_path / "nowhere" / "verdicts.db"))

    assert not (tmp_path / "nowhere").exists()
