from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import AnswerLabel, Exchange, Label, Passage, Verifier
from otel_rt4chart.verify.core.rates import claim_rate
from rt4chart_collector.store.answers.answers import verified_answers
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.claim_rates import route_sums

# Far ahead, so that no retention takes the rows away.
START = 4_000_000_000_000_000_000
EXCHANGE = Exchange(
    "How long?",
    (Passage("p1", "The trial lasts 14 days. It is free."),),
    "The trial lasts 30 days. It is free. Bananas grow on Mars",
)
JUDGE = ScriptedJudge(
    {
        "The trial lasts 30 days": Script(Label.CONTRADICTED, (Label.CONTRADICTED,), ("14 days",)),
        "It is free": Script(Label.ENTAILED, (Label.ENTAILED,), ("is free",)),
        "Bananas grow on Mars": Script(Label.BASELESS),
    }
)
VERDICT = Verdict(
    Candidate(EXCHANGE, "a" * 32, "b" * 16, START, "shop", "refunds"),
    Decision.VERIFIED,
    JUDGE.id,
    sample_rate=0.5,
    decided_ns=START + 10,
    report=Verifier(JUDGE).verify(EXCHANGE),
)
SKIPPED = replace(
    VERDICT,
    candidate=replace(VERDICT.candidate, span_id="c" * 16),
    decision=Decision.NOT_SAMPLED,
    report=None,
)


def test_an_answer_comes_back_with_its_claims_and_their_evidence(client: Client) -> None:
    """What was verified can be shown again whole; what was not is left out."""
    insert_verdicts(client, [VERDICT, SKIPPED])

    (found,) = verified_answers(client)

    assert (found.route, found.question, found.answer) == ("refunds", "How long?", EXCHANGE.answer)
    assert found.label is AnswerLabel.CONTRADICTED
    assert [claim.label for claim in found.claims] == [
        Label.CONTRADICTED,
        Label.ENTAILED,
        Label.BASELESS,
    ]
    (evidence,) = found.claims[0].evidence
    assert (evidence.passage_id, evidence.relation) == ("p1", "contradicts")
    assert EXCHANGE.passages[0].text[evidence.start : evidence.end] == evidence.text


def test_two_judges_verdicts_on_one_answer_stay_apart(client: Client) -> None:
    """Each verdict comes with its own claims alone."""
    insert_verdicts(client, [VERDICT, replace(VERDICT, verifier="other/1")])

    found = verified_answers(client)

    assert sorted(one.verifier for one in found) == ["other/1", "scripted/1"]
    assert [len(one.claims) for one in found] == [3, 3]


def test_a_routes_sums_give_its_rate_however_often_they_are_written(client: Client) -> None:
    """Two of three claims, weighted alike, and an answer that was not sampled beside them."""
    insert_verdicts(client, [VERDICT, SKIPPED])
    insert_verdicts(client, [replace(VERDICT, decided_ns=START + 20)])

    (line,) = route_sums(client)

    assert (line.answers, line.unverified, line.unfaithful_answers) == (1, 1, 1)
    assert (line.entailed, line.contradicted, line.baseless, line.undecided) == (1, 1, 1, 0)
    assert line.sums.wm == pytest.approx(6)
    assert claim_rate(line.sums).value == pytest.approx(2 / 3)


def test_an_empty_database_has_no_routes(client: Client) -> None:
    """Nothing is shown where nothing was verified."""
    assert route_sums(client) == []
    assert verified_answers(client) == []
