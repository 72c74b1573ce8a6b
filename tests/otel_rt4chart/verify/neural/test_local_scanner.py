"""The embedded network on a few sentences: do they say the opposite of a claim?"""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import Chunk, DraftClaim, Judgement, Label, LocalJudge, Passage
from otel_rt4chart.verify.core.judge import ModelJudge, ScanningJudge
from otel_rt4chart.verify.core.model import AnswerRange
from otel_rt4chart.verify.text.segment import segment_passages


@pytest.fixture(scope="module")
def judge() -> LocalJudge:
    """On one thread."""
    return LocalJudge(threads=1)


def scanned(judge: LocalJudge, claim: str, text: str) -> Judgement:
    """The scanner's judgement of one claim by one passage."""
    draft = DraftClaim(claim, 0, AnswerRange(0, len(claim)))
    chunk = Chunk(0, segment_passages([Passage("p", text)]))
    (judgement,) = judge.scanner.assess([draft], chunk, question="")
    return judgement


def test_the_embedded_judge_brings_a_scanner_and_an_encoder(judge: LocalJudge) -> None:
    """The scanner is a model, so that it runs beside the event loop."""
    assert isinstance(judge, ScanningJudge)
    assert isinstance(judge.scanner, ModelJudge)
    assert judge.encoder is not None


def test_a_contradicting_sentence_is_named(judge: LocalJudge) -> None:
    """Among others of its passage."""
    found = scanned(
        judge, "The trial lasts 14 days.", "The pool is heated. The trial lasts 30 days."
    )

    assert (found.label, found.sentences) == (Label.CONTRADICTED, (1,))
    assert found.confidence is not None
    assert found.confidence >= 0.6


@pytest.mark.parametrize("text", ["The trial lasts 14 days.", "The pool is heated."])
def test_what_agrees_or_is_of_something_else_contradicts_nothing(
    judge: LocalJudge, text: str
) -> None:
    """Whether it supports the claim is not the scanner's to say."""
    found = scanned(judge, "The trial lasts 14 days.", text)

    assert (found.label, found.sentences) == (Label.BASELESS, ())


def test_a_claim_too_long_for_the_network_is_undecided(judge: LocalJudge) -> None:
    """Nothing is cut."""
    assert scanned(judge, "word " * 300, "The pool is heated.").label is Label.UNDECIDED
