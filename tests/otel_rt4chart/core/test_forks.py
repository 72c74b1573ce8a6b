from __future__ import annotations

import gc
import os
from collections.abc import Callable

import pytest

from otel_rt4chart.core.forks import after_fork

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


class Renewed:
    """Counts how often it was made anew."""

    def __init__(self) -> None:
        self.count = 0
        after_fork(self._renew)

    def _renew(self) -> None:
        self.count += 1


def in_child(status: Callable[[], int]) -> int:
    """What a forked child ends with."""
    child = os.fork()
    if child == 0:
        os._exit(status())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_makes_it_anew_once() -> None:
    """The parent keeps what it has."""
    one = Renewed()

    assert in_child(lambda: one.count) == 1
    assert one.count == 0


def test_what_is_gone_is_not_kept_for_it() -> None:
    """The registration holds no object alive."""
    one = Renewed()
    del one
    gc.collect()

    assert in_child(lambda: 0) == 0
    assert not [thing for thing in gc.get_objects() if isinstance(thing, Renewed)]
