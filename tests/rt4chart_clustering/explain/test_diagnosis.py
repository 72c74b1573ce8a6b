"""The stages counted over stored traces."""

from __future__ import annotations

from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.explain.diagnosis import diagnose
from rt4chart_clustering.explain.loss_stage import LossStage
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_clustering.explain.traces import (
    ANSWER,
    OTHER,
    REFUND,
    SUPPORT,
    TRIAL,
    failing,
    trace,
)


def test_each_failure_counts_at_the_stage_where_its_evidence_was_lost(client: Client) -> None:
    """Over real spans, from the retriever to the prompt, with a trace of each."""
    found = [
        failing(client, trace(1, ANSWER, found=[TRIAL, OTHER]), nearest=TRIAL),
        failing(client, trace(2, ANSWER, found=[TRIAL, SUPPORT], kept=[SUPPORT]), nearest=SUPPORT),
        failing(
            client, trace(3, ANSWER, found=[TRIAL, REFUND, SUPPORT], kept=[TRIAL]), nearest=TRIAL
        ),
        failing(
            client,
            trace(4, ANSWER, found=[TRIAL, REFUND], kept=[TRIAL, REFUND], shown=[TRIAL]),
            nearest=TRIAL,
        ),
        failing(
            client,
            trace(5, "Refunds of yearly contracts take a business week.", found=[REFUND]),
            nearest=REFUND,
        ),
        failing(
            client,
            trace(6, "Refunds of yearly contracts take two days.", found=[REFUND]),
            label=Label.CONTRADICTED,
            evidence=REFUND,
        ),
    ]

    told = diagnose(client, found)

    assert told.counts == {
        LossStage.NEVER_RETRIEVED: 2,
        LossStage.IN_RERANK: 1,
        LossStage.FROM_PROMPT: 1,
        LossStage.IGNORED: 1,
        LossStage.CONTRADICTED: 1,
    }
    assert (told.total, told.share(LossStage.NEVER_RETRIEVED)) == (6, 2 / 6)
    assert told.ordered[0] is LossStage.NEVER_RETRIEVED
    assert told.traces[LossStage.IN_RERANK] == (f"{3:032x}",)


def test_spans_that_are_gone_are_not_a_passage_that_was_never_there(client: Client) -> None:
    """Lost passages without their text leave it open."""
    failure = failing(client, trace(3, ANSWER, found=[TRIAL, REFUND], kept=[TRIAL]), nearest=TRIAL)
    client.command("TRUNCATE TABLE otel_traces")

    assert diagnose(client, [failure]).counts == {LossStage.UNKNOWN: 1}


def test_no_failures_are_no_diagnosis(client: Client) -> None:
    """Nothing is divided by it."""
    told = diagnose(client, [])

    assert (told.total, told.share(LossStage.IGNORED), told.ordered) == (0, 0.0, ())
