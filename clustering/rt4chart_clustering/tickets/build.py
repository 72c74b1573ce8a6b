"""Builds the ticket of an issue: figures first, texts of users only on request."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_clustering.explain.diagnosis import Diagnosis
from rt4chart_clustering.explain.loss_stage import STAGE_ADVICE, STAGE_NAMES
from rt4chart_clustering.tickets.ticket import Ticket, TicketExample
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.issues.failures import Failure


def build_ticket(
    ranked: RankedIssue, diagnosis: Diagnosis, typical: Sequence[Failure] = ()
) -> Ticket:
    """The issue as it is now, with these examples."""
    issue, traffic, severity = ranked.issue, ranked.traffic, ranked.severity
    share = "–" if traffic.share is None else f"{traffic.share:.2%}"
    facts = [
        ("severity", f"{severity.level} ({severity.score:.0f} of 100)"),
        ("service", issue.service),
        ("route", issue.route),
        ("claims", f"{issue.claims} in {issue.answers} answers"),
        ("failures a day", f"{traffic.a_day:.1f}"),
        (f"share of the route's claims, {ranked.measure}", share),
        ("first seen", iso(issue.first_ns)),
        ("last seen", iso(issue.last_ns)),
    ]
    advice = ""
    if diagnosis.ordered:
        lost = diagnosis.ordered[0]
        facts.append(("evidence", f"{STAGE_NAMES[lost]} ({diagnosis.share(lost):.0%} of failures)"))
        advice = STAGE_ADVICE[lost]
    return Ticket(
        id=hex_id(issue.id),
        title=issue.title,
        summary=issue.summary,
        level=severity.level,
        service=issue.service,
        route=issue.route,
        facts=tuple(facts),
        advice=advice,
        examples=tuple(_example(one) for one in typical),
        first_ns=issue.first_ns,
    )


def _example(failure: Failure) -> TicketExample:
    against = failure.against[0].text if failure.against else ""
    used = failure.used[0].text if failure.used else ""
    near = "" if used else failure.nearest
    return TicketExample(
        claim=failure.claim,
        label=failure.verdict,
        sentence=against or near,
        trace_id=failure.trace_id,
        used=used,
        claimed=failure.claimed_words,
        found=failure.found_words,
    )
