"""Alerts on issues: new ones, resolved ones that came back, and those that grow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    GrowingIssueFacts,
    IssueFacts,
    IssueShare,
    NewIssueFacts,
)
from rt4chart_collector.detect.drift.policy import DAY_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_figures import (
    DayWeight,
    decided_claims_by_day,
    failures_by_day,
)
from rt4chart_collector.store.issues.issues import WatchedIssue, watched_issues

# An issue is new for a day, unless it was found in old failures.
NEW_NS = DAY_NS
# Today, and the week before it with which it is compared.
DAYS = 8
# At a low sampling rate one failure represents many, so verified failures must reach 10 as well.
GROWTH_FACTOR, LEAST_FAILURES = 3.0, 10.0
# The largest issues alert; the others are in the list of issues.
MAX_ALERTS = 20
# The first grouping run finds what failed for weeks: more issues than these make one alert.
FIRST_RUN_ALERTS, FIRST_RUN_NS = 3, 600 * 10**9
LARGEST = 5


def issue_alerts(client: Client, *, now_ns: int) -> list[Alert]:
    """The current alerts, at most `MAX_ALERTS` of each rule. Issues are only read."""
    known = watched_issues(client)
    weights = failures_by_day(client, now_ns=now_ns, days=DAYS)
    daily, seen = daily_failures(known, weights), seen_today(known, weights)
    decided = decided_claims_by_day(client, now_ns=now_ns, days=DAYS)
    traffic = {
        issue.id: traffic_growth(decided.get((issue.service, issue.route), ())) for issue in known
    }
    order = sorted(known, key=lambda issue: (-sum(daily[issue.id]), issue.id))
    found = (
        _new_issues(order, daily, now_ns),
        [_regressed(issue) for issue in order if issue.state == "regressed"],
        [
            _growing(issue, daily[issue.id], seen[issue.id], traffic[issue.id], now_ns)
            for issue in order
            if seen[issue.id] >= LEAST_FAILURES
            and is_growing(issue, daily[issue.id], now_ns, traffic[issue.id])
        ],
    )
    return [alert for alerts in found for alert in alerts[:MAX_ALERTS]]


def daily_failures(
    known: Sequence[WatchedIssue], weights: Sequence[DayWeight]
) -> dict[int, tuple[float, ...]]:
    """Weighted failures of each issue by day, today first; those of aliases are included."""
    roots = _roots(known)
    found: defaultdict[int, list[float]] = defaultdict(lambda: [0.0] * DAYS)
    for day_weight in weights:
        if day_weight.issue in roots:
            found[roots[day_weight.issue]][day_weight.age_days] += day_weight.weight
    return {issue.id: tuple(found[issue.id]) for issue in known}


def seen_today(known: Sequence[WatchedIssue], weights: Sequence[DayWeight]) -> Counter[int]:
    """The number of failures of each issue that were verified today, without weights."""
    roots = _roots(known)
    found: Counter[int] = Counter()
    for day_weight in weights:
        if day_weight.age_days == 0 and day_weight.issue in roots:
            found[roots[day_weight.issue]] += day_weight.seen
    return found


def _roots(known: Sequence[WatchedIssue]) -> dict[int, int]:
    """The issue of each id, which may be its own id or an alias."""
    return {alias: issue.id for issue in known for alias in (issue.id, *issue.aliases)}


def is_new(issue: WatchedIssue, now_ns: int) -> bool:
    """True for an untouched issue that was created, and first failed, within the last day."""
    is_young = min(issue.born_ns, issue.first_ns) > now_ns - NEW_NS
    return issue.state in ("", "new") and is_young


def traffic_growth(decided: Sequence[float]) -> float:
    """Today's decided claims over the mean of earlier days with any; 1 if there are none."""
    before = [claims for claims in decided[1:] if claims > 0]
    return decided[0] * len(before) / sum(before) if before and decided[0] > 0 else 1.0


def is_growing(
    issue: WatchedIssue, daily: Sequence[float], now_ns: int, traffic: float = 1.0
) -> bool:
    """True at three times the usual share of the route's claims, with at least ten failures.

    `traffic` is the growth of the route's claims. The issue must be at least two days old.
    """
    age = now_ns - issue.first_ns
    if issue.state == "ignored" or age < 2 * DAY_NS:
        return False
    return (
        daily[0] >= LEAST_FAILURES
        and daily[0] >= GROWTH_FACTOR * failures_a_day_before(daily, age) * traffic
    )


def failures_a_day_before(daily: Sequence[float], age_ns: int) -> float:
    """The mean failures a day before today, over the days since the issue's first failure."""
    return sum(daily[1:]) / min(len(daily) - 1, max(age_ns / DAY_NS - 1, 1.0))


def first_run(known: Sequence[WatchedIssue]) -> list[WatchedIssue]:
    """The issues that the first grouping run created, in the same order."""
    first_ns = min((issue.born_ns for issue in known if issue.born_ns), default=0)
    return [issue for issue in known if first_ns <= issue.born_ns < first_ns + FIRST_RUN_NS]


def _new_issues(
    order: Sequence[WatchedIssue], daily: Mapping[int, Sequence[float]], now_ns: int
) -> list[Alert]:
    """An alert for each new issue; one for all of the first run, if they are many."""
    new, first = [issue for issue in order if is_new(issue, now_ns)], first_run(order)
    if len(first) <= FIRST_RUN_ALERTS:
        return [_new(issue) for issue in new]
    ids = {issue.id for issue in first}
    single = [_new(issue) for issue in new if issue.id not in ids]
    digest = [_digest(first, daily)] if any(issue.id in ids for issue in new) else []
    return [*digest, *single]


def _digest(first: Sequence[WatchedIssue], daily: Mapping[int, Sequence[float]]) -> Alert:
    """The alert for the first run; whatever becomes of its issues, it is the same one."""
    failures = sum(sum(daily[issue.id]) for issue in first)
    largest = tuple(
        IssueShare(
            issue=f"{issue.id:016x}",
            title=issue.title,
            service=issue.service,
            route=issue.route,
            share=sum(daily[issue.id]) / failures if failures else 0.0,
        )
        for issue in first[:LARGEST]
    )
    title, since_ns = f"{len(first)} new issues in the first grouping run", first[0].born_ns
    facts = NewIssueFacts(
        issue="", title=title, since_ns=since_ns, issues=len(first), largest=largest
    )
    return Alert(Rule.NEW_ISSUE, Severity.WARNING, title=title, facts=facts, starts_ns=since_ns)


def _new(issue: WatchedIssue) -> Alert:
    title = f"New issue: {issue.title}"
    facts = NewIssueFacts(issue=f"{issue.id:016x}", title=issue.title, since_ns=issue.born_ns)
    return _alert(Rule.NEW_ISSUE, Severity.WARNING, issue, title, issue.born_ns, facts)


def _regressed(issue: WatchedIssue) -> Alert:
    title = f"Resolved issue is back: {issue.title}"
    facts = IssueFacts(issue=f"{issue.id:016x}", title=issue.title, since_ns=issue.state_ns)
    return _alert(Rule.REGRESSED_ISSUE, Severity.ERROR, issue, title, issue.state_ns, facts)


def _growing(
    issue: WatchedIssue, daily: Sequence[float], seen: int, traffic: float, now_ns: int
) -> Alert:
    since_ns, before = now_ns - DAY_NS, failures_a_day_before(daily, now_ns - issue.first_ns)
    title = (
        f"Issue is growing: {issue.title}: {daily[0]:.0f} failures in 24 h, "
        f"{before:.1f} a day before"
    )
    facts = GrowingIssueFacts(
        issue=f"{issue.id:016x}",
        title=issue.title,
        since_ns=since_ns,
        failures_today=daily[0],
        seen_today=seen,
        failures_a_day_before=before,
        claims_today_over_before=traffic,
    )
    return _alert(Rule.GROWING_ISSUE, Severity.WARNING, issue, title, since_ns, facts)


def _alert(
    rule: Rule,
    severity: Severity,
    issue: WatchedIssue,
    title: str,
    starts_ns: int,
    facts: IssueFacts,
) -> Alert:
    return Alert(rule, severity, issue.service, issue.route, issue.id, title, facts, starts_ns)
