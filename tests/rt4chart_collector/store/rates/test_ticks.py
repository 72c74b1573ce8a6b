"""Ticks: what is kept of five minutes tells the rates exactly."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import AnswerSums
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.claim_rates import route_sums
from rt4chart_collector.store.rates.ticks import (
    TICK_NS,
    Bin,
    RouteTicks,
    Tick,
    answer_sums,
    route_ticks,
)
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

START = NOON - NOON % TICK_NS
DAY = 24 * 3600 * SECOND
GOOD, BAD, DENIED, OPEN = Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED, Label.UNDECIDED
ANSWERS = st.lists(
    st.tuples(st.sampled_from([1.0, 0.5, 0.1, 0.037, 0.0]), st.integers(0, 9)).flatmap(
        lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), st.integers(0, pair[1]))
    ),
    max_size=40,
)


def of(one: Verdict, **changes: str) -> Verdict:
    """The verdict with other facts of its answer."""
    return replace(one, candidate=replace(one.candidate, **changes))  # type: ignore[arg-type]


def ticks(client: Client, verifier: str = VERIFIER, **more: str) -> list[RouteTicks]:
    """All ticks of a day."""
    scope = QueryScope(START, START + DAY, verifier, **more)
    return route_ticks(client, scope, releases=["v2"])


@given(ANSWERS)
def test_sums_of_the_histogram_are_those_over_the_answers(
    answers: list[tuple[float, int, int]],
) -> None:
    """However the answers are spread over bins, nothing is lost."""
    bins = [
        Bin(decided, unfaithful, count, rate)
        for (rate, decided, unfaithful), count in Counter(answers).items()
    ]
    weighted = [(1 / rate if rate else 0.0, m, x) for rate, m, x in answers]

    assert astuple(answer_sums(bins)) == pytest.approx(
        (
            len(answers),
            sum(m for _, m, _ in answers),
            sum(w * m for w, m, _ in weighted),
            sum(w * x for w, _, x in weighted),
            sum(w * w * m for w, m, _ in weighted),
            sum(w * w * x * x for w, _, x in weighted),
            sum(w * w * x * m for w, m, x in weighted),
            sum(w * w * m * m for w, m, _ in weighted),
        )
    )


def test_no_answers_have_no_sums() -> None:
    """A rate of them is none rather than zero."""
    assert answer_sums([]) == AnswerSums(0, 0, 0, 0, 0, 0, 0, 0)


VERSION = ("m-1", "7")


def like(decided: int, counted: int, answers: int, rate: float = 0.5) -> Bin:
    """Answers to the question of `verdict`, "How long?"."""
    return Bin(decided, counted, answers, rate, "how many")


def test_answers_to_each_kind_of_question_are_bins_of_their_own(any_client: Client) -> None:
    """Until the verdict is deleted; a verdict that is replaced counts once."""
    asked = replace(
        verdict(2).candidate, exchange=replace(verdict(2).candidate.exchange, question="Why so?")
    )
    other = replace(verdict(2), candidate=asked)
    insert_verdicts(any_client, [verdict(1), other])
    insert_verdicts(any_client, [replace(other, decided_ns=other.decided_ns + 1)])

    (found,) = ticks(any_client)

    assert found.ticks[0].bins == (Bin(2, 1, 1, 0.5, "how many"), Bin(2, 1, 1, 0.5, "why"))


def test_answers_that_look_alike_are_one_bin(any_client: Client) -> None:
    """By model, prompt version, release if asked for, and five minutes; if they were verified."""
    insert_verdicts(
        any_client,
        [
            *(verdict(n) for n in (1, 2)),
            verdict(3, [GOOD, BAD, OPEN], sample_rate=1.0),
            verdict(4, [OPEN]),
            of(verdict(5, [DENIED]), release="v2"),
            of(verdict(9, [DENIED]), release="v3"),
            verdict(6, start_ns=NOON + TICK_NS),
            verdict(7, decision=Decision.NOT_SAMPLED),
            verdict(8, route="pay"),
            replace(verdict(1), verifier="other/1"),
        ],
    )

    pay, support = ticks(any_client)

    assert (pay.service, pay.route, len(pay.ticks)) == ("shop", "pay", 1)
    assert support == RouteTicks(
        "shop",
        "support",
        VERIFIER,
        (
            Tick(
                *(START, *VERSION, ""),
                (like(0, 0, 1), like(1, 1, 1), like(2, 1, 1, 1.0), like(2, 1, 2)),
            ),
            Tick(START, *VERSION, "v2", (like(1, 1, 1),)),
            Tick(START + TICK_NS, *VERSION, "", (like(2, 1, 1),)),
        ),
    )
    assert ticks(any_client, service="shop", route="pay") == [pay]
    assert ticks(any_client, service="other") == []
    assert ticks(any_client, route="") == []
    assert ticks(any_client, "nobody/1") == []


def test_ticks_of_other_times_are_left_out(any_client: Client) -> None:
    """A tick belongs to the time in which it starts."""
    insert_verdicts(any_client, [verdict(1), verdict(2, start_ns=NOON + TICK_NS)])

    (found,) = route_ticks(any_client, QueryScope(START + 1, START + TICK_NS + 1, VERIFIER))

    assert [tick.start_ns for tick in found.ticks] == [START + TICK_NS]


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    writes=st.lists(
        st.tuples(
            st.integers(1, 4),
            st.lists(st.sampled_from([GOOD, BAD, DENIED, OPEN]), max_size=4),
            st.sampled_from([1.0, 0.5, 0.25]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_histogram_tells_the_exact_rates(
    client: Client, writes: list[tuple[int, list[Label], float]]
) -> None:
    """Whatever is judged again and again: the same sums as from the verdicts in force."""
    client.command("TRUNCATE TABLE rt4chart_verifications")
    client.command("TRUNCATE TABLE rt4chart_route_5m")
    for step, (number, labels, rate) in enumerate(writes):
        insert_verdicts(client, [verdict(number, labels, sample_rate=rate, decided_ns=NOON + step)])

    (exact,) = route_sums(client)
    (found,) = ticks(client)

    bins = [one for tick in found.ticks for one in tick.bins]
    assert astuple(answer_sums(bins)) == pytest.approx(astuple(exact.sums))
