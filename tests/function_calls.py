"""How much work a call does, as a number that no slow machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable


def count_function_calls(run: Callable[[], object]) -> int:
    """The calls of functions, returns and built-ins while `run` runs, in this thread."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls
