from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.graph.lost_evidence import EvidenceLoss, LostEvidence, find_lost_evidence
from otel_rt4chart.spans.model.verdict import Stage, StagedPassage
from otel_rt4chart.verify.core.model import Passage
from tests.otel_rt4chart.spans.graph.steps import Steps

R, K, T, P = Stage.RETRIEVED, Stage.RERANKED, Stage.TEMPLATE, Stage.PROMPT
RIGHT = "The trial lasts 14 days."
IGNORED, CUT, DROPPED, NEVER = EvidenceLoss


class Asked:
    """Finds the evidence by its words, and keeps what it was asked about."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []

    def __call__(self, passages: Sequence[Passage]) -> Collection[str]:
        self.groups.append([one.id for one in passages])
        return {one.id for one in passages if one.text == RIGHT}


def staged(**stages: tuple[Stage, ...]) -> list[StagedPassage]:
    """Passages by id; the one named `right` has the evidence."""
    return [
        StagedPassage(Passage(name, RIGHT if name == "right" else f"Of {name}."), found)
        for name, found in stages.items()
    ]


@pytest.mark.parametrize(
    ("passages", "context", "loss"),
    [
        (staged(a=(R, P), right=(R, P)), ["a", "right"], IGNORED),
        (staged(a=(R, P), right=(R,)), ["a"], CUT),
        (staged(a=(R, K, P), right=(R,)), ["a"], DROPPED),
        (staged(a=(R, K, P), right=(R, K)), ["a"], CUT),
        (staged(a=(R, K, P), right=(K,)), ["a"], CUT),
        (staged(a=(R, T), right=(R,)), ["a"], CUT),
        (staged(a=(R,), right=(R,)), ["a", "right"], IGNORED),
        (staged(a=(R, K), right=(R,)), ["a"], DROPPED),
        (staged(a=(R, P), b=(R,)), ["a"], NEVER),
        ([], [], NEVER),
    ],
)
def test_evidence_was_lost_where_its_passage_was_last_seen(
    passages: list[StagedPassage], context: list[str], loss: EvidenceLoss
) -> None:
    """In the prompt: ignored. Kept by the reranker: cut. Retrieved: dropped. Nowhere: never."""
    found = find_lost_evidence(passages, context, Asked())

    assert found == LostEvidence(loss, () if loss is NEVER else ("right",))


def test_the_place_nearest_to_the_generator_counts() -> None:
    """Evidence in the prompt was there, whatever else was dropped; nothing more is asked."""
    asked = Asked()

    found = find_lost_evidence(staged(right=(R, K, P), other=(R,)), ["right"], asked)

    assert found.loss is IGNORED
    assert asked.groups == [["right"]]


def test_each_place_is_asked_about_once() -> None:
    """Three questions at most, about passages that were lost together; none about no passage."""
    asked = Asked()

    find_lost_evidence(staged(a=(R, K, P), b=(R, K), c=(R,), d=(R,)), ["a"], asked)

    assert asked.groups == [["a"], ["b"], ["c", "d"]]


def test_a_reranker_in_a_trace_is_told_from_a_cut_prompt() -> None:
    """Of a whole trace: what the reranker dropped, and what never reached the prompt."""
    steps = Steps()
    root = steps.chain(question="How long is the trial?")
    steps.search(root, "The trial is free.", RIGHT, "The shop is in Turin.")
    steps.rerank(
        root,
        ("The trial is free.", RIGHT, "The shop is in Turin."),
        ("The trial is free.", "The shop is in Turin."),
    )
    steps.generate("answer", root, "The trial lasts 30 days.", "Context: The trial is free.")

    (found,) = find_candidates(steps.spans)
    context = [one.id for one in found.exchange.passages]

    assert find_lost_evidence(found.staged, context, Asked()).loss is DROPPED
    away = find_lost_evidence(
        found.staged, context, lambda some: [one.id for one in some if "Turin" in one.text]
    )
    assert away.loss is CUT
