"""Questions of faulty answers since a time, and which of them were asked before it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.verdict import Stage, StagedPassage, Verdict
from otel_rt4chart.verify.core.model import Label, Passage
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.asked_again import (
    MAX_QUESTIONS,
    AskedQuestions,
    asked_questions,
)
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.comparison.releases import DENIED, GOOD, HOUR, answered
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER

MINUTE = 60 * SECOND
SCOPE = QueryScope(NOON - 48 * HOUR, NOON + 6 * HOUR, VERIFIER, "shop", "support")


def asked(client: Client, most: int = 20_000) -> AskedQuestions:
    """What is found on both sides of noon."""
    return asked_questions(client, SCOPE, at_ns=NOON, measure=Measure.UNFAITHFUL, most=most)


def some_answers(seed: int, number: int) -> list[Verdict]:
    """Answers to a few questions within hours of noon, some of them faulty."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    return [
        answered(
            at + 1,
            "1",
            chance.choice([GOOD, GOOD, DENIED, Label.UNDECIDED]),
            question=f"Question {chance.randrange(number // 3)}?",
            start_ns=NOON + chance.randrange(-600, 300) * MINUTE,
        )
        for at in range(number)
    ]


def newest(answers: Sequence[Verdict], most: int, *, is_since: bool) -> dict[str, list[Verdict]]:
    """The newest answers of a side that have a decided claim, by question."""
    decided = [
        one
        for one in answers
        if (one.candidate.start_ns >= NOON) == is_since and label_of(one) is not Label.UNDECIDED
    ]
    decided.sort(key=lambda one: (-one.candidate.start_ns, one.candidate.trace_id))
    found = defaultdict(list)
    for one in decided[:most]:
        found[one.candidate.exchange.question].append(one)
    return found


def label_of(one: Verdict) -> Label:
    """The label of the answer's only claim."""
    assert one.report is not None
    return one.report.claims[0].label


def faulty(answers: Sequence[Verdict]) -> int:
    """How many answers are faulty."""
    return sum(label_of(one) is DENIED for one in answers)


@pytest.mark.parametrize(("seed", "most"), [(1, 20_000), (2, 20_000), (3, 50), (4, 20)])
def test_questions_are_those_of_the_newest_answers(
    any_client: Client, seed: int, most: int
) -> None:
    """Counted on both sides as a plain loop over all answers counts them."""
    answers = some_answers(seed, 240)
    insert_verdicts(any_client, answers)
    since, before = (newest(answers, most, is_since=one) for one in (True, False))
    failed = {name: ones for name, ones in since.items() if faulty(ones)}

    found = asked(any_client, most)

    assert found.questions == len(failed)
    assert found.asked_before == len(failed.keys() & before.keys())
    assert found.is_cut_since == (sum(map(len, since.values())) == most)
    assert found.is_cut_before == (sum(map(len, before.values())) == most)
    counted = {one.words: (one.since.answers, one.since.faulty) for one in found.faulty}
    assert counted == {name: (len(ones), faulty(ones)) for name, ones in failed.items()}
    counted = {one.words: (one.before.answers, one.before.faulty) for one in found.known}
    assert counted == {name: (len(ones), faulty(ones)) for name, ones in before.items()}
    for one in found.faulty:
        worst = [each for each in since[one.words] if label_of(each) is DENIED]
        assert one.since.trace_id == worst[0].candidate.trace_id
    for one in found.known:
        ones = sorted(before[one.words], key=lambda each: label_of(each) is DENIED)
        assert one.before.trace_id == ones[0].candidate.trace_id


