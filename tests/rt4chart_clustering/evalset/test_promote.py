"""From failures to cases."""

from __future__ import annotations

from itertools import count

from otel_rt4chart.redaction import Redactor, build_redactor
from otel_rt4chart.sampling.layers import parse_layers
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.evalset.case import case_id
from rt4chart_clustering.evalset.promote import SelectedCases, select_cases
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure, failures
from tests.rt4chart_clustering.evalset.made import KB, stored, trace
from tests.rt4chart_collector.chain_app import assembled
from tests.rt4chart_collector.conversation_app import RETURNS, SHIPPING, turn
from tests.rt4chart_collector.one_worker import OneWorker

WRONG = "The free trial lasts 30 days."


def promoted(
    client: Client, found: list[Failure], *, number: int = 20, redactor: Redactor | None = None
) -> SelectedCases:
    """The cases of these failures."""
    return select_cases(
        client,
        found,
        issue="00ab",
        number=number,
        embedder=HashingEmbedder(),
        redactor=redactor or build_redactor(),
    )


def test_a_case_has_what_the_answer_stood_on(client: Client) -> None:
    """Passages, the claims with their places, where it comes from."""
    found = stored(client, [trace(1, "How long is the trial?", f"{WRONG} Dogs are welcome.")])

    (case,) = promoted(client, found).cases

    exchange = case.exchange
    assert exchange.question == "How long is the trial?"
    assert [(one.id, one.text) for one in exchange.passages] == [("kb-0", KB[0]), ("kb-1", KB[1])]
    assert case.id == case_id(exchange)
    assert (case.issue, case.source.trace_id, case.source.service) == ("00ab", f"{1:032x}", "shop")
    told = [(exchange.answer[one.start : one.end], one.label) for one in case.claims]
    assert [label for _, label in told] == [Label.CONTRADICTED, Label.ENTAILED]
    assert "30 days" in told[0][0]


def test_the_same_question_is_one_case_and_the_same_words_are_one(client: Client) -> None:
    """Of twins the first counts; the others are told as alike."""
    asked = ["How long is the trial?", "How long is the trial?", "Trial period?"]
    found = stored(client, [trace(at, text, WRONG) for at, text in enumerate(asked, start=1)])

    done = promoted(client, found)

    assert len(done.cases) == 1
    assert (done.alike, dict(done.refused)) == (2, {})


def test_no_more_cases_than_asked_for_and_those_unlike_each_other(client: Client) -> None:
    """The others are counted with the alike."""
    answers = [WRONG, "Dogs are not welcome.", "The free trial lasts 90 days and costs 5 euros."]
    found = stored(client, [trace(at, f"Question {at}?", a) for at, a in enumerate(answers, 1)])

    done = promoted(client, found, number=2)

    assert len(done.cases) == 2
    assert done.alike == 1


def test_an_answer_whose_context_is_not_whole_is_no_case(client: Client) -> None:
    """Redacted texts, spans that are gone: nobody could tell what the passages said."""
    hidden = trace(1, "How long is the trial?", WRONG)
    found = stored(client, [hidden, trace(2, "And dogs?", "Dogs are not welcome.")])
    client.command("TRUNCATE TABLE otel_traces")

    done = promoted(client, found)

    assert (done.cases, dict(done.refused)) == ((), {"answer_gone": 2})


def test_personal_data_leaves_no_case_and_claims_keep_their_place(client: Client) -> None:
    """In question, passages, answer and claims."""
    answer = "Mail help@example.com: the free trial lasts 30 days."
    found = stored(client, [trace(1, "I am jo@example.com, how long is it?", answer)])

    (case,) = promoted(client, found, redactor=build_redactor("mask", "email")).cases

    texts = (case.exchange.question, case.exchange.answer, case.exchange.passages[0].text)
    assert not any("@" in text for text in (*texts, *(one.text for one in case.claims)))
    assert all("[email]" in text for text in texts)
    (claim,) = [one for one in case.claims if one.label is Label.CONTRADICTED]
    assert case.exchange.answer[claim.start : claim.end].endswith("30 days")


def test_a_case_has_the_texts_of_earlier_turns_that_its_claims_quote(client: Client) -> None:
    """Without them the gate would call a supported claim baseless."""
    clock = count(2_000_000_000_000_000_000, 1_000_000_000)
    verifier, metrics = Verifier(RulesJudge()), ServiceMetrics()
    additions = verdict_additions(
        verifier,
        metrics,
        layers=parse_layers("earlier_turns=1"),
        calls=60,
        clock=lambda: next(clock),
    )
    first = turn("May I return it?", RETURNS, "Yes.")
    last = turn("?", SHIPPING, f"{RETURNS} {SHIPPING.replace('free', 'never free')}")
    insert_spans(client, [*first, *last])
    worker = OneWorker(client, verifier, lambda: next(clock), metrics=metrics, additions=additions)
    worker.handle([assembled(last)])

    (case,) = promoted(client, failures(client, since_ns=0)).cases

    passages = [(one.id, one.text) for one in case.exchange.passages]
    assert passages == [("kb-1", SHIPPING), ("1 turn earlier: kb-1", RETURNS)]
    assert [one.label for one in case.claims] == [Label.ENTAILED, Label.CONTRADICTED]
