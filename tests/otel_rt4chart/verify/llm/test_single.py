from __future__ import annotations

import json

import pytest

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.verify import (
    AnswerLabel,
    CascadeJudge,
    Exchange,
    Label,
    LocalJudge,
    OpenAIJudge,
    SingleJudge,
    Verifier,
)
from tests.endpoint_server import Answer, Seen, error, text
from tests.oracle import lines
from tests.otel_rt4chart.verify.llm.served import (
    CON,
    ENT,
    NIC,
    ORACLE,
    POOL,
    RUNNING,
    served,
)


def test_one_call_gives_the_same_labels_as_the_steps() -> None:
    """The single judge, where the model makes no mistake."""
    with served(ORACLE) as (_, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(RUNNING)

    assert [claim.label for claim in report.claims] == [CON, CON, ENT, ENT, NIC]
    assert report.usage.calls == 1
    assert report.judge == "single/gpt-4o-mini/1.1"


def test_the_single_judge_is_held_to_its_evidence_and_to_the_answer() -> None:
    """A sentence without an entry is asked again; a bare label is baseless."""

    def script(seen: Seen) -> Answer:
        reply = ORACLE.reply(seen)
        reply["claims"] = [
            {**one, "sentences": []} for one in reply["claims"] if one["sentence"] != 2
        ]
        return text(json.dumps(reply))

    with served(script) as (server, endpoint):
        report = Verifier(SingleJudge(endpoint)).verify(RUNNING)

    assert [claim.label for claim in report.claims] == [NIC, Label.UNDECIDED, NIC, NIC, NIC]
    assert server.seen[1].user.endswith("Audit these: 2")


def test_a_cascade_asks_the_second_judge_only_where_the_first_is_unsure() -> None:
    """The local judge is sure of what stands word for word."""
    answer = "The free trial lasts 14 days. The trial includes priority email support."
    with served(ORACLE) as (server, endpoint):
        cascade = CascadeJudge(LocalJudge(), OpenAIJudge(endpoint), threshold=0.9)
        report = Verifier(cascade).verify(Exchange("", RUNNING.passages, answer))
        strict = Verifier(cascade).verify(Exchange("", RUNNING.passages, answer), strict=True)

    assert [claim.decided_by for claim in report.claims] == [
        LocalJudge().id,
        "openai/gpt-4o-mini/1.1.1.1",
    ]
    assert {claim.decided_by for claim in strict.claims} == {"openai/gpt-4o-mini/1.1.1.1"}
    asked = server.seen[0].user.partition("Claims:")[2]
    assert [claim for _, claim in lines(asked)] == ["The trial includes priority email support."]


def test_a_cascade_whose_second_judge_fails_leaves_the_claim_undecided() -> None:
    """The first judge's word was not good enough."""
    with served(lambda seen: error(500, "down")) as (_, endpoint):
        cascade = CascadeJudge(LocalJudge(), OpenAIJudge(endpoint), threshold=1.0)
        report = Verifier(cascade).verify(POOL)

    assert report.label is AnswerLabel.UNDECIDED
    assert "500" in report.claims[0].reason


def test_a_one_call_judge_cannot_be_a_cascades_second() -> None:
    """It makes its own claims."""
    with (
        served(ORACLE) as (_, endpoint),
        pytest.raises(SettingsError, match="makes its own claims"),
    ):
        CascadeJudge(LocalJudge(), SingleJudge(endpoint))
