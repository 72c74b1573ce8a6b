"""When nobody is told: a snooze of one alert, or a maintenance window over many."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rt4chart_collector.core.alerts.alert import Alert

# The labels that a silence may name; `id` alone is a snooze.
MATCHERS = ("id", "rule", "severity", "service", "route", "issue_id")


@dataclass(frozen=True, slots=True)
class Silence:
    """From `starts_ns` until before `ends_ns` nobody is told of alerts that have these labels.

    Without a matcher it holds for all alerts.
    """

    starts_ns: int
    ends_ns: int
    matchers: Mapping[str, str] = field(default_factory=dict)
    actor: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """The same for the same silence, written twice; an end of its own is another's."""
        labels = sorted(self.matchers.items())
        said = (self.starts_ns, labels, self.actor, self.note)
        return hashlib.sha256(repr(said).encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def is_snooze(self) -> bool:
        """True where it is of one alert."""
        return set(self.matchers) == {"id"}

    def covers(self, alert: Alert, at_ns: int) -> bool:
        """True where the alert is silent then."""
        labels = alert.labels
        return self.starts_ns <= at_ns < self.ends_ns and all(
            labels.get(name) == value for name, value in self.matchers.items()
        )


def silenced_until(alert: Alert, silences: Iterable[Silence], at_ns: int) -> int:
    """When the alert may be told of again, of all silences that hold now; 0 where none does."""
    return max((one.ends_ns for one in silences if one.covers(alert, at_ns)), default=0)
