"""A day of a shop's answers with a rise on one route, as the service would have stored it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from otel_rt4chart.spans.model.verdict import Candidate, Decision, Stage, StagedPassage, Verdict
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    CheckPlan,
    Claim,
    ClaimStatus,
    Evidence,
    Exchange,
    Finding,
    Label,
    Passage,
    Report,
    Usage,
)
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    FailureGrowth,
    MeasuredRate,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.alerts.drift_states import DriftRow, write_drift
from rt4chart_collector.store.answers.answers import worst_answers
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState, insert_letters
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope

VERIFIER = "local/world-1"
HOUR_NS = 3600 * 10**9
TICK_NS = 300 * 10**9
RISING = ("shop", "support/refunds")
ROUTES = (
    (*RISING, 0.06, 40),
    ("shop", "support/shipping", 0.04, 30),
    ("shop", "search/answers", 0.09, 20),
    ("docs", "/ask", 0.02, 12),
    ("docs", "release notes", 0.05, 4),
    ("", "", 0.1, 1),
)
FACTS = (
    ("A refund takes 5 working days.", "Refunds are paid within 5 working days of approval."),
    ("Returns are free for 30 days.", "You may return an item free of charge within 30 days."),
    ("Gift cards cannot be refunded.", "Gift cards are not refundable."),
    ("The form is in your account.", "Open your account to find the return form."),
)
# Every so many answers of these routes, the first claim leaves out what another passage says.
MISLEADS = {"search/answers": 12, "release notes": 9}
# Of these routes, every second answer is not searched for cherry-picked claims, by chance.
SPARED = "search/answers"
STATUSES = {
    Label.ENTAILED: ClaimStatus.SUPPORTED,
    Label.CONTRADICTED: ClaimStatus.CONTRADICTED,
    Label.BASELESS: ClaimStatus.UNSUPPORTED,
    Label.UNDECIDED: ClaimStatus.UNDECIDED,
}
WRONG = (
    ("A refund takes 2 working days.", Label.CONTRADICTED),
    ("A courier collects the parcel at your door.", Label.BASELESS),
    ("Returns are free for 90 days.", Label.CONTRADICTED),
)


@dataclass(frozen=True, slots=True)
class World:
    """The verdicts of the hours before `now_ns`; the rise began `rise_ns` before that."""

    now_ns: int
    hours: int = 24
    rise_ns: int = 3 * HOUR_NS
    busy: float = 1.0
    seed: int = 7

    def verdicts(self) -> Iterator[Verdict]:
        """One after the other, by route."""
        chance = random.Random(self.seed)  # noqa: S311 - chance here is no secret
        number = 0
        for service, route, rate, an_hour in ROUTES:
            for _ in range(max(int(an_hour * self.hours * self.busy), 1)):
                number += 1
                at_ns = self.now_ns - int(chance.random() * self.hours * HOUR_NS) - TICK_NS
                is_late = at_ns > self.now_ns - self.rise_ns
                has_risen = is_late and (service, route) == RISING
                wrong = rate * 4 if has_risen else rate
                yield _verdict(chance, number, at_ns, (service, route), wrong, has_risen)

    def fill(self, client: Client) -> None:
        """Write all of it, and what a monitor would have found."""
        batch = list(self.verdicts())
        for begin in range(0, len(batch), 1000):
            insert_verdicts(client, batch[begin : begin + 1000])
        write_drift(client, list(self._drift()), version=1)
        insert_letters(client, [self._letter(one) for one in range(3)])
        record_alert_events(
            client,
            [AlertEvent(self._alert(client), self.now_ns - 2 * HOUR_NS, AlertEventKind.FIRED)],
        )
        issue = Alert(
            *(Rule.NEW_ISSUE, Severity.WARNING, "shop", "search/answers", 77),
            title="New issue: prices of another country",
            starts_ns=self.now_ns - HOUR_NS,
        )
        record_alert_events(
            client, [AlertEvent(issue, self.now_ns - HOUR_NS, AlertEventKind.FIRED)]
        )

    def _drift(self) -> Iterator[DriftRow]:
        for service, route, rate, _ in ROUTES:
            for back in range(36):
                is_rising = (service, route) == RISING
                page = max(14 - back * 0.5, 0.5) if is_rising else 1.5
                state = "page" if page > 9 else "warn" if page > 5 else "calm"
                yield DriftRow(
                    *(service, route, VERIFIER),
                    tick_ns=(self.now_ns // TICK_NS - back) * TICK_NS,
                    state=state if route else "cold",
                    warn=page + 1,
                    page=page,
                    warn_at=5.0,
                    page_at=9.1,
                    baseline=rate,
                    dead_band=0.005,
                    baseline_claims=12_345,
                    detectable=0.031,
                )

    def _alert(self, client: Client) -> Alert:
        began = self.now_ns - self.rise_ns
        worst = worst_answers(client, QueryScope(began, self.now_ns, VERIFIER, *RISING))
        facts = DriftFacts(
            since_ns=began,
            before=MeasuredRate(rate=0.061, low=0.05, high=0.07, claims=9000, answers=2300),
            after=MeasuredRate(rate=0.24, low=0.2, high=0.29, claims=470, answers=120),
            changed=(AttributeValue("prompt_version", "8", 0.0, 1.0, began),),
            issues=(FailureGrowth(f"{77:016x}", "Refunds promised too early", 0.4, 9.5),),
            documents=(FailureGrowth("kb/1", None, 1.0, 8.0),),
            worst_answers=tuple(
                UnfaithfulAnswer(
                    trace_id=one.trace_id,
                    span_id=one.span_id,
                    unfaithful=one.unfaithful,
                    decided=one.decided,
                    label=one.label,
                    claim_index=one.index,
                    claim=one.claim,
                )
                for one in worst
            ),
            evidence=DriftEvidence(14.0, 9.1),
            verifier=VERIFIER,
            detectable_rise=0.031,
        )
        return Alert(
            *(Rule.ROUTE_DRIFT, Severity.CRITICAL, *RISING, 0),
            title="support/refunds: unfaithful claims rose from 6.1% to 24.0%",
            facts=facts,
            starts_ns=began,
        )

    def _letter(self, number: int) -> DeadLetter:
        at_ns = self.now_ns - HOUR_NS
        return DeadLetter(
            *(at_ns, f"{number + 900_000:032x}", f"{number + 900_000:016x}", *RISING, VERIFIER),
            state=LetterState.DEAD,
            reason="timeout" if number else "too_long",
            error_type="TimeoutError",
            attempts=7,
            first_ns=at_ns,
            last_ns=at_ns,
            next_ns=at_ns,
            version=1,
        )


def _verdict(
    chance: random.Random,
    number: int,
    at_ns: int,
    place: tuple[str, str],
    wrong: float,
    has_risen: bool,
) -> Verdict:
    passages = tuple(Passage(f"kb/{at}", text) for at, (_, text) in enumerate(FACTS))
    decision = chance.choices(
        (Decision.VERIFIED, Decision.NOT_SAMPLED, Decision.NO_CONTENT, Decision.ERROR),
        (90, 6, 2, 1),
    )[0]
    claims, answer = _claims(chance, wrong)
    exchange = Exchange("How long does a refund take, and what is free?", passages, answer)
    staged = tuple(StagedPassage(one, (Stage.RETRIEVED, Stage.PROMPT)) for one in passages)
    candidate = Candidate(
        exchange=exchange,
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        start_ns=at_ns,
        service=place[0],
        route=place[1],
        environment="prod",
        model="m-large" if number % 3 else "m-small",
        prompt_version="8" if has_risen else "7",
        release="2.4.0",
        session=f"s-{number % 50}",
        staged=staged,
        end_ns=at_ns + 10**9,
    )
    is_spared = place[1] == SPARED and number % 2 == 1
    if number % MISLEADS.get(place[1], number + 1) == 0 and not is_spared:
        claims = (_picked(claims[0], 0.5 if place[1] == SPARED else 1.0), *claims[1:])
    report = _report(claims, is_spared, place[1] == SPARED)
    is_verified = decision is Decision.VERIFIED
    return Verdict(
        candidate=candidate,
        decision=decision,
        verifier=VERIFIER,
        sample_rate=1.0,
        decided_ns=at_ns + 10**9,
        report=report if is_verified else None,
        duration_ns=10**7,
        error="the judge did not answer within 30 s" if decision is Decision.ERROR else "",
        error_type="timeout" if decision is Decision.ERROR else "",
    )


def _report(claims: tuple[Claim, ...], is_spared: bool, is_sampled: bool) -> Report:
    rate = 0.0 if is_spared else 0.5 if is_sampled else 1.0
    labels = {claim.label for claim in claims}
    return Report(
        label=next(
            (
                AnswerLabel(label.value)
                for label in (Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED)
                if label in labels
            ),
            AnswerLabel.ENTAILED,
        ),
        claims=claims,
        judge=VERIFIER,
        findings=(Finding("citation", "unknown id [9]", claim=0, passage_ids=("kb/0",)),),
        plan=CheckPlan(cherry_picking=rate),
        usage=Usage(calls=1, input_tokens=100, output_tokens=20, cache_hits=0),
    )


def _picked(claim: Claim, rate: float) -> Claim:
    if claim.label is not Label.ENTAILED:
        return claim
    passage = FACTS[1][1]
    limit = Evidence("kb/1", 0, len(passage), passage, "limits")
    status = ClaimStatus.CHERRY_PICKED
    return replace(claim, status=status, check_rate=rate, evidence=(*claim.evidence, limit))


def _claims(chance: random.Random, wrong: float) -> tuple[tuple[Claim, ...], str]:
    claims, answer = list[Claim](), ""
    for index, (text, passage) in enumerate(FACTS):
        label = Label.ENTAILED
        if chance.random() < wrong:
            text, label = chance.choice(WRONG)
        elif chance.random() < 0.03:
            label = Label.UNDECIDED
        place = f"kb/{index}", 0, len(passage), passage
        evidence = Evidence(*place, "supports")
        if label is Label.CONTRADICTED:
            evidence = Evidence(*place, "contradicts")
        claims.append(
            Claim(
                text=text,
                label=label,
                local_label=label,
                confidence=0.6 + 0.4 * chance.random(),
                decided_by="lexical",
                kind="attribute",
                answer_range=AnswerRange(len(answer), len(answer) + len(text)),
                sentence=index,
                evidence=(evidence,) if label in (Label.ENTAILED, Label.CONTRADICTED) else (),
                reason="values" if label is Label.CONTRADICTED else "",
                nearest=passage,
                status=STATUSES[label],
            )
        )
        answer += f"{text} "
    return tuple(claims), answer.strip()
