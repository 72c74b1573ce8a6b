from __future__ import annotations

import gc
import weakref

from rt4chart_collector.core.memory import start_left_out


class Ring:
    """An object that only a search for garbage frees."""

    def __init__(self) -> None:
        self.itself = self


def test_a_search_for_garbage_passes_over_what_was_there_before() -> None:
    """What is made within the block is freed as ever, and what is older after its end."""
    old = Ring()
    kept = weakref.ref(old)
    with start_left_out():
        del old
        new = weakref.ref(Ring())
        gc.collect()
        assert new() is None
        assert kept() is not None

    gc.collect()
    assert kept() is None
