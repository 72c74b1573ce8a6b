"""What monitoring leaves in the store beside the verdicts, a row of each kind."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.alerts.drift_states import DriftRow, write_drift
from rt4chart_collector.store.answers.feedback import FEEDBACK, FeedbackRow, Opinion
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import SECOND

TICK_NS = 300 * SECOND


def insert_monitoring(client: Client, about: Verdict) -> None:
    """A route's drift in the answer's tick, its alert, which fired, and an opinion on a claim.

    Unfaithful claims page, misleading ones are calm.
    """
    answer = about.candidate
    at_ns = answer.start_ns
    row = DriftRow(
        service=answer.service,
        route=answer.route,
        verifier=about.verifier,
        tick_ns=at_ns // TICK_NS * TICK_NS,
        state="page",
        warn=19.5,
        page=13.25,
        warn_at=7.5,
        page_at=11.0,
        baseline=0.06,
        dead_band=0.005,
        baseline_claims=5000,
        detectable=0.03,
    )
    calm = replace(row, state="calm", warn=1.5, page=0.5, measure=Measure.MISLEADING)
    write_drift(client, [row, calm], version=1)
    alert = Alert(
        rule=Rule.ROUTE_DRIFT,
        severity=Severity.CRITICAL,
        service=answer.service,
        route=answer.route,
        title=f"{answer.route}: 9.1% instead of 6.0%",
        starts_ns=at_ns,
    )
    record_alert_events(
        client,
        [
            AlertEvent(alert, at_ns, kind)
            for kind in (AlertEventKind.FIRED, AlertEventKind.NOTIFIED)
        ],
    )
    opinion = FeedbackRow(
        start_ns=at_ns,
        trace_id=answer.trace_id,
        span_id=answer.span_id,
        service=answer.service,
        route=answer.route,
        verifier=about.verifier,
        claim=0,
        label="baseless",
        opinion=Opinion.AGREE,
        correct="",
        actor="ada",
        note="",
        at_ns=at_ns,
        version=1,
    )
    FEEDBACK.insert(client, [opinion], token="feedback")  # noqa: S106 - of a batch
