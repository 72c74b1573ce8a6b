"""Ranks issues by their severity, the worst first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.findings.failure_kinds import measure_of_fingerprint
from rt4chart_clustering.triage.severity import WINDOW_DAYS, IssueSeverity, Traffic, severity_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import DAY_NS
from rt4chart_collector.store.issues.issue_figures import (
    DayWeight,
    DecidedClaims,
    decided_claims,
    failures_by_day,
)
from rt4chart_collector.store.issues.issues import Issue, list_issues


@dataclass(frozen=True, slots=True)
class RankedIssue:
    """An issue with its traffic and its severity."""

    issue: Issue
    traffic: Traffic
    severity: IssueSeverity

    @property
    def measure(self) -> Measure:
        """The measure that counts its claims; its share of the route is one of that measure."""
        return measure_of_fingerprint(self.issue.fingerprint)


def rank_issues(client: Client, *, now_ns: int) -> list[RankedIssue]:
    """Every issue, by severity, then by claims; an alias counts for its issue."""
    days: defaultdict[int, list[DayWeight]] = defaultdict(list)
    for day in failures_by_day(client, now_ns=now_ns, days=WINDOW_DAYS):
        days[day.issue].append(day)
    decided = decided_claims(client, now_ns=now_ns, days=WINDOW_DAYS)
    found = [
        _rank(
            issue,
            [day for known in issue.ids for day in days[known]],
            decided.get((issue.service, issue.route), DecidedClaims()),
            now_ns,
        )
        for issue in list_issues(client)
    ]
    return sorted(found, key=lambda one: (-one.severity.score, -one.issue.claims, one.issue.id))


def _rank(
    issue: Issue, days: Sequence[DayWeight], decided: DecidedClaims, now_ns: int
) -> RankedIssue:
    sums: defaultdict[str, float] = defaultdict(float)
    daily = [0.0] * WINDOW_DAYS
    for day in days:
        sums[day.label] += day.weight
        daily[WINDOW_DAYS - 1 - day.age_days] += day.weight
    is_misleading = measure_of_fingerprint(issue.fingerprint) is Measure.MISLEADING
    age = (now_ns - issue.first_ns) / DAY_NS
    traffic = Traffic(
        contradicted=sums["contradicted"],
        baseless=sums["baseless"],
        misleading=sums["entailed"],
        decided=decided.checked if is_misleading else decided.claims,
        days=min(max(age, 1.0), float(WINDOW_DAYS)),
        daily=tuple(daily),
    )
    return RankedIssue(issue, traffic, severity_of(traffic))
