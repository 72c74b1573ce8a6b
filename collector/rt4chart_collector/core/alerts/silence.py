"""Silences: a snooze of one alert, or a maintenance window for many."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rt4chart_collector.core.alerts.alert import Alert

# The labels that a silence may match; a silence with only `id` is a snooze.
MATCHERS = ("id", "rule", "severity", "service", "route", "issue_id")


@dataclass(frozen=True, slots=True)
class Silence:
    """No messages about alerts with these labels, from `starts_ns` until before `ends_ns`.

    Without matchers it applies to all alerts.
    """

    starts_ns: int
    ends_ns: int
    matchers: Mapping[str, str] = field(default_factory=dict)
    actor: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """The same for the same silence, written twice; `ends_ns` is not part of it."""
        labels = sorted(self.matchers.items())
        parts = (self.starts_ns, labels, self.actor, self.note)
        return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def is_snooze(self) -> bool:
        """True where it applies to one alert."""
        return set(self.matchers) == {"id"}

    def covers(self, alert: Alert, at_ns: int) -> bool:
        """True where it silences the alert at that time."""
        labels = alert.labels
        return self.starts_ns <= at_ns < self.ends_ns and all(
            labels.get(name) == value for name, value in self.matchers.items()
        )


def silenced_until(alert: Alert, silences: Iterable[Silence], at_ns: int) -> int:
    """The end of the last silence of the alert that applies now; 0 where none does."""
    return max((silence.ends_ns for silence in silences if silence.covers(alert, at_ns)), default=0)
