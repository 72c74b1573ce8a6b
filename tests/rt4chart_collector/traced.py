"""Answers of a chain of four steps in the store, verified and traced by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from otel_rt4chart.sampling.layers import Layers
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verifications import Verification, verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.chain_app import ANSWER, SUMMARY, Made, assembled, run
from tests.rt4chart_collector.one_worker import OneWorker

WRONG_SUMMARY = Made(summary=SUMMARY.replace("30", "60"), answer=ANSWER.replace("30", "60"))
WRONG_ANSWER = Made(answer=ANSWER.replace("30", "60"))
SECOND = 1_000_000_000


def verify(client: Client, spans: Sequence[SpanRecord]) -> Verification:
    """Store the spans, verify the answer and trace what failed; what is then stored of it."""
    insert_spans(client, spans)
    worker(client).handle([assembled(spans)])
    (found,) = verifications_of_trace(client, spans[0].trace_id)
    return found


def research(client: Client, made: Made = WRONG_SUMMARY) -> Verification:
    """One answer of the application."""
    return verify(client, run(made))


def worker(client: Client) -> OneWorker:
    """A worker with the rules judge."""
    clock = count(2_000_000_000 * SECOND, SECOND)
    verifier, metrics = Verifier(RulesJudge()), ServiceMetrics()

    def now() -> int:
        return next(clock)

    additions = verdict_additions(verifier, metrics, layers=Layers(), calls=60, clock=now)
    return OneWorker(client, verifier, now, metrics=metrics, additions=additions)
