"""The facts about an alert as its page shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.console.view.filters import percent
from rt4chart_collector.console.view.urls import answer_url, issue_url, with_query
from rt4chart_collector.core.alerts.facts import (
    AlertFacts,
    BacklogFacts,
    DriftEvidence,
    DriftFacts,
    FailureGrowth,
    GrowingIssueFacts,
    IssueFacts,
    JudgeFacts,
    MeasuredRate,
    UnfaithfulAnswer,
)
from rt4chart_collector.notify.alert_message import Lines, figures, unknown_facts
from rt4chart_collector.store.issues.issue_events import IssueEvent
from rt4chart_collector.store.issues.issue_tickets import RecordedTicket, recorded_tickets

_ISSUE_ID = re.compile(r"[0-9a-f]{1,16}")


@dataclass(frozen=True, slots=True)
class DetailedRate:
    """A rate with its interval, and the numbers that it is based on."""

    rate: Rate
    claims: int
    answers: int


@dataclass(frozen=True, slots=True)
class GrowthLink:
    """Something with more failures an hour than before; `url` is "" where it has no page.

    `note` is the state of an issue and who owns it, `tickets` are its own.
    """

    name: str
    url: str
    before: float
    after: float
    note: str = ""
    tickets: tuple[RecordedTicket, ...] = ()


@dataclass(frozen=True, slots=True)
class IssueNote:
    """What people did about an issue: its state and owner in words, and its tickets."""

    words: str
    tickets: tuple[RecordedTicket, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerLink:
    """One of the worst answers, and the number of answers with the same claim."""

    url: str
    worst: UnfaithfulAnswer
    answers: int = 1


@dataclass(frozen=True, slots=True)
class AlertDetails:
    """The parts of the page, each empty where the alert has no such fact.

    `certainty` compares the evidence with its threshold, in words; `others` are names and values.
    """

    certainty: str
    before: DetailedRate | None
    after: DetailedRate | None
    issues: tuple[GrowthLink, ...]
    documents: tuple[GrowthLink, ...]
    worst: tuple[AnswerLink, ...]
    others: Lines


def grown_issues(facts: AlertFacts) -> list[int]:
    """The ids of the issues that grew."""
    issues = facts.issues if isinstance(facts, DriftFacts) else ()
    return [int(issue.id, 16) for issue in issues if _ISSUE_ID.fullmatch(issue.id)]


def issue_notes(trail: Iterable[IssueEvent]) -> dict[int, IssueNote]:
    """What people did about each issue, from the trails of several, each in order."""
    trails: dict[int, list[IssueEvent]] = {}
    for event in trail:
        trails.setdefault(event.issue, []).append(event)
    return {issue: _note(events) for issue, events in trails.items()}


def _note(trail: Sequence[IssueEvent]) -> IssueNote:
    known = {event.kind: event.value for event in trail}
    owner = f"owner {known['owner']}" if known.get("owner") else "no owner"
    return IssueNote(f"{known.get('state') or 'new'}, {owner}", tuple(recorded_tickets(trail)))


def alert_details(facts: AlertFacts, notes: Mapping[int, IssueNote] | None = None) -> AlertDetails:
    """The facts, sorted by the parts of the page; `notes` are those of `issue_notes`."""
    drift = facts if isinstance(facts, DriftFacts) else DriftFacts()
    return AlertDetails(
        certainty=_certainty(drift.evidence) if drift.evidence else "",
        before=_rate(drift.before),
        after=_rate(drift.after),
        issues=tuple(_issue(issue, notes or {}) for issue in drift.issues),
        documents=tuple(_growth(document, document.id, "") for document in drift.documents),
        worst=_by_claim(drift.worst_answers),
        others=(*(line for line in _others(facts) if line[1]), *unknown_facts(facts)),
    )


def _rate(measured: MeasuredRate | None) -> DetailedRate | None:
    if measured is None or measured.rate is None:
        return None
    rate = Rate(measured.rate, measured.low, measured.high)
    return DetailedRate(rate, measured.claims, measured.answers)


def _issue(issue: FailureGrowth, notes: Mapping[int, IssueNote]) -> GrowthLink:
    name = issue.title or f"issue {issue.id}"
    if not _ISSUE_ID.fullmatch(issue.id):
        return _growth(issue, name, "")
    number = int(issue.id, 16)
    note = notes.get(number, IssueNote(""))
    return replace(_growth(issue, name, issue_url(number)), note=note.words, tickets=note.tickets)


def _growth(row: FailureGrowth, name: str, url: str) -> GrowthLink:
    before, after = row.failures_an_hour_before, row.failures_an_hour_after
    return GrowthLink(name, url, before or 0.0, after or 0.0)


def _by_claim(answers: Sequence[UnfaithfulAnswer]) -> tuple[AnswerLink, ...]:
    """The worst answer of each claim, with the number of answers that have it."""
    found: dict[str, AnswerLink] = {}
    for answer in answers:
        url = with_query("/answers", q=answer.trace_id)
        if answer.has_span:
            index = answer.claim_index if answer.claim_index >= 0 else None
            url = answer_url(answer.trace_id, answer.span_id, index)
        claim = " ".join(answer.claim.split()) or url
        first = found.get(claim, AnswerLink(url, answer, 0))
        found[claim] = replace(first, answers=first.answers + 1)
    return tuple(found.values())


def _certainty(evidence: DriftEvidence) -> str:
    """The evidence against chance; a threshold below 1 is a share, and considers no chance."""
    log, bound = evidence.log, evidence.threshold
    if bound < 1:
        return f"{percent(log)}, and {percent(bound)} alerts; this rule does not consider chance"
    times = math.exp(min(max(log - bound, 0.0), 14.0))
    if times < 1.5:
        return "just at the threshold of an alert"
    more = f"{times:,.0f} times" if times < 1e6 else "more than a million times"
    return f"{more} the threshold of an alert"


def _others(facts: AlertFacts) -> Iterator[tuple[str, str]]:
    """The figures that have no part of the page of their own."""
    match facts:
        case DriftFacts():
            if facts.evidence and facts.evidence.threshold >= 1:
                evidence, threshold = facts.evidence.log, facts.evidence.threshold
                yield (
                    "logarithms of the evidence and its threshold",
                    (f"{_number(evidence)}, {_number(threshold)}"),
                )
            yield "verifier", facts.verifier
            if facts.detectable_rise is not None:
                yield (
                    "smallest rise detectable in 90 min",
                    f"{facts.detectable_rise * 100:.1f} points",
                )
        case IssueFacts():
            yield "title", facts.title
            if isinstance(facts, GrowingIssueFacts):
                yield "failures in the last 24 h", _number(facts.failures_today)
                yield "verified failures in the last 24 h", str(facts.seen_today)
                yield "failures a day before that", _number(facts.failures_a_day_before)
                growth = _number(facts.claims_today_over_before)
                yield "claims in the last 24 h, over those of a day before", growth
        case JudgeFacts() | BacklogFacts():
            yield "verifier", facts.verifier
    yield from figures(facts)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
