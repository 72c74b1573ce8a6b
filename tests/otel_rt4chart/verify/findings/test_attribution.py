"""Which passages support at least one claim, and what share of them."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import (
    AnswerRange,
    Claim,
    Evidence,
    Exchange,
    Finding,
    Label,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.core.model import Relation
from otel_rt4chart.verify.findings.find import attribution, supporting_passages

PASSAGES = [Passage("a", "MRI is covered."), Passage("b", "Dogs."), Passage("c", "Cats.")]


def claim(*evidence: tuple[str, Relation]) -> Claim:
    """A claim with evidence from those passages."""
    return Claim(
        text="MRI is covered.",
        label=Label.ENTAILED,
        local_label=Label.ENTAILED,
        confidence=1.0,
        decided_by="hand",
        kind="attribute",
        answer_range=AnswerRange(0, 15),
        sentence=0,
        evidence=tuple(Evidence(name, 0, 3, "MRI", relation) for name, relation in evidence),
    )


def test_both_findings_name_the_passages_that_support_a_claim() -> None:
    """In the order of the passages, each once."""
    claims = [claim(("c", "supports"), ("a", "supports")), claim(("a", "supports")), claim()]

    assert list(attribution(claims, PASSAGES)) == [
        Finding("chunk_attribution", "2 of 3 passages support a claim", passage_ids=("a", "c")),
        Finding("chunk_utilisation", "the share of passages that support a claim", value=2 / 3),
    ]


def test_a_passage_that_contradicts_supports_nothing() -> None:
    """It was used, but not by the answer."""
    assert supporting_passages([claim(("a", "contradicts"), ("b", "supports"))]) == {"b"}


def test_the_utilisation_of_no_passages_has_no_value() -> None:
    """Nothing divided by nothing is not zero."""
    attributed, used = attribution([claim()], [])

    assert (attributed.passage_ids, attributed.detail) == ((), "0 of 0 passages support a claim")
    assert used.value is None


def test_passages_with_one_id_count_once() -> None:
    """Evidence names ids, so two passages of one id cannot be told apart."""
    twice = [Passage("a", "MRI is covered."), Passage("a", "MRI is covered."), Passage("b", "")]

    attributed, used = attribution([claim(("a", "supports"))], twice)

    assert attributed.passage_ids == ("a",)
    assert used.value == 0.5


@pytest.mark.parametrize(
    ("answer", "used", "share"),
    [
        ("Outpatient MRI is covered when prior authorization has been obtained.", ("mri",), 1 / 3),
        (
            "Cosmetic procedures are excluded. Eligibility extends to members aged 16 and above.",
            ("cosmetic", "age"),
            2 / 3,
        ),
        ("The museum opens at nine.", (), 0.0),
        ("Cosmetic procedures are covered.", (), 0.0),
    ],
)
def test_every_answer_has_both_findings(answer: str, used: tuple[str, ...], share: float) -> None:
    """Judged as a whole."""
    exchange = Exchange(
        "What does the policy cover?",
        [
            Passage("mri", "Outpatient MRI is covered when prior authorization has been obtained."),
            Passage("cosmetic", "Cosmetic procedures are excluded from coverage."),
            Passage("age", "Eligibility extends to members aged 16 and above."),
        ],
        answer,
    )

    found = {one.name: one for one in Verifier(RulesJudge()).verify(exchange).findings}

    assert found["chunk_attribution"].passage_ids == used
    assert found["chunk_utilisation"].value == pytest.approx(share)
