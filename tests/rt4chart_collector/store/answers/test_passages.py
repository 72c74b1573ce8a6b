"""What was seen on the way to answers, and what they said, read back by key."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Stage, StagedPassage, Verdict
from otel_rt4chart.verify.core.model import AnswerLabel, Label, Passage
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import (
    SeenPassage,
    faithful_answers,
    last_verifications,
)
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_clustering.made import SECOND, failure, verdict


def staged(
    number: int, *stages: Stage, verifier: str = "local/test-1", version: int = 1
) -> Verdict:
    """A verdict whose answer had p1, and for which p2 was seen at these stages."""
    made = verdict(failure(number, "It lasts 30 days."), verifier=verifier, version=version)
    seen = (
        StagedPassage(Passage("p1", "14 days"), (Stage.RETRIEVED, Stage.PROMPT)),
        StagedPassage(Passage("p2", "30 days"), stages),
    )
    return replace(made, candidate=replace(made.candidate, staged=seen))


def test_passages_come_back_with_their_stages(any_client: Client) -> None:
    """Of the verifier that was last; an answer that is not there is left out."""
    insert_verdicts(any_client, [staged(1, Stage.RETRIEVED)])
    insert_verdicts(
        any_client, [staged(1, Stage.RETRIEVED, Stage.RERANKED, verifier="other/1", version=2)]
    )
    key = (f"{1:032x}", f"{1:016x}")

    found = last_verifications(any_client, [key, ("f" * 32, "f" * 16)])

    assert {key: one.passages for key, one in found.items()} == {
        key: (
            SeenPassage("p1", frozenset({Stage.RETRIEVED, Stage.PROMPT}), True),
            SeenPassage("p2", frozenset({Stage.RETRIEVED, Stage.RERANKED}), False),
        )
    }
    assert last_verifications(any_client, []) == {}


def test_answers_come_back_without_their_claims(any_client: Client) -> None:
    """By key, and the faithful ones of a route, the newest first."""
    good = [
        replace(one, report=replace(one.report, label=AnswerLabel.ENTAILED))
        for number in (2, 3, 4)
        for one in [verdict(failure(number, f"It lasts {number} days.", label=Label.ENTAILED))]
        if one.report is not None
    ]
    other = replace(good[2], candidate=replace(good[2].candidate, route="trial"))
    insert_verdicts(any_client, [verdict(failure(1, "It lasts 30 days.")), *good[:2], other])
    key = (f"{1:032x}", f"{1:016x}")

    said = last_verifications(any_client, [key, ("f" * 32, "f" * 16)])[key]

    assert (said.answer, said.question) == ("It lasts 30 days.", "How long does it last?")
    assert (said.service, said.route, said.label) == ("shop", "billing", "contradicted")
    faithful = faithful_answers(any_client, service="shop", route="billing", limit=9)
    assert [one.answer for one in faithful] == ["It lasts 3 days.", "It lasts 2 days."]
    assert last_verifications(any_client, []) == {}


def test_a_verdict_made_anew_is_the_one_that_counts(client: Client) -> None:
    """By the same verifier too."""
    first = verdict(failure(1, "It lasts 30 days."))
    insert_verdicts(client, [first])
    again = replace(
        first,
        decided_ns=first.decided_ns + 5 * SECOND,
        candidate=replace(first.candidate, model="m-2"),
    )
    insert_verdicts(client, [again])

    (said,) = last_verifications(client, [(f"{1:032x}", f"{1:016x}")]).values()
    assert said.model == "m-2"
