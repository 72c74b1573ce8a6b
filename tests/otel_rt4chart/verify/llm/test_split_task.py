from __future__ import annotations

import json

import pytest

from otel_rt4chart.verify import AnswerLabel, Exchange, OpenAIJudge, SingleJudge, Verifier
from tests.endpoint_server import Answer, Seen, text
from tests.oracle import Oracle
from tests.otel_rt4chart.verify.llm.served import CON, ORACLE, POOL, RUNNING, served, verify
from tests.running_example import ANSWER

SPLITS = {
    "invented": ["The pool is warm.", "The pool was built by Romans in Bath."],
    "compound": ["The pool is warm, and it closes at 9 pm."],
    "lost number": ["The pool is warm."],
    "lost negation": ["Dogs are allowed."],
    "lost clause": ["The plan covers dental care."],
    "nothing": [],
}


@pytest.mark.parametrize(
    ("sentence", "split", "complaint"),
    [
        ("The pool is warm.", "invented", "is not in the answer so far"),
        ("The pool is warm, and it closes at 9 pm.", "compound", "joins 2 facts"),
        ("The pool is warm until 9 pm.", "lost number", "no claim keeps"),
        ("Dogs are not allowed.", "lost negation", "no claim keeps"),
        (
            "The plan covers dental care and the insurer pays the surgeon.",
            "lost clause",
            'no claim keeps "insurer pays the surgeon"',
        ),
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


def _denied(seen: Seen) -> Answer:
    reply = ORACLE.reply(seen)
    for entry in reply.get("claims", ()):
        entry["is_claim"] = False
    return text(json.dumps(reply))


@pytest.mark.parametrize("judge", [OpenAIJudge, SingleJudge])
@pytest.mark.parametrize(
    ("answer", "is_claim"),
    [
        ("It is lovely to hear from you.", False),
        ("The provided text goes into no such details.", False),
        ("Please do not hesitate to call the pool.", False),
        ("Sure, revenue was $3.2 million.", True),
        ("The plan never covers cosmetic surgery.", True),
        ("The plan covers only dental care.", True),
    ],
)
def test_what_the_model_calls_no_claim_counts_nowhere_unless_it_says_too_much(
    answer: str, is_claim: bool, judge: type[OpenAIJudge | SingleJudge]
) -> None:
    """A model may find framing that no rule knows, but no figure or denial gets lost that way."""
    with served(_denied) as (_, endpoint):
        report = Verifier(judge(endpoint)).verify(Exchange("", POOL.passages, answer))

    assert (report.label is not AnswerLabel.NO_CLAIMS) is is_claim


@pytest.mark.parametrize("is_told", [True, False])
def test_the_last_sentence_of_a_reply_that_breaks_off_is_asked_again(is_told: bool) -> None:
    """Its further claims would be lost; an endpoint may not say that it cut the reply."""
    answer = "The plan covers dental care. The pool is warm, and it is heated."
    cuts = iter([True, False, False, False])

    def script(seen: Seen) -> Answer:
        reply = json.dumps(Oracle().reply(seen))
        if "Split these" in seen.user and next(cuts):
            return text(reply[: reply.rindex('"claim"') + 12], cut=is_told)
        return text(reply)

    with served(script) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(Exchange("", POOL.passages, answer))

    assert server.seen[1].user.endswith("Split these sentences: 2")
    assert [claim.text for claim in report.claims] == [
        "The plan covers dental care.",
        "The pool is warm",
        "it is heated.",
    ]


def test_a_draft_of_the_claims_does_not_double_them() -> None:
    """Only the last list counts, and a claim once."""

    def script(seen: Seen) -> Answer:
        reply = Oracle().reply(seen)
        if "claims" in reply:
            reply["claims"] *= 2
        return text(f"<think>{json.dumps(reply)}</think>{json.dumps(reply)}")

    report, _ = verify(script)

    assert [claim.text for claim in report.claims] == ["The pool is warm."]


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


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        (text('{"claims": []}'), AnswerLabel.NO_CLAIMS),
        (text('{"claims": [{"claim": "The po', cut=True), AnswerLabel.UNDECIDED),
        (text('{"claims": [{"claim": "The pool is warm."}, {"cl'), AnswerLabel.UNDECIDED),
        (text('{"claims": null}'), AnswerLabel.UNDECIDED),
        (text("I cannot list claims."), AnswerLabel.UNDECIDED),
    ],
)
def test_only_an_empty_list_says_that_an_answer_has_no_claims(
    reply: Answer, label: AnswerLabel
) -> None:
    """What is no list, or not all of one, is asked again and then undecided."""
    with served(lambda seen: reply) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint, decomposition="holistic")).verify(POOL)

    assert report.label is label
    assert len(server.seen) == (1 if label is AnswerLabel.NO_CLAIMS else 2)