def test_the_worst_questions_come_first(any_client: Client) -> None:
    """Those with a faultless answer before, then those with any; of equals the most faulty."""
    later, earlier = NOON + HOUR, NOON - HOUR
    insert_verdicts(
        any_client,
        [
            *(answered(at, "1", DENIED, question="New?", start_ns=later) for at in (1, 2, 3)),
            answered(4, "1", DENIED, question="Never right?", start_ns=later),
            answered(5, "1", DENIED, question="Never right?", start_ns=earlier),
            answered(6, "1", DENIED, question="Once wrong?", start_ns=later),
            answered(7, "1", question="Once wrong?", start_ns=earlier),
            *(answered(at, "1", DENIED, question="Twice wrong?", start_ns=later) for at in (8, 9)),
            answered(10, "1", question="Twice wrong?", start_ns=earlier),
            answered(11, "1", question="Only before?", start_ns=earlier),
            answered(12, "1", question="Right?", start_ns=later),
        ],
    )

    found = asked(any_client)

    names = [one.words for one in found.faulty]
    assert names == ["Twice wrong?", "Once wrong?", "Never right?", "New?"]
    assert {one.words for one in found.known} == {
        *("Twice wrong?", "Once wrong?", "Never right?", "Only before?")
    }
    assert (found.questions, found.asked_before) == (4, 3)
    assert not found.is_cut_known


def test_of_many_questions_from_before_those_asked_last_are_known(any_client: Client) -> None:
    """And it is told that there were more."""
    insert_verdicts(
        any_client,
        [
            *(
                answered(at, "1", question=f"Question {at}?", start_ns=NOON - at * SECOND)
                for at in range(1, MAX_QUESTIONS + 11)
            ),
            answered(9_000, "1", DENIED, question="New?"),
        ],
    )

    found = asked(any_client)

    assert found.is_cut_known
    assert not found.is_cut_before
    assert {one.words for one in found.known} == {
        f"Question {at}?" for at in range(1, MAX_QUESTIONS + 1)
    }


def test_passages_are_of_the_faulty_answer_and_of_any_before(any_client: Client) -> None:
    """Those in the context of an answer; a question is told by its words."""
    insert_verdicts(
        any_client,
        [
            given(answered(1, "1", question="HOW long", start_ns=NOON - HOUR), "a"),
            given(answered(2, "1", question="How long?", start_ns=NOON - 2 * HOUR), "b"),
            given(answered(3, "1", question="How long?", start_ns=NOON + HOUR), "c"),
            given(answered(4, "1", DENIED, question="How long?", start_ns=NOON), "d"),
        ],
    )

    (one,) = asked(any_client).faulty

    assert set(one.passages_before) == {"a", "b"}
    assert one.passages_since == ("d",)


def given(one: Verdict, name: str) -> Verdict:
    """The answer with one passage in its context and one that was left out."""
    used = Passage(name, "x")
    staged = (
        StagedPassage(used, (Stage.RETRIEVED, Stage.PROMPT)),
        StagedPassage(Passage("left out", "x"), (Stage.RETRIEVED,)),
    )
    exchange = replace(one.candidate.exchange, passages=(used,))
    return replace(one, candidate=replace(one.candidate, exchange=exchange, staged=staged))


def test_fewer_answers_than_the_sums_say_are_all_searched(any_client: Client) -> None:
    """An answer without a question is in the sums, and is none of those that are searched."""
    insert_verdicts(
        any_client,
        [
            *(answered(at, "1", question="???", start_ns=NOON - HOUR) for at in range(1, 20)),
            *(answered(at, "1", question="???", start_ns=NOON + HOUR) for at in range(20, 40)),
            answered(50, "1", question="How long?", start_ns=NOON - 40 * HOUR),
            answered(51, "1", DENIED, question="How long?", start_ns=NOON),
        ],
    )

    found = asked(any_client, most=5)

    assert (found.questions, found.asked_before) == (1, 1)
    assert (found.is_cut_since, found.is_cut_before) == (False, False)


def test_without_faulty_answers_it_is_known_whether_all_were_searched(any_client: Client) -> None:
    """Nothing is listed then."""
    insert_verdicts(any_client, [one for one in some_answers(5, 60) if label_of(one) is GOOD])

    whole, few = asked(any_client), asked(any_client, most=3)

    assert (whole.questions, whole.faulty, whole.is_cut_since) == (0, (), False)
    assert (few.questions, few.faulty, few.is_cut_since) == (0, (), True)
    assert (
        asked_questions(
            any_client, replace(SCOPE, route="none"), at_ns=NOON, measure=Measure.EITHER
        )
        == AskedQuestions()
    )
