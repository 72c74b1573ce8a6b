"""What is wrong: a rule, where it holds, how bad it is, and the facts about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otel_rt4chart.core.text import encodable, one_line

TITLE = 200


class Rule(StrEnum):
    """What can be wrong. `TEST` is nothing."""

    ROUTE_DRIFT = "route_drift"
    NEW_ISSUE = "new_issue"
    REGRESSED_ISSUE = "regressed_issue"
    GROWING_ISSUE = "growing_issue"
    UNDECIDED = "undecided"
    BACKLOG = "backlog"
    NO_DATA = "no_data"
    JUDGE_FAILING = "judge_failing"
    TEST = "test"


class Severity(StrEnum):
    """How bad it is, in PagerDuty's words, the worst first."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def rank(severity: str) -> int:
    """More is worse; a word that is none of ours is not bad at all."""
    words = [str(one) for one in Severity]
    return len(words) - words.index(severity) if severity in words else 0


@dataclass(frozen=True, slots=True)
class Alert:
    """What is wrong now, without its history; `service` and `route` are empty where it is no route.

    `facts` are JSON: a name to a text, a number, a list or another such mapping, shown in messages
    in their order. What stands under `claim`, `text`, `question` or `answer`, at any depth, is
    what users were told, and leaves the house only where the settings allow it.
    """

    rule: str
    severity: str
    service: str = ""
    route: str = ""
    issue_id: int = 0
    title: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    starts_ns: int = 0

    def __post_init__(self) -> None:
        """The title is made one line, and what cannot be written is replaced."""
        object.__setattr__(self, "service", encodable(self.service))
        object.__setattr__(self, "route", encodable(self.route))
        object.__setattr__(self, "title", one_line(self.title, TITLE))

    @property
    def id(self) -> str:
        """The same for the same thing: under it nobody is told twice."""
        said = (str(self.rule), self.service, self.route, str(self.issue_id))
        return hashlib.sha256("\x1f".join(said).encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def resolving(self) -> str:
        """What it means to resolve it by hand, in a sentence."""
        if self.rule == Rule.ROUTE_DRIFT:
            return (
                "the rate since the rise is the route's usual one from now on, and it fires again "
                "on a further rise"
            )
        return "it fires again once it has gone and come back, or gets worse"

    @property
    def labels(self) -> dict[str, str]:
        """What a silence may match, besides which alert it is."""
        return {
            "id": self.id,
            "rule": str(self.rule),
            "severity": str(self.severity),
            "service": self.service,
            "route": self.route,
            "issue_id": f"{self.issue_id:016x}" if self.issue_id else "",
        }
