from __future__ import annotations

import json

import pytest

from otel_rt4chart.core.errors import InputError, SettingsError
from otel_rt4chart.verify import (
    AnswerLabel,
    CascadeJudge,
    Exchange,
    Label,
    OpenAIJudge,
    RulesJudge,
    SingleJudge,
    Verifier,
)
from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim
from tests.endpoint_server import Answer, Seen, error, text
from tests.oracle import Oracle, lines
from tests.otel_rt4chart.verify.llm.served import CON, ENT, NIC, ORACLE, POOL, RUNNING, served


def test_one_call_gives_the_same_labels_as_the_steps() -> None:
    """The single judge, where the model makes no mistake."""
    with served(ORACLE) as (_, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(RUNNING)

    assert [claim.label for claim in report.claims] == [CON, CON, ENT, ENT, NIC]
    assert report.usage.calls == 1
    assert report.judge == "single/gpt-4o-mini/2.1"


def test_the_single_judge_is_held_to_its_evidence_and_to_the_answer() -> None:
    """A missing sentence and a bare label are asked again; a label that stays bare is baseless."""

    def script(seen: Seen) -> Answer:
        reply = ORACLE.reply(seen)
        reply["claims"] = [
            {**one, "sentences": []} for one in reply["claims"] if one["sentence"] != 2
        ]
        return text(json.dumps(reply))

    with served(script) as (server, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(RUNNING)

    assert [claim.label for claim in report.claims] == [NIC, Label.UNDECIDED, NIC, NIC, NIC]
    assert {report.claims[0].reason, report.claims[2].reason} == {"no_evidence"}
    assert server.seen[1].user.endswith("Audit these: 1, 2, 3, 4")
    assert len(server.seen) == 2


def _audited(*entries: tuple[str, str]) -> Answer:
    """The reply that these claims of the first sentence have these labels."""
    return text(
        json.dumps(
            {
                "claims": [
                    {"sentence": 1, "claim": claim, "is_claim": True, "label": label,
                     "sentences": [1]}
                    for claim, label in entries
                ]
            }
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "reply", "complaint"),
    [
        (
            "The pool is warm and the bar is open.",
            _audited(("The pool is warm", "entailed"), ("the bar is open", "surely")),
            "none of the three",
        ),
        (
            "The pool is warm.",
            _audited(("The pool is warm.", "entailed"), ("The pool is in Rome.", "baseless")),
            "is not in the answer so far",
        ),
        ("It is open until 9 pm.", _audited(("It is open", "entailed")), "no claim keeps"),
        (
            "The pool is warm, and it is open.",
            _audited(("The pool is warm, and it is open.", "entailed")),
            "joins 2 facts",
        ),
    ],
    ids=["label", "invented", "lost number", "compound"],
)
def test_a_sentence_counts_only_if_all_its_entries_pass(
    answer: str, reply: Answer, complaint: str
) -> None:
    """A bad entry is not dropped beside a good one: the sentence is asked again."""
    with served(lambda seen: reply) as (server, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(Exchange("", POOL.passages, answer))

    assert complaint in server.seen[1].body["messages"][-1]["content"]
    assert report.label is AnswerLabel.UNDECIDED


def test_a_bare_label_whose_second_call_fails_is_undecided() -> None:
    """Nothing was found out about its evidence."""
    entry = {"sentence": 1, "claim": "The pool is warm.", "label": "entailed", "sentences": []}
    bare = text(json.dumps({"claims": [entry]}))
    replies = iter([bare, error(500, "down")])

    with served(lambda seen: next(replies)) as (_, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(POOL)

    assert report.label is AnswerLabel.UNDECIDED
    assert "500" in report.claims[0].reason


def test_a_long_answers_parts_are_shown_with_the_sentences_before() -> None:
    """A pronoun may mean a name that stands in another part."""
    facts = " ".join(f"Room {n} is warm." for n in range(11))
    answer = f"{facts} Marie Curie was a physicist. She was born in Warsaw."
    oracle = Oracle(split=lambda said: [said.replace("She", "Marie Curie")])

    with served(oracle) as (server, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(Exchange("", POOL.passages, answer))

    assert len(server.seen) == 2
    assert report.claims[-1].text == "Marie Curie was born in Warsaw."
    assert report.claims[-1].label is NIC


def test_a_cascade_asks_the_second_judge_only_where_the_first_is_unsure() -> None:
    """The local judge is sure of what stands word for word."""
    answer = "The free trial lasts 14 days. The trial includes priority email support."
    with served(ORACLE) as (server, endpoint):
        cascade = CascadeJudge(RulesJudge(), OpenAIJudge(endpoint), threshold=0.9)
        report = Verifier(cascade).verify(Exchange("", RUNNING.passages, answer))
        strict = Verifier(cascade).verify(Exchange("", RUNNING.passages, answer), strict=True)

    assert [claim.decided_by for claim in report.claims] == [
        RulesJudge().id,
        "openai/gpt-4o-mini/1.1.1.1",
    ]
    assert {claim.decided_by for claim in strict.claims} == {"openai/gpt-4o-mini/1.1.1.1"}
    asked = server.seen[0].user.partition("Claims:")[2]
    assert [claim for _, claim in lines(asked)] == ["The trial includes priority email support."]


def test_a_cascade_whose_second_judge_fails_leaves_the_claim_undecided() -> None:
    """The first judge's word was not good enough."""
    with served(lambda seen: error(500, "down")) as (_, endpoint):
        cascade = CascadeJudge(RulesJudge(), OpenAIJudge(endpoint), threshold=1.0)
        report = Verifier(cascade).verify(POOL)

    assert report.label is AnswerLabel.UNDECIDED
    assert "500" in report.claims[0].reason


def test_a_one_call_judge_cannot_be_a_cascades_second() -> None:
    """It makes its own claims."""
    with (
        served(ORACLE) as (_, endpoint),
        pytest.raises(SettingsError, match="makes its own claims"),
    ):
        CascadeJudge(RulesJudge(), SingleJudge(endpoint))


def test_a_reason_quotes_little_of_an_unusable_reply() -> None:
    """What a model writes is stored and shown with each claim of the answer."""
    entry = {"sentence": 1, "claim": "evil " * 100_000, "is_claim": True, "label": "baseless"}

    with served(lambda seen: text(json.dumps({"claims": [entry]}))) as (_, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(POOL)

    assert report.claims[0].label is Label.UNDECIDED
    assert len(report.claims[0].reason) < 400


def test_a_one_call_judge_cannot_judge_a_given_claim() -> None:
    """It makes claims and labels together; the message says what to do."""
    with served(ORACLE) as (server, endpoint):
        verifier = Verifier(SingleJudge(endpoint))
        with pytest.raises(InputError, match="cannot judge a given claim; use another judge"):
            verifier.verify_claim(RUNNING, DraftClaim("It is so.", 0, AnswerRange(0, 9)))

    assert server.seen == []
