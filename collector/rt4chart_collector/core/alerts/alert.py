"""An alert: its rule, service and route, severity, and the facts about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otel_rt4chart.core.text import encodable, one_line
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.facts import AlertFacts

TITLE = 200


class Rule(StrEnum):
    """The kinds of problem: `ROUTE_DRIFT` is a rise of unfaithful claims, `TEST` a test alert."""

    ROUTE_DRIFT = "route_drift"
    MISLEADING_DRIFT = "misleading_drift"
    NEW_ISSUE = "new_issue"
    REGRESSED_ISSUE = "regressed_issue"
    GROWING_ISSUE = "growing_issue"
    UNDECIDED = "undecided"
    BACKLOG = "backlog"
    NO_DATA = "no_data"
    JUDGE_FAILING = "judge_failing"
    JUDGE_DRIFT = "judge_drift"
    CORRECTED_RATE = "corrected_rate"
    TEST = "test"


# The measures that are watched for a rise, each with a rule of its own: the rule is a part of an
# alert's id, so both can be open on one route.
DRIFT_RULES: Mapping[Measure, Rule] = {
    Measure.UNFAITHFUL: Rule.ROUTE_DRIFT,
    Measure.MISLEADING: Rule.MISLEADING_DRIFT,
}


class Severity(StrEnum):
    """The severities of PagerDuty, the worst first."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def severity_rank(severity: str) -> int:
    """The rank of a severity, higher if worse; 0 for an unknown one."""
    worst_first = list(map(str, Severity))
    return len(worst_first) - worst_first.index(severity) if severity in worst_first else 0


@dataclass(frozen=True, slots=True)
class Alert:
    """A problem without its history; `service` and `route` are empty if it is of no route."""

    rule: str
    severity: str
    service: str = ""
    route: str = ""
    issue_id: int = 0
    title: str = ""
    facts: AlertFacts = field(default_factory=AlertFacts)
    starts_ns: int = 0

    def __post_init__(self) -> None:
        """Make the title one line, and replace characters that UTF-8 cannot encode."""
        object.__setattr__(self, "service", encodable(self.service))
        object.__setattr__(self, "route", encodable(self.route))
        object.__setattr__(self, "title", one_line(self.title, TITLE))

    @property
    def id(self) -> str:
        """The same for the same problem, so that it has one alert."""
        parts = (str(self.rule), self.service, self.route, str(self.issue_id))
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def route_key(self) -> tuple[str, str]:
        """The service and the route."""
        return self.service, self.route

    @property
    def resolving(self) -> str:
        """The effect of resolving it by hand, as the end of a sentence."""
        return "it fires again once it has gone and come back, or gets worse"

    @property
    def accepting(self) -> str:
        """The effect of accepting the risen rate, as the end of a sentence; "" if there is none."""
        if self.rule not in DRIFT_RULES.values():
            return ""
        return (
            "the rate since the rise is the route's usual one from now on, and only a further rise "
            "fires"
        )

    @property
    def labels(self) -> dict[str, str]:
        """The labels that silences match."""
        return {
            "id": self.id,
            "rule": str(self.rule),
            "severity": str(self.severity),
            "service": self.service,
            "route": self.route,
            "issue_id": f"{self.issue_id:016x}" if self.issue_id else "",
        }
