"""Regular expressions of an operator over texts of strangers: their input and time are bounded.

`re` cannot be interrupted, so that one expression with nested repetitions could stop a worker for
ever; the package `regex` takes the same expressions, and a time.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from otel_rt4chart.core.deadline import Deadline

# An answer of ordinary length takes microseconds.
PATTERN_S = 0.5
MAX_PATTERN_CHARACTERS = 2_000
MAX_SEARCHED_CHARACTERS = 50_000


class TooSlowError(Exception):
    """A search that was ended, or not begun: the text is too long, or the time is up."""


@lru_cache(256)
def compiled(pattern: str) -> regex.Pattern[str]:
    """The expression; ValueError says what is wrong with it."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise ValueError(f"it has {len(pattern):,} characters, at most {MAX_PATTERN_CHARACTERS:,}")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error


def found_words(pattern: str, text: str, deadline: Deadline | None = None) -> str | None:
    """The first match of the expression, None without one; TooSlowError if that is not known."""
    if len(text) > MAX_SEARCHED_CHARACTERS:
        raise TooSlowError(f"{len(text):,} characters, at most {MAX_SEARCHED_CHARACTERS:,}")
    left = PATTERN_S if deadline is None else min(deadline.remaining, PATTERN_S)
    if left <= 0:
        raise TooSlowError(f"the patterns took longer than {PATTERN_S:g} s")
    try:
        # Other threads go on meanwhile: a text never changes.
        found = compiled(pattern).search(text, timeout=left, concurrent=True)
    except TimeoutError:
        raise TooSlowError(f"the pattern took longer than {PATTERN_S:g} s") from None
    return None if found is None else str(found.group())
