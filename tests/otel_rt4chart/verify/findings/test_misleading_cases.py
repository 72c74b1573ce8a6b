"""Hand-written answers that mislead with true sentences, and their true twins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from otel_rt4chart.verify import Exchange, LocalJudge, Passage, RulesJudge, Verifier

CASES = Path(__file__).parents[3] / "data/misleading_cases.jsonl"


class Found(NamedTuple):
    """Shares: of misleading answers with the status that a person gives, of true ones with none."""

    right: float
    silent: float


def found(verifier: Verifier, *, held_out: bool) -> Found:
    """Over the cases that were seen while the checks were built, or over the others."""
    right: list[bool] = []
    silent: list[bool] = []
    with CASES.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases:
        if case["held_out"] is not held_out:
            continue
        passages = [Passage(f"p{at}", text) for at, text in enumerate(case["passages"])]
        report = verifier.verify(Exchange(case["question"], passages, case["answer"]))
        if case["status"] == "supported":
            silent.append(not report.misleading)
        else:
            right.append(case["status"] in {claim.status for claim in report.claims})
    return Found(sum(right) / len(right), sum(silent) / len(silent))


def verifier(name: str) -> Verifier:
    """With the judge of that name."""
    return Verifier(RulesJudge() if name == "rules" else LocalJudge(threads=1))


@pytest.mark.parametrize(
    ("judge", "held_out", "floor"),
    [
        ("rules", False, Found(0.66, 0.95)),
        ("rules", True, Found(0.6, 0.93)),
        ("local", False, Found(0.62, 0.95)),
        ("local", True, Found(0.65, 0.95)),
    ],
)
def test_misleading_answers_are_found_and_true_ones_left_alone(
    judge: str, held_out: bool, floor: Found
) -> None:
    """Of the cases that were seen while the checks were built, and of those that were not."""
    result = found(verifier(judge), held_out=held_out)

    assert result.right >= floor.right
    assert result.silent >= floor.silent


@pytest.mark.parametrize("judge", ["rules", "local"])
def test_an_exclusion_of_a_part_that_the_answer_names_is_cherry_picking(judge: str) -> None:
    """The label stays entailed, by the passage that was used; both passages are on the claim."""
    texts = (
        "The policy covers outpatient imaging.",
        "Exclusions: outpatient MRI is not covered unless pre-authorized.",
    )
    passages = [Passage(f"p{at}", text) for at, text in enumerate(texts, start=1)]
    answer = "Yes, the policy covers outpatient imaging, including MRI."

    (claim,) = verifier(judge).verify(Exchange("", passages, answer)).claims

    assert (claim.label, claim.status) == ("entailed", "cherry_picked")
    assert [(one.relation, one.text) for one in claim.evidence] == [
        ("supports", texts[0]),
        ("contradicts", texts[1]),
    ]


def test_an_exclusion_in_other_words_is_found_by_the_encoder() -> None:
    """No list names "reimbursed"."""
    texts = ("The policy covers outpatient imaging.", "Imaging, MRI included, is not reimbursed.")
    passages = [Passage(f"p{at}", text) for at, text in enumerate(texts, start=1)]
    answer = "The policy covers outpatient imaging, including MRI."

    (claim,) = verifier("local").verify(Exchange("", passages, answer)).claims

    assert [(one.passage_id, one.relation) for one in claim.evidence] == [
        ("p1", "supports"),
        ("p2", "contradicts"),
    ]
