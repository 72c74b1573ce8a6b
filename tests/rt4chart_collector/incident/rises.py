"""A route whose rate rises, with the alert that a monitor would have made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.spans.model.verdict import Stage, StagedPassage, Verdict
from otel_rt4chart.verify.core.model import Evidence, Label
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    MeasuredRate,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.comparison.releases import DENIED, GOOD, RIGHT, answered
from tests.rt4chart_collector.records import VERIFIER

MINUTE = 60 * 10**9
HOUR = 60 * MINUTE
SERVICE, ROUTE = "shop", "support"


@dataclass(frozen=True, slots=True)
class Rise:
    """An answer every `every_ns`, from `before_ns` before the rise to `lasts_ns` after its begin.

    Every `wrong`th answer of the rise is contradicted, none before. `releases` are those in use
    from a time on. The same `questions` are asked again and again, `new_questions` since the rise.
    Answers are numbered from `first` on.
    """

    since_ns: int
    before_ns: int = 12 * HOUR
    lasts_ns: int = 6 * HOUR
    every_ns: int = 6 * MINUTE
    wrong: int = 3
    releases: Sequence[tuple[int, str]] = ()
    questions: int = 5
    new_questions: Sequence[str] = ()
    route: str = ROUTE
    first: int = 1_000_000

    def verdicts(self) -> Iterator[Verdict]:
        """The answers in order."""
        number, at_ns = 0, self.since_ns - self.before_ns
        while at_ns < self.since_ns + self.lasts_ns:
            has_risen = at_ns >= self.since_ns
            asked = f"How long is the trial of plan {number % self.questions}?"
            if has_risen and self.new_questions:
                asked = self.new_questions[number % len(self.new_questions)]
            is_wrong = has_risen and number % self.wrong == 0
            yield _with_sentence(
                answered(
                    self.first + number,
                    self.release(at_ns),
                    DENIED if is_wrong else GOOD,
                    question=asked,
                    route=self.route,
                    start_ns=at_ns,
                )
            )
            number += 1
            at_ns += self.every_ns

    def release(self, at_ns: int) -> str:
        """The release in use then."""
        return next((name for begins, name in reversed(self.releases) if begins <= at_ns), "")

    def alert(self) -> Alert:
        """What the monitor says of it; the change is of the last two releases."""
        changed: tuple[AttributeValue, ...] = ()
        if len(self.releases) > 1:
            (_, old), (first_ns, new) = self.releases[-2:]
            changed = (
                AttributeValue("release", new, 0.0, 1.0, first_ns),
                AttributeValue("release", old, 1.0, 0.0, self.since_ns - 24 * HOUR),
            )
        answers = self.lasts_ns // self.every_ns
        facts = DriftFacts(
            since_ns=self.since_ns,
            before=MeasuredRate(rate=0.01, low=0.007, high=0.014, claims=4000, answers=4000),
            after=MeasuredRate(
                rate=1 / self.wrong, low=0.25, high=0.42, claims=answers, answers=answers
            ),
            changed=changed,
            worst_answers=tuple(
                UnfaithfulAnswer(
                    trace_id=one.candidate.trace_id,
                    span_id=one.candidate.span_id,
                    unfaithful=1,
                    decided=1,
                    label="contradicted",
                    claim_index=0,
                    claim="The trial lasts 30 days.",
                )
                for one in self.verdicts()
                if one.report is not None and one.report.claims[0].label is Label.CONTRADICTED
            )[:3],
            evidence=DriftEvidence(20.0, 9.1),
            verifier=VERIFIER,
        )
        title = f"Drift detected on {self.route}: {1 / self.wrong:.1%} of claims are unfaithful"
        return Alert(
            *(Rule.ROUTE_DRIFT, Severity.CRITICAL, SERVICE, self.route, 0),
            title=title,
            facts=facts,
            starts_ns=self.since_ns,
        )

    def fill(self, client: Client, *events: AlertEvent, fired_ns: int = 0) -> Alert:
        """Write the answers, that the alert fired an hour after the rise, and more events."""
        alert = self.alert()
        insert_verdicts(client, list(self.verdicts()))
        fired = AlertEvent(alert, fired_ns or self.since_ns + HOUR, AlertEventKind.FIRED)
        record_alert_events(client, [fired, *events])
        return alert


def _with_sentence(one: Verdict) -> Verdict:
    """The verdict, a contradicted claim with the sentence of the passage that says otherwise."""
    staged = tuple(
        StagedPassage(passage, (Stage.RETRIEVED, Stage.PROMPT))
        for passage in one.candidate.exchange.passages
    )
    one = replace(one, candidate=replace(one.candidate, staged=staged))
    assert one.report is not None
    (claim,) = one.report.claims
    if claim.label is not Label.CONTRADICTED:
        return one
    against = Evidence("p1", 0, len(RIGHT), RIGHT, "contradicts")
    return replace(one, report=replace(one.report, claims=(replace(claim, evidence=(against,)),)))
