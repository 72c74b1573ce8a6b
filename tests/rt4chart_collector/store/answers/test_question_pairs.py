"""Answers of two versions to one question: which questions are one, which answers, which first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.question_pairs import QuestionPairs, question_pairs
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from tests.rt4chart_collector.comparison.releases import (
    BAD,
    DENIED,
    GOOD,
    HOUR,
    NEW,
    OLD,
    RIGHT,
    WRONG,
    answered,
)
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

SCOPE = QueryScope(NOON - 4 * HOUR, NOON + HOUR, VERIFIER)


def pairs(client: Client, *, limit: int = 20) -> QuestionPairs:
    """The questions of both releases."""
    old, new = (VersionScope(SCOPE, VersionKind.RELEASE, name) for name in (OLD, NEW))
    return question_pairs(client, old, new, measure=Measure.UNFAITHFUL, limit=limit)


def test_a_question_is_the_same_in_other_writing(any_client: Client) -> None:
    """Case, punctuation, white space and the form of a character do not count, words do."""
    insert_verdicts(
        any_client,
        [
            answered(1, OLD, question="How long is the trial?"),
            answered(2, NEW, DENIED, question=" how  LONG is the trial "),
            answered(3, OLD, question="ﬁve users"),
            answered(4, NEW, question="Five users!"),
            answered(5, OLD, question="How long is a trial?"),
            answered(6, OLD, question="???"),
            answered(7, NEW, question="???"),
            answered(8, NEW, question="How long is a trial?", route="sales"),
        ],
    )

    found = pairs(any_client)

    assert (found.questions, found.more_in_a, found.more_in_b) == (2, 0, 1)
    first, second = found.pairs
    assert (first.a.verdict.answer, first.b.verdict.answer) == (RIGHT, WRONG)
    assert [claim.text for claim in first.b.failed] == [WRONG]
    assert first.a.failed == ()
    assert second.b.verdict.question == "Five users!"


def test_the_newest_answer_of_each_version_counts(any_client: Client) -> None:
    """Whatever was answered before; the claims are those of the shown verdict."""
    asked = "How long?"
    insert_verdicts(
        any_client,
        [
            answered(1, OLD, DENIED, question=asked, start_ns=NOON - 2 * HOUR),
            answered(2, OLD, question=asked, start_ns=NOON - HOUR),
            answered(3, NEW, question=asked),
        ],
    )
    again = answered(3, NEW, DENIED, question=asked)
    insert_verdicts(any_client, [replace(again, decided_ns=again.decided_ns + HOUR)])

    (pair,) = pairs(any_client).pairs

    assert (pair.a.verdict.trace_id, pair.b.verdict.trace_id) == (f"{2:032x}", f"{3:032x}")
    assert len(pair.b.failed) == 1


def test_questions_that_became_worse_come_first(any_client: Client) -> None:
    """Then those that became better, then those that failed in both, then the others."""
    order = [("worse", False, True), ("better", True, False), ("both", True, True)]
    insert_verdicts(
        any_client,
        [
            answered(10 * at + side, release, BAD if is_bad else GOOD, question=name)
            for at, (name, *bad) in enumerate([("fine", False, False), *reversed(order)], 1)
            for side, (release, is_bad) in enumerate(zip((OLD, NEW), bad, strict=True))
        ],
    )

    found = pairs(any_client, limit=3)

    assert [pair.a.verdict.question for pair in found.pairs] == ["worse", "better", "both"]
    assert (found.questions, found.more_in_a, found.more_in_b) == (4, 1, 1)
    assert pairs(any_client, limit=0).pairs == ()


def test_of_an_answer_with_thousands_of_failed_claims_the_first_are_read(client: Client) -> None:
    """A page that shows some answers reads no more of one of them."""
    long = replace(
        verdict(2, [BAD] * 500, start_ns=NOON),
        candidate=answered(2, NEW, question="How long?").candidate,
    )
    insert_verdicts(client, [answered(1, OLD, question="How long?"), long])

    (pair,) = pairs(client).pairs

    assert [claim.index for claim in pair.b.failed] == list(range(200))


def by_hand(
    verdicts: Sequence[Verdict], most: int
) -> tuple[list[tuple[str, str]], tuple[int, int, int]]:
    """The pairs of traces in their order, and the numbers, found one answer after the other."""

    def newest(release: str) -> dict[tuple[str, str], Verdict]:
        of = [one for one in verdicts if one.candidate.release == release]
        of.sort(key=lambda one: (-one.candidate.start_ns, one.candidate.trace_id))
        found: dict[tuple[str, str], Verdict] = {}
        for one in of[:most]:
            asked = one.candidate.exchange.question.lower().strip("?")
            found.setdefault((one.candidate.route, asked), one)
        return found

    def failed(one: Verdict) -> int:
        return len(one.report.unfaithful) if one.report else 0

    old, new = newest(OLD), newest(NEW)
    both = [(old[key], new[key]) for key in old if key in new]
    both.sort(
        key=lambda pair: (
            0
            if failed(pair[1]) > failed(pair[0])
            else 1
            if failed(pair[1]) < failed(pair[0])
            else 2
            if failed(pair[1])
            else 3,
            -abs(failed(pair[1]) - failed(pair[0])),
            -pair[1].candidate.start_ns,
            pair[1].candidate.trace_id,
        )
    )
    numbers = (
        len(both),
        sum(failed(one) > failed(other) for one, other in both),
        sum(failed(one) < failed(other) for one, other in both),
    )
    return [(one.candidate.trace_id, other.candidate.trace_id) for one, other in both], numbers


@pytest.mark.parametrize("has_ended", [False, True])
@pytest.mark.parametrize("most", [4, 15, 1000])
def test_the_last_answers_are_searched_however_old_they_are(
    client: Client, most: int, has_ended: bool
) -> None:
    """The same pairs as by hand, also where the sums count answers that are there no more."""
    day = SCOPE.of_time(NOON - 24 * HOUR, SCOPE.until_ns)
    chance = random.Random(7)  # noqa: S311 - any numbers do
    verdicts = [
        answered(
            number,
            (OLD, NEW)[number > 30] if has_ended else chance.choice([OLD, NEW]),
            chance.choice([GOOD, BAD, DENIED]),
            question=chance.choice(["Why?", "why", "How?", "When?", "WHO", "Where?"]),
            route=chance.choice(["support", "sales"]),
            start_ns=NOON
            - chance.randrange(3 * HOUR // SECOND) * SECOND
            - 20 * HOUR * (has_ended and number <= 30),
        )
        for number in range(1, 61)
    ]
    insert_verdicts(client, verdicts)

    for kept in (verdicts, [one for one in verdicts if one.candidate.route == "sales"]):
        old, new = (VersionScope(day, VersionKind.RELEASE, name) for name in (OLD, NEW))
        found = question_pairs(client, old, new, measure=Measure.UNFAITHFUL, limit=8, most=most)
        expected, numbers = by_hand(kept, most)

        shown = [(one.a.verdict.trace_id, one.b.verdict.trace_id) for one in found.pairs]
        assert shown == expected[:8]
        assert (found.questions, found.more_in_a, found.more_in_b) == numbers
        # The sums stay as they were.
        client.command("DELETE FROM rt4chart_verifications WHERE Route = 'support'")
