"""A tenant's answers of a day, with a row in every table; tenants have the same routes and ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from otel_rt4chart.core.tenants import split_service, stored_service
from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame, InterimVerdict
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Claim, Evidence, Label, Passage, Report
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    FailureGrowth,
    MeasuredRate,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.alerts.silence import Silence
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.alerts.drift_states import DriftRow, write_drift
from rt4chart_collector.store.alerts.sampling_rates import SamplingRateRow, record_rates
from rt4chart_collector.store.alerts.silences import add_silence
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState, insert_letters
from rt4chart_collector.store.answers.feedback import Feedback, Opinion, record_feedback
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import corrected_rates
from rt4chart_collector.store.labels.rate_history import write_corrected_rates
from rt4chart_collector.store.schema.tenant_client import TenantClient
from rt4chart_collector.store.views.saved_views import SavedView, save_view
from tests.browser.labels import fill_labels
from tests.browser.world import HOUR_NS, RISING, TICK_NS, VERIFIER, World
from tests.rt4chart_collector.records import SPAN


@dataclass(frozen=True, slots=True)
class TenantData:
    """What a tenant has: every name and text of its own says whose it is.

    With `own_ids`, every second answer has ids of its own; the others have those that every tenant
    has.
    """

    tenant: str
    now_ns: int
    seed: int = 7
    own_ids: bool = False

    def fill(self, client: Client) -> None:
        """Write all of it."""
        verdicts = list(self._verdicts())
        insert_spans(client, [span for one in verdicts for span in self._spans(one)])
        for begin in range(0, len(verdicts), 500):
            insert_verdicts(client, verdicts[begin : begin + 500])
        write_drift(client, list(self._drift()), version=1)
        insert_letters(client, [self._letter(verdicts[0])])
        record_alert_events(client, self._alerts(verdicts))
        rate = SamplingRateRow(
            self.service("shop"), RISING[1], self.now_ns, 0.7, 2**62, self.tenant
        )
        record_rates(client, [rate])
        first = verdicts[0].candidate
        own = TenantClient(client, self.tenant)
        (answer,) = verifications_of(own, first.trace_id, first.span_id)
        said = Feedback(
            *(VERIFIER, 0, "baseless", Opinion.DISAGREE, "entailed", self._said("somebody")),
            note=self._said("I know better"),
            at_ns=self.now_ns,
        )
        record_feedback(client, answer, [said])

    def _verdicts(self) -> Iterator[Verdict]:
        world = World(self.now_ns, busy=0.05, seed=self.seed)
        for number, one in enumerate(world.verdicts()):
            yield self._own(one, has_own_ids=self.own_ids and number % 2 == 1)

    def _own(self, verdict: Verdict, *, has_own_ids: bool) -> Verdict:
        old = verdict.candidate
        passages = tuple(self._passage(one) for one in old.exchange.passages)
        exchange = replace(
            old.exchange,
            question=self._said(old.exchange.question),
            passages=passages,
            answer=f"{old.exchange.answer} {self.tenant}.",
        )
        candidate = replace(
            old,
            exchange=exchange,
            service=self.service(old.service),
            environment=self._said(old.environment),
            model=self._said(old.model),
            prompt_version=self._said(old.prompt_version),
            release=self._said(old.release),
            session=self._said(old.session),
            staged=tuple(replace(one, passage=self._passage(one.passage)) for one in old.staged),
            trace_id=f"f0f0{old.trace_id[4:]}" if has_own_ids else old.trace_id,
        )
        place = ChainPlace("n", old.span_id, self._said("write"), "LLM", self._said("writer"))
        quoted = Evidence("n", 0, 4, self._said("seen"), "contradicts")
        way = (InterimVerdict(Label.CONTRADICTED, (place,), evidence=(quoted,)),)
        failed = [
            at
            for at, claim in enumerate(verdict.report.claims if verdict.report else ())
            if claim.label in (Label.CONTRADICTED, Label.BASELESS)
        ]
        return replace(
            verdict,
            candidate=candidate,
            report=self._report(verdict.report) if verdict.report else None,
            error=self._said(verdict.error) if verdict.error else "",
            trail=tuple(ClaimBlame(at, (place,), way) for at in failed),
            criteria=(
                CriterionVerdict(
                    *(self._said("polite"), "v1", "judged", CriterionOutcome.FAIL),
                    self._said("it is not"),
                ),
            ),
        )

    def _report(self, report: Report) -> Report:
        return replace(
            report,
            claims=tuple(map(self._claim, report.claims)),
            findings=tuple(replace(one, detail=self._said(one.detail)) for one in report.findings),
        )

    def _claim(self, claim: Claim) -> Claim:
        return replace(
            claim,
            text=self._said(claim.text),
            nearest=self._said(claim.nearest),
            evidence=tuple(
                replace(one, passage_id=self._said(one.passage_id), text=self._said(one.text))
                for one in claim.evidence
            ),
        )

    def _passage(self, passage: Passage) -> Passage:
        return replace(passage, id=self._said(passage.id), text=self._said(passage.text))

    def _spans(self, verdict: Verdict) -> Iterator[SpanRecord]:
        candidate = verdict.candidate
        _, service = split_service(candidate.service)
        yield replace(
            SPAN,
            trace_id=candidate.trace_id,
            span_id=candidate.span_id,
            parent_span_id="",
            name=self._said("answer"),
            start_ns=candidate.start_ns,
            end_ns=candidate.end_ns,
            status_message=self._said("message"),
            attributes={
                "openinference.span.kind": "LLM",
                "input.value": candidate.exchange.question,
                "output.value": candidate.exchange.answer,
                "session.id": candidate.session,
            },
            events=(),
            links=(),
            resource={"service.name": service, "rt4chart.tenant": self.tenant},
        )

    def _drift(self) -> Iterator[DriftRow]:
        for back in range(12):
            yield DriftRow(
                *(self.service(RISING[0]), RISING[1], VERIFIER),
                tick_ns=(self.now_ns // TICK_NS - back) * TICK_NS,
                state="page",
                warn=9.0 + self.seed,
                page=8.0 + self.seed,
                warn_at=5.0,
                page_at=9.1,
                baseline=0.01 * self.seed,
                dead_band=0.005,
                baseline_claims=1000 + self.seed,
                detectable=0.031,
            )

    def _letter(self, verdict: Verdict) -> DeadLetter:
        one, at_ns = verdict.candidate, self.now_ns - HOUR_NS
        return DeadLetter(
            *(at_ns, one.trace_id, one.span_id, one.service, one.route, VERIFIER),
            state=LetterState.DEAD,
            reason=self._said("timeout"),
            error_type=self._said("TimeoutError"),
            attempts=7,
            first_ns=at_ns,
            last_ns=at_ns,
            next_ns=at_ns,
            version=1,
        )

    def _alerts(self, verdicts: list[Verdict]) -> list[AlertEvent]:
        began, worst = self.now_ns - 3 * HOUR_NS, verdicts[0].candidate
        facts = DriftFacts(
            since_ns=began,
            before=MeasuredRate(rate=0.061, low=0.05, high=0.07, claims=9000, answers=2300),
            after=MeasuredRate(rate=0.24, low=0.2, high=0.29, claims=470, answers=120),
            changed=(AttributeValue("prompt_version", self._said("8"), 0.0, 1.0, began),),
            issues=(FailureGrowth(f"{77:016x}", self._said("Too early"), 0.4, 9.5),),
            documents=(FailureGrowth(self._said("kb/1"), None, 1.0, 8.0),),
            worst_answers=(
                UnfaithfulAnswer(
                    trace_id=worst.trace_id,
                    span_id=worst.span_id,
                    unfaithful=1,
                    decided=4,
                    label="baseless",
                    claim_index=0,
                    claim=self._said("A refund takes 2 days."),
                ),
            ),
            evidence=DriftEvidence(14.0, 9.1),
            verifier=VERIFIER,
            detectable_rise=0.031,
        )
        drift = Alert(
            *(Rule.ROUTE_DRIFT, Severity.CRITICAL, self.service(RISING[0]), RISING[1], 0),
            title=self._said("unfaithful claims rose"),
            facts=facts,
            starts_ns=began,
        )
        silent = Alert(
            *(Rule.NO_DATA, Severity.WARNING, self.service("docs"), "/ask", 0),
            title=self._said("no answers"),
            starts_ns=began,
        )
        return [
            AlertEvent(drift, self.now_ns - 2 * HOUR_NS, AlertEventKind.FIRED),
            AlertEvent(silent, self.now_ns - HOUR_NS, AlertEventKind.FIRED),
        ]

    def service(self, name: str) -> str:
        """The stored name of a service."""
        return stored_service(self.tenant, name)

    def _said(self, text: str) -> str:
        return f"{text} {self.tenant}" if text else text


def fill_tenants(client: Client, *tenants: TenantData) -> None:
    """The tenants' data, then what the operator and the service make of all of them."""
    for one in tenants:
        one.fill(client)
    now_ns = tenants[0].now_ns
    for one in tenants:
        fill_labels(client, now_ns, (f"ann {one.tenant}", f"bob {one.tenant}"), one.service("shop"))
        scope = QueryScope(now_ns - 24 * HOUR_NS, now_ns, VERIFIER, one.service("shop"))
        write_corrected_rates(client, corrected_rates(client, scope), scope)
        name = f"views of {one.tenant}"
        save_view(client, SavedView("", name, f"/?q={one.tenant}", one.tenant, now_ns))
        silence = Silence(now_ns, now_ns + HOUR_NS, {"route": RISING[1]}, one.tenant, name)
        add_silence(client, silence, now_ns=now_ns)
    group_failures(client, HashingEmbedder(), HdbscanGrouping(3), since_ns=0, now_ns=now_ns)
