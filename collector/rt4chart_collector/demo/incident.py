"""The planted incident, as the monitor's alert and the store tell it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import datetime

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.verify.core.model import Claim, Label
from rt4chart_collector.core.alerts.alert import Alert, Rule
from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.demo.helpdesk import SERVICE, Outcome, WrittenAnswer, read_helpdesk
from rt4chart_collector.demo.traffic import PLANTED
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.answers.answers import StoredAnswer, verified_answers
from rt4chart_collector.store.engine.connect import Client


@dataclass(frozen=True, slots=True)
class Incident:
    """A rise of a route's rate, what changed at that time, and one of its wrong sentences."""

    alert_id: str
    title: str
    route: str
    before: float | None
    after: float | None
    since_ns: int
    release: str
    trace_id: str
    span_id: str
    claim_index: int
    claim: str
    claimed: str
    found: str

    def lines(self) -> tuple[str, ...]:
        """Three lines for a terminal; the time is local."""
        since = datetime.fromtimestamp(self.since_ns / 1e9).astimezone()
        rates = f"{_percent(self.before)} → {_percent(self.after)}"
        return (
            f"{self.route}: {rates} since {since:%H:%M}, release {self.release}",
            f"“{self.claimed}” should be “{self.found}”",
            f"in: {self.claim}",
        )


def find_incident(client: Client) -> Incident | None:
    """The incident with the first of the alert's worst answers that agrees with the truth."""
    for state in open_alerts(client, now_ns=time.time_ns()):
        alert = state.alert
        if (alert.rule, alert.service, alert.route) != (Rule.ROUTE_DRIFT, SERVICE, PLANTED):
            continue
        if isinstance(alert.facts, DriftFacts):
            recent = verified_answers(client, since_ns=alert.facts.since_ns or 0)
            answers = {(one.trace_id, one.span_id): one for one in recent}
            for worst in alert.facts.worst_answers:
                answer = answers.get((worst.trace_id, worst.span_id))
                if answer is not None and (claim := right_failure(answer)) is not None:
                    return _incident(alert, alert.facts, answer, claim)
    return None


def no_incident_error() -> RT4ChartError:
    """What to do where the monitor finds none."""
    return RT4ChartError(
        "expected an alert on the planted incident, got none: run rt4chart demo "
        "--write-verdicts if the judge has changed"
    )


def right_failure(answer: StoredAnswer) -> Claim | None:
    """The first contradicted claim with one pair of words, if all verdicts agree with the truth."""
    if written(answer).outcome(answer.claims) is not Outcome.RIGHT:
        return None
    # One pair of words says it alone: “2” and “3 days” against “5 to 7 days” do not.
    named = (
        claim
        for claim in answer.claims
        if claim.label is Label.CONTRADICTED
        and [bool(clash.found) for clash in claim.clashes] == [True]
    )
    return next(named, None)


def written(answer: StoredAnswer) -> WrittenAnswer:
    """The written answer that was given."""
    return read_helpdesk()[json.loads(answer.metadata)["answer_id"]]


def _incident(alert: Alert, facts: DriftFacts, answer: StoredAnswer, claim: Claim) -> Incident:
    clash = next(clash for clash in claim.clashes if clash.found)
    changed = (one.value for one in facts.changed if one.attribute == "release" and one.change > 0)
    return Incident(
        alert_id=alert.id,
        title=alert.title,
        route=alert.route,
        before=facts.before.rate if facts.before else None,
        after=facts.after.rate if facts.after else None,
        since_ns=facts.since_ns or alert.starts_ns,
        release=next(changed, ""),
        trace_id=answer.trace_id,
        span_id=answer.span_id,
        claim_index=answer.claims.index(claim),
        claim=claim.text,
        claimed=clash.claimed,
        found=clash.found,
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
