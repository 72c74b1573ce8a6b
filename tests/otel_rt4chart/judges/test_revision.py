"""A model rewrites a failed answer; only a rewriting that verifies is offered."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.revision import Revision, revise_with
from otel_rt4chart.verify import Exchange, OpenAIJudge, Passage, RulesJudge, Verifier
from tests.endpoint_server import Answer, Seen, text
from tests.oracle import Oracle, Truth
from tests.otel_rt4chart.verify.llm.served import served

RIGHT = "The free trial lasts 14 days."
WRONG = "The free trial lasts 30 days."
EXCHANGE = Exchange("How long is the trial?", [Passage("terms", RIGHT)], WRONG)
TRUTHS = {
    RIGHT: Truth("entailed", ("14 days",)),
    WRONG: Truth("contradicted", ("14 days",), "30 days", "14 days"),
}


class Rewriting:
    """A judge that makes no mistake, and rewrites an answer to the next of these replies."""

    def __init__(self, *replies: str | Answer) -> None:
        self.oracle, self.replies = Oracle(TRUTHS), list(replies)
        self.asked: list[str] = []

    def __call__(self, seen: Seen) -> Answer:
        """The reply to a request."""
        if "What is wrong:" not in seen.user:
            return text(json.dumps(self.oracle.reply(seen)))
        self.asked.append(seen.user)
        reply = self.replies.pop(0)
        return reply if isinstance(reply, Answer) else text(reply)


def revision(model: Rewriting, exchange: Exchange = EXCHANGE) -> Revision | None:
    """The rewriting by that model of an answer that it judges, too."""
    with served(model) as (_, endpoint):
        verifier = Verifier(OpenAIJudge(endpoint))
        return revise_with(verifier, exchange, verifier.verify(exchange))


def rewritten(answer: str) -> str:
    """The reply that the prompt asks for."""
    return json.dumps({"revisions": [{"answer": answer}]})


def test_a_rewriting_that_verifies_is_offered() -> None:
    """The model is shown the passages, the answer, and what is wrong with it."""
    model = Rewriting(rewritten(RIGHT))

    found = revision(model)

    assert found is not None
    assert (found.answer, found.report.failures) == (RIGHT, ())
    (asked,) = model.asked
    for piece in ('Passage "terms"', json.dumps(WRONG), "is contradicted", "14 days"):
        assert piece in asked


@pytest.mark.parametrize(
    "replies",
    [
        [rewritten(WRONG)],
        [rewritten("The free trial is heated.")],
        ["I would rather not.", "No."],
        [rewritten("  "), rewritten("")],
        [Answer(b"{}", code=500)],
    ],
    ids=["no better", "new failure", "no reply", "empty", "error"],
)
def test_any_other_rewriting_is_not(replies: Sequence[str | Answer]) -> None:
    """One rewriting is verified, no second one is tried."""
    assert revision(Rewriting(*replies)) is None


def test_an_answer_without_a_failure_costs_no_call() -> None:
    """There is nothing to rewrite."""
    model = Rewriting()

    assert revision(model, Exchange("", [Passage("terms", RIGHT)], RIGHT)) is None
    assert model.asked == []


def test_a_judge_in_this_process_cannot_write() -> None:
    """The mechanical edits are its advice."""
    verifier = Verifier(RulesJudge())

    with pytest.raises(SettingsError, match="expected a judge at an endpoint, such as openai"):
        revise_with(verifier, EXCHANGE, verifier.verify(EXCHANGE))
