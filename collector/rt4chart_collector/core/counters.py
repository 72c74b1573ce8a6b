"""What the service counts and times, from all its threads."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

_Value = TypeVar("_Value")
# Upper bounds in seconds: an insert takes milliseconds, a model's verdict seconds, and an answer
# that was found again after a stop has waited for hours.
BOUNDS_S = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 21_600, 86_400),
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """How long something took: how often up to each of `BOUNDS_S` and no less, last above all."""

    counts: tuple[int, ...]
    total_s: float

    @property
    def count(self) -> int:
        """How often it was timed."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Counted:
    """All that was counted and timed up to one moment, by name."""

    numbers: Mapping[str, int]
    times: Mapping[str, Distribution]

    def __getitem__(self, name: str) -> int:
        """How often it has happened."""
        return self.numbers.get(name, 0)

    def under(self, prefix: str) -> dict[str, int]:
        """The counts whose names begin with `prefix.`, without it, by name."""
        return {name: number for name, number in _under(self.numbers, prefix).items() if number}

    def times_under(self, prefix: str) -> dict[str, Distribution]:
        """The distributions whose names begin with `prefix.`, without it, by name."""
        return _under(self.times, prefix)


NOTHING = Counted(MappingProxyType({}), MappingProxyType({}))


class Counters:
    """Named counts and times that only grow; any thread may add."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._times: dict[str, list[int]] = {}
        self._totals: dict[str, float] = {}

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[name] += number

    def observe(self, name: str, seconds: float) -> None:
        """Note how long something took; a clock that was set back counts as no time."""
        seconds = max(seconds, 0.0)
        with self._lock:
            counts = self._times.setdefault(name, [0] * (len(BOUNDS_S) + 1))
            counts[bisect_left(BOUNDS_S, seconds)] += 1
            self._totals[name] = self._totals.get(name, 0.0) + seconds

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Note how long the block took under `name`, or its failure under `failed.name`."""
        begin = time.monotonic()
        try:
            yield
        except BaseException:  # whatever it is, it is counted and goes on
            self.add(f"failed.{name}")
            raise
        self.observe(name, time.monotonic() - begin)

    def read(self) -> Counted:
        """All of it at this moment."""
        with self._lock:
            times = {
                name: Distribution(tuple(counts), self._totals[name])
                for name, counts in self._times.items()
            }
            return Counted(dict(self._counts), times)

    def under(self, prefix: str) -> dict[str, int]:
        """The counts whose names begin with `prefix.`, without it, by name."""
        return self.read().under(prefix)

    def __getitem__(self, name: str) -> int:
        """How often it has happened."""
        with self._lock:
            return self._counts[name]


def _under(named: Mapping[str, _Value], prefix: str) -> dict[str, _Value]:
    start = f"{prefix}."
    return {
        name.removeprefix(start): named[name] for name in sorted(named) if name.startswith(start)
    }
