"""At which stage evidence was lost, for each way of losing it."""

from __future__ import annotations

import pytest

from otel_rt4chart.spans.model.verdict import Stage
from otel_rt4chart.verify.core.model import Evidence, Label
from rt4chart_clustering.explain.loss_stage import (
    STAGE_ADVICE,
    STAGE_NAMES,
    LossStage,
    PassageSeen,
    find_loss_stage,
)
from rt4chart_collector.store.issues.failures import Failure
from tests.rt4chart_clustering.made import failure

CLAIM = "Refunds take thirty business days."
GOOD, OFF = "All refunds take thirty business days.", "Gift cards are sold at the desk."
NEAR = "Refunds are paid by transfer, and it may take some days."
R, K, T, P = Stage.RETRIEVED, Stage.RERANKED, Stage.TEMPLATE, Stage.PROMPT


def baseless(nearest: str = "") -> Failure:
    """The claim without evidence."""
    return failure(1, CLAIM, label=Label.BASELESS, nearest=nearest)


def seen(text: str | None, *stages: Stage, kept: bool = False, name: str = "p1") -> PassageSeen:
    """A passage that came so far."""
    return PassageSeen(name, frozenset(stages), kept, text)


@pytest.mark.parametrize(
    ("nearest", "passages", "lost"),
    [
        ("", [], LossStage.NEVER_RETRIEVED),
        (OFF, [seen(OFF, R, kept=True)], LossStage.NEVER_RETRIEVED),
        (OFF, [seen(OFF, R, kept=True), seen(OFF, R)], LossStage.NEVER_RETRIEVED),
        (OFF, [seen(OFF, R, K, kept=True), seen(GOOD, R)], LossStage.IN_RERANK),
        (OFF, [seen(OFF, R, K, kept=True), seen(GOOD, R, K)], LossStage.FROM_PROMPT),
        (OFF, [seen(OFF, R, kept=True), seen(GOOD, R)], LossStage.FROM_PROMPT),
        (GOOD, [seen(OFF, R, P, kept=True), seen(GOOD, R, T, kept=True)], LossStage.FROM_PROMPT),
        (NEAR, [seen(NEAR, R, kept=True)], LossStage.IGNORED),
        (OFF, [seen(OFF, R, kept=True), seen(None, R)], LossStage.UNKNOWN),
        (NEAR, [seen(NEAR, R, kept=True), seen(None, R)], LossStage.IGNORED),
    ],
)
def test_a_baseless_claim_lost_its_evidence_where_a_passage_that_holds_it_was_left(
    nearest: str, passages: list[PassageSeen], lost: LossStage
) -> None:
    """Not there, dropped by the reranker, cut later, there and gone beyond, or not known."""
    assert find_loss_stage(baseless(nearest), passages) is lost


@pytest.mark.parametrize(
    ("passages", "lost"),
    [
        ([seen(GOOD, R, kept=True)], LossStage.CONTRADICTED),
        ([seen(GOOD, R, P, kept=True)], LossStage.CONTRADICTED),
        ([], LossStage.CONTRADICTED),
        ([seen(GOOD, R, kept=True), seen(OFF, R, P, kept=True, name="p2")], LossStage.FROM_PROMPT),
    ],
)
def test_a_contradicted_claim_had_its_evidence_unless_that_is_known_not_to_be_in_the_prompt(
    passages: list[PassageSeen], lost: LossStage
) -> None:
    """The sentence that denies it is the evidence."""
    denied = failure(1, CLAIM, "Refunds take ten days.")
    assert denied.evidence == (Evidence("p1", 0, 22, "Refunds take ten days.", "contradicts"),)

    assert find_loss_stage(denied, passages) is lost


def test_every_stage_has_words_and_advice() -> None:
    """None is a name alone."""
    assert set(STAGE_NAMES) == set(STAGE_ADVICE) == set(LossStage)
