"""Which routes fell silent, and which are the busiest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import MAX_ROUTES, QueryScope
from rt4chart_collector.store.rates.claim_rates import rates_by
from rt4chart_collector.store.rates.traffic import (
    SilentRoute,
    busiest_routes,
    coverage,
    decision_counts,
    routes_by_claims,
    silent_routes,
)
from rt4chart_collector.store.rates.trends import route_trends
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

HOUR = 3600 * SECOND
DAY = 24 * HOUR
NOW = NOON // HOUR * HOUR
_numbers = count(1)


def write(
    client: Client, answers: int, at_ns: int, *, route: str = "support", by: Sequence[str] = ()
) -> None:
    """So many answers at that time, each judged by each of these."""
    made = [
        verdict(number, route=route, start_ns=at_ns, decided_ns=at_ns)
        for number in islice(_numbers, answers)
    ]
    for name in by or (VERIFIER,):
        insert_verdicts(client, [replace(one, verifier=name) for one in made])


def test_a_route_that_had_answers_a_week_ago_is_silent(any_client: Client) -> None:
    """Where one has answers still, it is said that there are some."""
    write(any_client, 20, NOW - 7 * DAY - HOUR // 2)
    write(any_client, 20, NOW - 7 * DAY - HOUR // 2, route="other")
    write(any_client, 1, NOW - HOUR // 2, route="other")

    found, is_any = silent_routes(any_client, now_ns=NOW, min_answers=20)

    assert found == [SilentRoute("shop", "support", 20, 0)]
    assert is_any


def test_an_answer_dated_in_the_future_is_none_of_the_last_hour(client: Client) -> None:
    """One clock that is wrong mutes nothing; some minutes ahead are borne."""
    write(client, 20, NOW - 7 * DAY - HOUR // 2)
    write(client, 1, NOW + 200 * DAY)

    found, is_any = silent_routes(client, now_ns=NOW, min_answers=20)
    assert [(one.expected, one.last_ns) for one in found] == [(20, 0)]
    assert not is_any

    write(client, 1, NOW + HOUR // 2, route="support")
    assert silent_routes(client, now_ns=NOW, min_answers=20) == ([], True)


def test_an_answer_that_two_judged_is_one_answer(client: Client) -> None:
    """The least number is of answers, not of verdicts; who judged them may have changed since."""
    write(client, 12, NOW - 7 * DAY - HOUR // 2, by=("a/judge", "b/judge"))
    write(client, 12, NOW - 14 * DAY - HOUR // 2, by=("c/judge",))

    assert silent_routes(client, now_ns=NOW, min_answers=20) == ([], False)
    found, _ = silent_routes(client, now_ns=NOW, min_answers=12)
    assert [one.expected for one in found] == [12]


def test_the_busiest_are_those_of_the_time_up_to_now(client: Client) -> None:
    """By decided claims; what is dated in the future makes no route busy."""
    write(client, 2, NOW - HOUR)
    write(client, 3, NOW - HOUR, route="other")
    insert_verdicts(
        client,
        [verdict(next(_numbers), [Label.ENTAILED] * 40, route="ahead", start_ns=NOW + 9 * DAY)],
    )

    found = busiest_routes(client, since_ns=NOW - DAY, now_ns=NOW, verifier=VERIFIER, limit=5)

    assert found == ([("shop", "other"), ("shop", "support")], 2)
    few = busiest_routes(client, since_ns=NOW - DAY, now_ns=NOW, verifier=VERIFIER, limit=1)
    assert few == ([("shop", "other")], 2)


def test_known_routes_are_those_of_the_week_by_claims(any_client: Client) -> None:
    """Whoever judged them, and also those of which no answer was sampled."""
    write(any_client, 2, NOW - 6 * DAY, by=("a/judge",))
    write(any_client, 3, NOW - HOUR, route="other", by=("b/judge",))
    write(any_client, 9, NOW - 9 * DAY, route="past")
    left_out = verdict(next(_numbers), [], route="unsampled", start_ns=NOW - HOUR)
    insert_verdicts(any_client, [replace(left_out, decision=Decision.NOT_SAMPLED)])

    found = routes_by_claims(any_client, now_ns=NOW, limit=9)

    assert found == [("shop", "other"), ("shop", "support"), ("shop", "unsampled")]
    assert routes_by_claims(any_client, now_ns=NOW, limit=1) == [("shop", "other")]


def test_a_flood_of_names_leaves_the_routes_with_the_most_claims(client: Client) -> None:
    """What reads rates by route is bounded; the counts of all answers are whole."""
    flood = [verdict(next(_numbers), route=f"{n:06}", start_ns=NOON) for n in range(MAX_ROUTES)]
    known = [
        verdict(next(_numbers), [label] * 9, route=f"z-{label}", start_ns=NOON)
        for label in (Label.ENTAILED, Label.UNDECIDED)
    ]
    insert_verdicts(client, [*flood, *known])
    scope = QueryScope(NOON - HOUR, NOON + HOUR, VERIFIER)

    by_rate = {(one.service, one.route) for one in rates_by(client, "route", scope)}

    assert len(by_rate) == MAX_ROUTES
    assert {("shop", "z-entailed"), ("shop", "z-undecided")} <= by_rate
    assert by_rate == coverage(client, scope).keys() == route_trends(client, scope, steps=4).keys()
    assert decision_counts(client, scope) == {"verified": MAX_ROUTES + 2}
