from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.feedback import (
    WHOLE_ANSWER,
    Feedback,
    Opinion,
    feedback_on,
    judge_precision,
    record_feedback,
    withdraw_feedback,
)
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import Verification, verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

AGREE = Feedback(VERIFIER, 0, "contradicted", Opinion.AGREE, "", "ann", "", NOON)
DISAGREE = replace(AGREE, opinion=Opinion.DISAGREE, correct="entailed", note="it says so")


def answer(client: Client, number: int = 1) -> Verification:
    """A stored answer."""
    insert_verdicts(client, [verdict(number, [Label.CONTRADICTED, Label.BASELESS])])
    (found,) = verifications_of(client, f"{number:032x}", f"{number:016x}")
    return found


def test_a_person_has_one_standing_opinion(client: Client) -> None:
    """The later one replaces it, even if the clock was set back; another person's stays."""
    one = answer(client)
    record_feedback(client, one, [AGREE, replace(AGREE, actor="bob")])
    record_feedback(client, one, [replace(DISAGREE, at_ns=NOON - SECOND)])

    found = {given.actor: given for given in feedback_on(client, one)}

    assert {name: given.opinion for name, given in found.items()} == {
        "ann": Opinion.DISAGREE,
        "bob": Opinion.AGREE,
    }
    assert (found["ann"].correct, found["ann"].note) == ("entailed", "it says so")


def test_an_opinion_is_taken_back(client: Client) -> None:
    """That of this person on this claim alone; it can be given again."""
    one = answer(client)
    record_feedback(client, one, [AGREE, replace(AGREE, claim=WHOLE_ANSWER)])

    taken = withdraw_feedback(client, one, verifier=VERIFIER, claim=0, actor="ann", at_ns=NOON + 1)
    again = withdraw_feedback(client, one, verifier=VERIFIER, claim=0, actor="ann", at_ns=NOON + 2)

    assert (taken, again) == (True, False)
    assert [given.claim for given in feedback_on(client, one)] == [WHOLE_ANSWER]
    record_feedback(client, one, [replace(AGREE, at_ns=NOON + 3)])
    assert len(feedback_on(client, one)) == 2


def test_precision_is_the_share_of_verdicts_that_people_agree_with(client: Client) -> None:
    """By label and verifier; of several people on one claim their mean; whole answers apart."""
    first, second = answer(client, 1), answer(client, 2)
    record_feedback(
        client,
        first,
        [
            AGREE,
            replace(DISAGREE, actor="bob"),
            replace(AGREE, claim=1, label="baseless"),
            replace(AGREE, claim=WHOLE_ANSWER),
        ],
    )
    record_feedback(client, second, [AGREE])

    found = {(one.is_of_claims, one.label): one for one in judge_precision(client, QueryScope())}

    told = found[True, "contradicted"]
    assert (told.verifier, told.answers, told.judged, told.opinions) == (VERIFIER, 2, 2, 3)
    assert (told.agreed, told.rate.value) == (1.5, 0.75)
    assert found[True, "baseless"].rate.value == 1.0
    assert found[False, "contradicted"].judged == 1


def test_the_interval_is_wilson_s(client: Client) -> None:
    """Nine of ten on answers of their own: 59.6 to 98.2 percent (Wilson 1927)."""
    for number in range(1, 11):
        given = DISAGREE if number == 10 else AGREE
        record_feedback(client, answer(client, number), [given])

    (told,) = judge_precision(client, QueryScope())

    assert told.rate.value == pytest.approx(0.9)
    assert told.rate.low == pytest.approx(0.5958, abs=0.02)
    assert told.rate.high == pytest.approx(0.9821, abs=0.01)


def test_precision_is_of_a_time_a_route_and_a_verifier(client: Client) -> None:
    """By the time of the answers."""
    record_feedback(client, answer(client), [AGREE])

    (found,) = judge_precision(client, QueryScope(NOON, NOON + SECOND, route="support"))
    assert (found.judged, found.rate.value) == (1, 1.0)
    for empty in (
        QueryScope(since_ns=NOON + SECOND),
        QueryScope(until_ns=NOON),
        QueryScope(route="pay"),
        QueryScope(service=""),
        QueryScope(verifier="other/1"),
    ):
        assert judge_precision(client, empty) == []


def test_what_cannot_be_an_opinion_is_refused(client: Client) -> None:
    """A label that there is not, and nobody's opinion."""
    one = answer(client)

    with pytest.raises(InputError, match="expected a label of entailed"):
        record_feedback(client, one, [replace(DISAGREE, correct="wrong")])
    with pytest.raises(InputError, match="expected the name of the person"):
        record_feedback(client, one, [replace(AGREE, actor="")])
    assert feedback_on(client, one) == []


def test_the_page_s_queries_say_the_same(client: Client) -> None:
    """docs/operate/feedback.md: what it asks in SQL is what the console shows."""
    page = Path(__file__).parents[4] / "docs/operate/feedback.md"
    shares, confusion = re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL)
    one = answer(client)
    record_feedback(client, one, [AGREE, replace(DISAGREE, actor="bob")])

    (told,) = judge_precision(client, QueryScope())

    assert client.query(shares).result_rows == [
        (VERIFIER, "contradicted", told.judged, told.opinions, told.rate.value)
    ]
    assert client.query(confusion).result_rows == [("contradicted", "entailed", 1)]
