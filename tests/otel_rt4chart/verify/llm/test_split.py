from __future__ import annotations

import json

import pytest

from otel_rt4chart.verify import (
    AnswerLabel,
    Exchange,
    OpenAIJudge,
    Verifier,
)
from tests.endpoint_server import Answer, Seen, text
from tests.oracle import Oracle
from tests.otel_rt4chart.verify.llm.served import (
    ANSWER,
    CON,
    NIC,
    ORACLE,
    POOL,
    RUNNING,
    served,
    verify,
)

SPLITS = {
    "invented": ["The pool is warm.", "The pool was built by Romans in Bath."],
    "compound": ["The pool is warm, and it closes at 9 pm."],
    "lost number": ["The pool is warm."],
    "lost negation": ["Dogs are allowed."],
    "nothing": [],
}


@pytest.mark.parametrize(
    ("sentence", "split", "complaint"),
    [
        ("The pool is warm.", "invented", "does not stand in the answer so far"),
        ("The pool is warm, and it closes at 9 pm.", "compound", "joins 2 facts"),
        ("The pool is warm until 9 pm.", "lost number", "no claim keeps"),
        ("Dogs are not allowed.", "lost negation", "no claim keeps"),
        ("The pool is warm.", "nothing", "it has no entry"),
    ],
)
def test_a_bad_decomposition_is_asked_again_and_then_the_sentence_is_the_claim(
    sentence: str, split: str, complaint: str
) -> None:
    """Grounded, atomic, complete: else the answer's own words stand."""
    with served(Oracle(split=lambda said: SPLITS[split])) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(Exchange("", POOL.passages, sentence))

    assert complaint in server.seen[1].body["messages"][-1]["content"]
    assert [claim.text for claim in report.claims] == [sentence]


def test_questions_and_framing_cost_no_call() -> None:
    """The rules know them; they are kept as no claims."""
    answer = "Sure! Here is the answer: Is there anything else?"
    report, calls = verify(Oracle(), Exchange("", POOL.passages, answer))

    assert (report.label, calls) == (AnswerLabel.NO_CLAIMS, 0)


def test_what_the_model_calls_no_claim_counts_nowhere_unless_it_has_a_number() -> None:
    """A model may find framing that no rule knows, but no figure gets lost that way."""

    def script(seen: Seen) -> Answer:
        reply = ORACLE.reply(seen)
        for entry in reply.get("claims", ()):
            entry["is_claim"] = False
        return text(json.dumps(reply))

    framing, _ = verify(script, Exchange("", POOL.passages, "It is lovely to hear from you."))
    figure, _ = verify(script, Exchange("", POOL.passages, "Sure, revenue was $3.2 million."))

    assert framing.label is AnswerLabel.NO_CLAIMS
    assert [claim.label for claim in figure.claims] == [NIC]


def test_holistic_claims_have_no_range_of_their_own() -> None:
    """They are the whole answer's, also where they are unfaithful."""
    oracle = Oracle(split=lambda said: ["The policy applies to all users."], judge=ORACLE.judge,
                    truths=ORACLE.truths)  # fmt: skip
    with served(oracle) as (_, endpoint):
        judge = OpenAIJudge(endpoint, decomposition="holistic")
        report = Verifier(judge).verify(RUNNING)

    assert [(claim.label, claim.answer_range) for claim in report.claims] == [
        (CON, (0, len(ANSWER)))
    ]
    assert judge.id.endswith("-holistic")
