"""Rates by a dimension and over time: the same as from the verdicts, and never without n."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import CheckPlan, ClaimStatus, Label
from otel_rt4chart.verify.core.rates import Measure, Rate, claim_rate
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import TABLES, sums_of
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.claim_rates import (
    DIMENSIONS,
    RateSlice,
    rates_by,
    rates_over_time,
    route_sums,
)
from rt4chart_collector.store.rates.ticks import Bin, route_ticks
from rt4chart_collector.store.rates.traffic import Coverage, coverage, coverage_of
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

HOUR = 3600 * SECOND
START = NOON - NOON % HOUR
GOOD, BAD, DENIED, OPEN = Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED, Label.UNDECIDED
NONE = Rate(None, None, None)


def of(one: Verdict, **facts: str) -> Verdict:
    """The verdict with other facts of its answer."""
    return replace(one, candidate=replace(one.candidate, **facts))  # type: ignore[arg-type]


def by(
    client: Client, dimension: str, service: str | None = None, route: str | None = None
) -> list[RateSlice]:
    """The slices of a day."""
    return rates_by(
        client, dimension, QueryScope(START, START + 24 * HOUR, VERIFIER, service, route)
    )


def test_a_slice_counts_each_label_apart(any_client: Client) -> None:
    """Claims and answers, those not verified beside them, and the shares by weight."""
    insert_verdicts(
        any_client,
        [
            verdict(1, [GOOD, GOOD, DENIED, OPEN], sample_rate=1.0),
            verdict(2, [GOOD, BAD], sample_rate=0.5),
            verdict(3, [OPEN], sample_rate=0.5),
            verdict(4, decision=Decision.NOT_SAMPLED),
        ],
    )

    (found,) = by(any_client, "route")

    assert (found.service, found.route, found.key) == ("shop", "support", "support")
    assert (found.answers, found.unverified, found.claims) == (3, 1, 5)
    assert (found.entailed, found.contradicted, found.baseless, found.undecided) == (3, 1, 1, 2)
    assert (found.unfaithful_answers, found.answer_sums.answers) == (2, 2)
    assert found.rate == claim_rate(found.sums)
    assert found.rate.value == pytest.approx(3 / 7)
    assert found.contradicted_rate.value == pytest.approx(1 / 7)
    assert found.baseless_rate.value == pytest.approx(2 / 7)
    assert found.undecided_rate.value == pytest.approx(3 / 10)
    assert found.answer_rate.value == 1.0


@pytest.mark.parametrize("dimension", DIMENSIONS[1:])
def test_every_value_of_a_dimension_is_a_slice(any_client: Client, dimension: str) -> None:
    """Over all that is asked for; answers without the value are one too."""
    insert_verdicts(
        any_client,
        [
            of(verdict(1, [GOOD]), **{dimension: "a"}),
            of(verdict(2, [BAD]), **{dimension: "a"}),
            of(verdict(3, [BAD], route="pay"), **{dimension: "b"}),
            of(verdict(4, [GOOD]), **{dimension: ""}),
        ],
    )

    found = by(any_client, dimension)

    assert [(one.key, one.service, one.route, one.answers, one.rate.value) for one in found] == [
        ("", "", "", 1, 0.0),
        ("a", "", "", 2, 0.5),
        ("b", "", "", 1, 1.0),
    ]
    assert [
        (one.key, one.service, one.route) for one in by(any_client, dimension, "shop", "pay")
    ] == [("b", "shop", "pay")]
    assert by(any_client, dimension, "other") == []


def test_another_dimension_is_refused(client: Client) -> None:
    """The names that there are are told."""
    with pytest.raises(InputError, match=r"expected a dimension of route, model, .*got 'Model'"):
        by(client, "Model")


def test_points_are_steps_of_time(any_client: Client) -> None:
    """By time; what lies outside is left out, and so is a step without an answer."""
    insert_verdicts(
        any_client,
        [
            verdict(1, [GOOD], start_ns=START - SECOND),
            verdict(2, [BAD], start_ns=START + 301 * SECOND),
            verdict(3, [GOOD], start_ns=START + HOUR - 2 * SECOND),
            verdict(4, [GOOD], start_ns=START + 2 * HOUR),
            verdict(5, [GOOD], start_ns=START + 3 * HOUR, route="pay"),
        ],
    )

    def points(step_s: int, route: str | None = "support") -> list[tuple[int, int, float | None]]:
        scope = QueryScope(START, START + 4 * HOUR, VERIFIER, "shop", route)
        found = rates_over_time(any_client, scope, step_s=step_s)
        return [(p.start_ns - START, p.slice.answers, p.slice.rate.value) for p in found]

    assert points(3600) == [(0, 2, 0.5), (2 * HOUR, 1, 0.0)]
    assert points(300) == [
        (300 * SECOND, 1, 1.0),
        (3300 * SECOND, 1, 0.0),
        (2 * HOUR, 1, 0.0),
    ]
    assert len(points(3600, route=None)) == 3
    assert points(3600, route="") == []
    for step in (0, 60, 450):
        with pytest.raises(InputError, match=f"a multiple of 300; got {step}"):
            points(step)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    writes=st.lists(
        st.tuples(
            st.integers(1, 5),
            st.lists(st.sampled_from([GOOD, BAD, DENIED, OPEN]), max_size=5),
            st.sampled_from([1.0, 0.3, 0.1]),
            st.sampled_from([Decision.VERIFIED, Decision.VERIFIED, Decision.ERROR]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_slices_say_what_the_verdicts_in_force_say(
    client: Client, writes: list[tuple[int, list[Label], float, Decision]]
) -> None:
    """Whatever was judged again: the counts, and the sums to the last digits."""
    client.command("TRUNCATE TABLE rt4chart_verifications")
    for table in TABLES.values():
        client.command(f"TRUNCATE TABLE {table}")
    for step, (number, labels, rate, decision) in enumerate(writes):
        one = verdict(number, labels, sample_rate=rate, decision=decision, decided_ns=NOON + step)
        insert_verdicts(client, [one])

    (exact,) = route_sums(client)
    (found,) = by(client, "route")

    assert (found.answers, found.unverified) == (exact.answers, exact.unverified)
    assert (found.entailed, found.contradicted, found.baseless, found.undecided) == (
        exact.entailed,
        exact.contradicted,
        exact.baseless,
        exact.undecided,
    )
    assert astuple(found.sums) == pytest.approx(astuple(exact.sums))
    if not found.claims:
        assert (found.rate, found.contradicted_rate, found.answer_rate) == (NONE, NONE, NONE)


def test_a_route_s_rates_are_read_by_the_key_of_the_sums(client: Client) -> None:
    """By service, route, verifier and time, in each grain: no verdicts and no other routes."""
    insert_verdicts(client, [verdict(1), verdict(2, route="pay")])
    scope = QueryScope(0, 2**62, VERIFIER, "shop", "pay")
    explained = f"EXPLAIN indexes = 1 SELECT sum(WM) FROM {sums_of(client, scope, ['WM'])}"  # noqa: S608

    plan = "\n".join(line for (line,) in client.query(explained, scope.parameters).result_rows)

    keys = [line for line in plan.split("Indexes:")[1:] if "PrimaryKey" in line]
    assert len(keys) >= 1
    for key in keys:
        for part in ("Route in ['pay', 'pay']", "ServiceName in ['shop', 'shop']", "Tick in"):
            assert part in key
    assert "FINAL" not in plan


def test_an_empty_name_is_a_name(any_client: Client) -> None:
    """The route without one is asked for alone, and is among all of them."""
    insert_verdicts(any_client, [verdict(1, [GOOD]), verdict(2, [BAD], route="")])

    (nameless,) = by(any_client, "model", "shop", "")
    covered = coverage(any_client, QueryScope(START, START + HOUR, VERIFIER, "shop", ""))

    assert (nameless.answers, nameless.rate.value) == (1, 1.0)
    assert list(covered) == [("shop", "")]
    assert by(any_client, "model", "") == []
    assert [one.route for one in by(any_client, "route")] == ["", "support"]


def test_coverage_tells_what_became_of_every_answer(any_client: Client) -> None:
    """By decision, most first, and which claims the judge could not decide."""
    decisions = [Decision.NOT_SAMPLED] * 3 + [Decision.NO_CONTEXT, Decision.ERROR]
    insert_verdicts(
        any_client,
        [
            verdict(1, [GOOD, OPEN]),
            verdict(2, [BAD, GOOD]),
            *(verdict(n, decision=one) for n, one in enumerate(decisions, 3)),
            verdict(20, [], route="pay"),
        ],
    )

    found = coverage(any_client, QueryScope(START, START + HOUR, VERIFIER))

    support = found["shop", "support"]
    assert support == Coverage(
        {"not_sampled": 3, "verified": 2, "error": 1, "no_context": 1}, claims=3, undecided=1
    )
    assert (support.answers, support.verified, support.verified_share) == (7, 2, 2 / 7)
    assert (support.sampled_out, support.unreadable, support.failed) == (3, 1, 1)
    assert support.undecided_share == 0.25
    assert found["shop", "pay"] == Coverage({"verified": 1}, claims=0, undecided=0)
    assert found["shop", "pay"].undecided_share is None
    # The slices of routes say the same without another statement.
    assert {(one.service, one.route): coverage_of(one) for one in by(any_client, "route")} == found
    assert [list(one.decisions) for one in map(coverage_of, by(any_client, "route"))] == [
        ["verified"],
        ["not_sampled", "verified", "error", "no_context"],
    ]
    assert Coverage({}, 0, 0).verified_share is None
    pay = QueryScope(START, START + HOUR, VERIFIER, "shop", "pay")
    assert list(coverage(any_client, pay)) == [("shop", "pay")]
    assert coverage(any_client, QueryScope(verifier="nobody")) == {}


def test_every_decision_is_of_one_kind() -> None:
    """Verified, sampled out, unreadable or failed."""
    each = [Coverage({one: 1}, 0, 0) for one in Decision]

    assert [c.verified + c.sampled_out + c.unreadable + c.failed for c in each] == [1] * len(each)


def with_status(one: Verdict, status: ClaimStatus, plan: CheckPlan, rate: float) -> Verdict:
    """The verdict whose first claim has this status, found by a check of that rate."""
    assert one.report is not None
    first, *others = (replace(claim, status=ClaimStatus.SUPPORTED) for claim in one.report.claims)
    claims = (replace(first, status=status, check_rate=rate), *others)
    return replace(one, report=replace(one.report, claims=claims, plan=plan))


def test_each_measure_has_its_own_claims_and_its_own_answers(any_client: Client) -> None:
    """A claim found by a check that ran on a fifth of the answers counts five times."""
    sampled = CheckPlan(cherry_picking=0.2)
    picked, dropped = ClaimStatus.CHERRY_PICKED, ClaimStatus.QUALIFIER_DROPPED
    insert_verdicts(
        any_client,
        [
            with_status(verdict(1, [GOOD] * 4, sample_rate=1.0), picked, sampled, 0.2),
            with_status(verdict(2, [GOOD] * 4, sample_rate=0.5), dropped, CheckPlan(), 1.0),
            with_status(
                verdict(3, [GOOD] * 3 + [BAD], sample_rate=1.0),
                ClaimStatus.SUPPORTED,
                CheckPlan(cherry_picking=0.0, is_complete=False),
                1.0,
            ),
        ],
    )

    (found,) = by(any_client, "route")

    claims = 4 + 2 * 4 + 4
    assert [found.rate_of(measure).value for measure in Measure] == [
        pytest.approx(part / claims) for part in (1, 5 + 2, 5 + 2 + 1)
    ]
    assert found.misleading == 2
    assert found.statuses == {
        "supported": 3 + 2 * 3 + 4,
        "cherry_picked": 5,
        "qualifier_dropped": 2,
    }
    (sums,) = route_sums(any_client)
    assert sums.misleading_sums == found.misleading_sums
    listed = any_client.query(
        "SELECT Measure, sum(WX) / sum(WM), sum(Counted) FROM rt4chart_rates_by_measure"
        " GROUP BY Measure ORDER BY Measure DESC"
    )
    assert listed.result_rows == [
        (str(measure), pytest.approx(part / claims), counted)
        for measure, part, counted in zip(Measure, (1, 7, 8), (1, 2, 3), strict=True)
    ]
    scope = QueryScope(START, START + HOUR, VERIFIER)
    apart = [ticks for one in Measure for ticks in route_ticks(any_client, scope, one)]
    together = route_ticks(any_client, scope, *Measure)
    assert {ticks.measure: ticks for ticks in together} == {ticks.measure: ticks for ticks in apart}
    (misleading,) = [ticks for ticks in together if ticks.measure is Measure.MISLEADING]
    assert [bin_ for tick in misleading.ticks for bin_ in tick.bins] == [
        Bin(4, 1, 1, 0.5, "how many"),
        Bin(4, 1, 1, 1.0, "how many"),
    ]


def test_an_answer_that_was_not_checked_is_not_called_free_of_misleading_claims(
    any_client: Client,
) -> None:
    """It counts for the unfaithful claims only."""
    insert_verdicts(any_client, [verdict(1, [BAD, GOOD])])
    any_client.command(
        "INSERT INTO rt4chart_verifications (ServiceName, Route, VerifierId, TraceId, Timestamp,"
        " Decision, Label, SampleRate, EntailedCount, Version) SELECT ServiceName, Route,"
        " VerifierId, 'old', Timestamp, Decision, 'entailed', 0.5, 6, 1"
        " FROM rt4chart_verifications"
    )

    (found,) = by(any_client, "route")

    assert [found.sums_of(measure).claims for measure in Measure] == [8, 2, 2]
