"""SelfCheckGPT: samples from the endpoint, compared by a prompt or by the embedded network."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from otel_rt4chart.bench.rivals.asking import Asker
from otel_rt4chart.bench.rivals.selfcheck import (
    SAMPLES,
    SelfCheck,
    compare_by_inference,
    compare_by_prompt,
)
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange
from otel_rt4chart.verify.neural.cross_encoder import CrossEncoder
from otel_rt4chart.verify.neural.model_folder import model_folder
from tests.endpoint_server import Seen, error, text
from tests.otel_rt4chart.bench.rivals.asked import POOL, Replies, asked, name_of


def by_prompt(asker: Asker, budget: Budget | None = None) -> SelfCheck:
    """The variant that asks."""
    return SelfCheck(asker, compare_by_prompt(asker), "selfcheck-prompt1", budget or Budget())


def sample(seen: Seen) -> Mapping[str, str]:
    """An answer of the endpoint's own."""
    return {"answer": "The pool is heated, so it is warm."}


def vote(seen: Seen) -> Mapping[str, str]:
    """The samples say nothing of dogs."""
    return {"verdict": "no" if "Dogs" in seen.user.partition("Sentence:")[2] else "yes"}


REPLIES: Replies = {"sample": sample, "consistent": vote}


def test_each_sentence_is_compared_with_each_sample() -> None:
    """One sentence of two has no support: the score is one half, which flags nothing."""
    with asked(REPLIES) as (server, asker):
        rival = by_prompt(asker)
        found = rival.verify(POOL)

    assert (found.label, found.score) == (AnswerLabel.ENTAILED, 0.5)
    assert found.usage.calls == len(server.seen) == SAMPLES + 2 * SAMPLES
    assert found.usage.input_tokens > 0
    assert rival.id == "selfcheck-prompt1/gpt-4o-mini/1-samples5"


def test_samples_are_drawn_and_votes_are_not() -> None:
    """Five different seeds at temperature 1; from the passages and the question alone."""
    with asked(REPLIES) as (server, asker):
        by_prompt(asker).verify(POOL)

    drawn = [one for one in server.seen if name_of(one) == "sample"]
    votes = [one for one in server.seen if name_of(one) == "consistent"]
    assert {one.body["temperature"] for one in drawn} == {1.0}
    assert len({one.body["seed"] for one in drawn}) == SAMPLES
    assert {one.body["temperature"] for one in votes} == {0.0}
    assert all("The pool is heated." in one.user for one in drawn)
    assert not any("Dogs" in one.user for one in drawn)


@pytest.mark.parametrize(
    ("word", "label", "score"),
    [
        ("no", AnswerLabel.BASELESS, 1.0),
        ("not_sure", AnswerLabel.ENTAILED, 0.5),
        ("Yes", AnswerLabel.ENTAILED, 0.0),
    ],
)
def test_votes_are_averaged(word: str, label: AnswerLabel, score: float) -> None:
    """Yes is 0, no is 1, what is not sure one half."""
    with asked({**REPLIES, "consistent": lambda seen: {"verdict": word}}) as (_, asker):
        found = by_prompt(asker).verify(POOL)

    assert (found.label, found.score) == (label, score)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ({"sample": lambda seen: error(500, "down")}, "500: "),
        ({"sample": lambda seen: {"answer": " "}}, "no answer"),
        ({"consistent": lambda seen: text("maybe")}, "no JSON object"),
        ({"consistent": lambda seen: {"verdict": "perhaps"}}, "no yes, no or not_sure"),
        ({"consistent": lambda seen: text("{", cut=True)}, "cut at its output limit"),
        ({"consistent": lambda seen: text("", refusal="I will not")}, "the model refused"),
    ],
)
def test_what_cannot_be_had_is_no_verdict(replies: Replies, reason: str) -> None:
    """It is undecided with its reason, never a score."""
    with asked({**REPLIES, **replies}) as (_, asker):
        found = by_prompt(asker).verify(POOL)

    assert (found.label, found.score) == (AnswerLabel.UNDECIDED, None)
    assert reason in found.reason


def test_the_budget_of_an_answer_holds() -> None:
    """Calls beyond it are not sent."""
    with asked(REPLIES) as (server, asker):
        found = by_prompt(asker, Budget(calls=3)).verify(POOL)

    assert found.reason == "over_budget: 3 calls an answer"
    assert len(server.seen) == 3


def test_the_network_doubts_what_the_samples_contradict() -> None:
    """Neutral is left out; no call beside those for the samples."""
    said = "The free trial lasts 14 days. " + "Guests may bring a towel. " * 60
    with asked({"sample": lambda seen: {"answer": said}}) as (_, asker):
        compare = compare_by_inference(CrossEncoder(model_folder()))
        rival = SelfCheck(asker, compare, "selfcheck-nli", Budget())
        right, wrong = (
            rival.verify(Exchange("", POOL.passages, f"The free trial lasts {days} days."))
            for days in (14, 30)
        )

    assert right.score is not None
    assert wrong.score is not None
    assert right.score < 0.5 < wrong.score
    assert wrong.usage.calls == SAMPLES


def test_an_empty_answer_costs_no_call() -> None:
    """There is nothing to compare."""
    with asked(REPLIES) as (server, asker):
        found = by_prompt(asker).verify(Exchange("", POOL.passages, "  "))

    assert found.label is AnswerLabel.UNDECIDED
    assert not server.seen
