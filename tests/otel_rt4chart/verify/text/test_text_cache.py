"""The cache of what was read from texts."""

from __future__ import annotations

from otel_rt4chart.verify.text.text_cache import TextCache


def counting_cache(characters: int) -> tuple[list[str], TextCache[str, int]]:
    """The texts that were read, and a cache of their lengths."""
    read: list[str] = []

    def length(text: str) -> int:
        read.append(text)
        return len(text)

    return read, TextCache(length, len, characters=characters)


def test_recent_texts_are_read_once() -> None:
    """Whatever is made of them."""
    read, cache = counting_cache(100)

    assert [cache("abc"), cache("de"), cache("abc")] == [3, 2, 3]
    assert read == ["abc", "de"]


def test_the_cache_is_bounded_by_characters() -> None:
    """The least recent texts go first; one longer than half of the cache is not kept."""
    read, cache = counting_cache(8)

    for text in ("aa", "bb", "cc", "aa", "dd", "ee", "bb", "longer", "longer"):
        assert cache(text) == len(text)

    assert read == ["aa", "bb", "cc", "dd", "ee", "bb", "longer", "longer"]
