from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from otel_rt4chart.verify import AnswerLabel, Exchange, Label, OpenAIJudge, Verifier
from tests.endpoint_server import Answer, error, text
from tests.oracle import Oracle, Truth, lines
from tests.otel_rt4chart.verify.llm.served import (
    CON,
    ENT,
    NIC,
    POOL,
    RUNNING,
    WARM,
    Spoiling,
    served,
    verify,
)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda reply: f"Here is my verdict:\n```json\n{json.dumps(reply)}\n```\nI hope this helps!",
        lambda reply: json.dumps(reply["verdicts"]),
        lambda reply: json.dumps({"verdicts": [{**reply["verdicts"][0], "claim": "1"}]}),
        lambda reply: json.dumps({"verdicts": [{**reply["verdicts"][0], "label": "Supported."}]}),
        lambda reply: json.dumps({"verdicts": [{**reply["verdicts"][0], "sentences": "1"}]}),
        lambda reply: json.dumps(reply)[:-2],
    ],
    ids=["prose", "list", "number as text", "other words", "one id", "unclosed"],
)
def test_a_reply_in_another_form_is_read(spoil: Callable[[dict[str, Any]], str]) -> None:
    """Prose around JSON and small slips cost no call."""
    report, calls = verify(Spoiling(Oracle({"The pool is warm.": WARM}), spoil))

    assert (report.label, calls) == (AnswerLabel.ENTAILED, 2)


def _nested() -> object:
    """A value that is too deep to be shown."""
    value: object = "entailed"
    for _ in range(400):
        value = [value]
    return value


@pytest.mark.parametrize(
    "spoil",
    [
        lambda reply: "I think it is fine.",
        lambda reply: "",
        lambda reply: json.dumps({"verdicts": []}),
        lambda reply: json.dumps({"verdicts": "entailed"}),
        lambda reply: json.dumps({"verdicts": [{"claim": 1, "label": 7, "sentences": [1]}]}),
        lambda reply: json.dumps({"verdicts": [{"claim": [1], "label": {}, "sentences": None}]}),
        lambda reply: json.dumps({"verdicts": [{**reply["verdicts"][0], "claim": 99}]}),
        lambda reply: json.dumps({"verdicts": [{"claim": 1, "label": _nested(), "sentences": []}]}),
        lambda reply: json.dumps({"verdicts": [{**reply["verdicts"][0], "claim": 0}]}),
        lambda reply: json.dumps({"verdicts": [{**reply["verdicts"][0], "sentences": [0]}]}),
        lambda reply: json.dumps(
            {"verdicts": [*reply["verdicts"], {"claim": 1, "label": "baseless", "sentences": []}]}
        ),
        lambda reply: text('{"verdicts": [{"claim": 1, "lab', cut=True),
    ],
    ids=[
        *("prose", "empty", "none", "text", "label", "types", "unknown claim", "nested", "claim 0"),
        *("sentence 0", "two verdicts", "cut"),
    ],
)
def test_a_reply_that_cannot_be_read_is_asked_again(
    spoil: Callable[[dict[str, Any]], str | Answer],
) -> None:
    """With what was wrong; the second reply counts."""
    report, calls = verify(Spoiling(Oracle({"The pool is warm.": WARM}), spoil))

    assert (report.label, calls) == (AnswerLabel.ENTAILED, 3)


def test_a_draft_before_the_reply_does_not_count() -> None:
    """A model that thinks aloud may think of another label first."""
    reply = json.dumps({"verdicts": [{"claim": 1, "label": "entailed", "sentences": [1]}]})
    truth = Truth("contradicted", ("heated",))

    report, _ = verify(
        Spoiling(
            Oracle({"The pool is warm.": truth}),
            lambda told: f"<think>The form is {reply}</think>{json.dumps(told)}",
        )
    )

    assert report.claims[0].label is CON


def test_claims_numbered_from_0_are_asked_again_with_the_reason() -> None:
    """The first claim must not get the second's verdict."""
    exchange = Exchange("", POOL.passages, "The pool is warm. Dogs may not come.")
    oracle = Oracle(
        {"The pool is warm.": WARM, "Dogs may not come.": Truth("contradicted", ("Dogs",))}
    )

    def shift(reply: dict[str, Any]) -> str:
        moved = [{**one, "claim": one["claim"] - 1} for one in reply["verdicts"]]
        return json.dumps({"verdicts": moved})

    with served(Spoiling(oracle, shift)) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(exchange)

    assert [claim.label for claim in report.claims] == [ENT, CON]
    assert "numbered from 1" in server.seen[-1].body["messages"][-1]["content"]


def test_a_reply_that_stays_unreadable_leaves_the_claims_undecided() -> None:
    """Never entailed by accident, and the reason says what came."""
    oracle = Oracle({"The pool is warm.": WARM})

    report, _ = verify(Spoiling(oracle, lambda reply: "fine!", times=9))

    assert report.label is AnswerLabel.UNDECIDED
    assert "not usable" in report.claims[0].reason


def test_only_the_claims_that_a_reply_lacks_are_asked_again() -> None:
    """What was answered well is kept."""
    exchange = Exchange("", POOL.passages, "The pool is warm. Dogs may come.")
    oracle = Oracle({"The pool is warm.": WARM, "Dogs may come.": Truth("entailed", ("Dogs",))})
    with served(
        Spoiling(oracle, lambda reply: json.dumps({"verdicts": reply["verdicts"][:1]}))
    ) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(exchange)

    assert [claim.label for claim in report.claims] == [ENT, ENT]
    again = server.seen[-1].user.partition("Claims:\n")[2]
    assert [claim for _, claim in lines(again)] == ["Dogs may come."]


def test_invented_sentences_are_no_evidence() -> None:
    """Ids are checked; the label is asked once more for evidence that exists."""

    def invent(reply: dict[str, Any]) -> str:
        return json.dumps({"verdicts": [{**reply["verdicts"][0], "sentences": [77, -1]}]})

    once, calls = verify(Spoiling(Oracle({"The pool is warm.": WARM}), invent))
    always, _ = verify(Spoiling(Oracle({"The pool is warm.": WARM}), invent, times=9))

    assert (once.claims[0].label, calls) == (ENT, 3)
    assert (always.claims[0].label, always.claims[0].reason) == (NIC, "no_evidence")


def test_clashing_words_count_only_where_they_stand() -> None:
    """A model's quotation of the claim or the evidence is checked like its ids."""
    truth = Truth("contradicted", ("heated",), "freezing cold", "heated to 99 degrees")
    report, _ = verify(Oracle({"The pool is warm.": truth}))

    assert report.claims[0].label is CON
    assert report.claims[0].clashes == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (text("", refusal="I cannot judge that."), "the model refused: I cannot judge that."),
        (error(500, "down"), "gpt-4o-mini: 500"),
        (error(429, "slow"), "gpt-4o-mini: 429"),
    ],
)
def test_a_failed_call_leaves_its_claims_undecided_with_the_reason(
    answer: Answer, reason: str
) -> None:
    """The rest of the answer's report is there."""
    report, _ = verify(Spoiling(Oracle(), lambda reply: answer, times=9))

    assert report.label is AnswerLabel.UNDECIDED
    assert report.claims[0].reason.startswith(reason)


def test_a_failed_decomposition_leaves_the_sentences_undecided() -> None:
    """An endpoint that is down is asked no more about this answer."""
    report, calls = verify(lambda seen: error(500, "down"), RUNNING)

    assert [claim.label for claim in report.claims] == [Label.UNDECIDED] * 5
    assert calls == 1
