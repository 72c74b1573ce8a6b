from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.rates import wilson
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.criterion_rates import criteria_rates
from tests.rt4chart_collector.records import NOON, SECOND, verdict

PASS, FAIL = CriterionOutcome.PASS, CriterionOutcome.FAIL
ALL = QueryScope()


def judged(
    number: int,
    outcome: CriterionOutcome,
    *,
    name: str = "cites",
    version: str = "v1",
    rate: float = 1.0,
    sample_rate: float = 1.0,
    route: str = "support",
) -> Verdict:
    """A verified answer with one criterion's verdict."""
    one = CriterionVerdict(name, version, "must_cite", outcome, rate=rate)
    return replace(verdict(number, route=route, sample_rate=sample_rate), criteria=(one,))


def test_a_share_is_of_the_decided_answers_with_its_interval(client: Client) -> None:
    """What does not apply, or is not known, is counted apart."""
    outcomes = [PASS] * 6 + [FAIL] * 2 + [CriterionOutcome.NOT_APPLICABLE] * 3
    outcomes.append(CriterionOutcome.UNDECIDED)
    insert_verdicts(client, [judged(n, one) for n, one in enumerate(outcomes)])

    ((found,),) = criteria_rates(client, ALL).by_route.values()

    counts = (found.of.decided, found.of.failed, found.of.not_applicable, found.of.undecided)
    assert counts == (8, 2, 3, 1)
    assert found.rate.value == pytest.approx(0.25)
    # n - 1 answers: the variance is estimated from them.
    assert (found.rate.low, found.rate.high) == pytest.approx(wilson(0.25, 7))


def test_answers_are_weighted_by_both_rates(client: Client) -> None:
    """An answer that was drawn with 0.5 and then with 0.2 stands for ten."""
    insert_verdicts(
        client, [judged(1, FAIL), *(judged(n, PASS, sample_rate=0.5, rate=0.2) for n in (2, 3))]
    )

    (found,) = criteria_rates(client, ALL).together

    assert found.rate.value == pytest.approx(1 / 21)
    assert found.rate.size == pytest.approx(21**2 / 201)


def test_no_decision_is_no_rate(client: Client) -> None:
    """Rather than zero."""
    insert_verdicts(client, [judged(1, CriterionOutcome.UNDECIDED)])

    (found,) = criteria_rates(client, ALL).together

    assert (found.rate.value, found.rate.low, found.rate.high) == (None, None, None)


def test_a_changed_criterion_begins_anew(client: Client) -> None:
    """The shares of two definitions are not mixed, and it is said how many are left out."""
    insert_verdicts(client, [judged(1, FAIL), judged(2, FAIL), judged(3, PASS, version="v2")])

    (found,) = criteria_rates(client, ALL).together

    assert (found.of.version, found.of.decided, found.rate.value, found.earlier) == ("v2", 1, 0, 2)


def test_an_answer_counts_once_however_often_it_is_saved(client: Client) -> None:
    """A repeated save, a later verdict and one of another verifier replace its verdict."""
    first = judged(1, FAIL)
    insert_verdicts(client, [first])
    insert_verdicts(client, [first])
    insert_verdicts(client, [replace(judged(1, PASS), decided_ns=NOON + 20 * SECOND)])
    insert_verdicts(
        client, [replace(judged(1, PASS), decided_ns=NOON + 30 * SECOND, verifier="other/1")]
    )

    (found,) = criteria_rates(client, ALL).together

    assert (found.of.decided, found.of.failed) == (1, 0)


def test_routes_and_times_are_apart(client: Client) -> None:
    """A scope of a route or a time reads no other."""
    insert_verdicts(
        client, [judged(1, FAIL), judged(2, PASS, route="pay"), judged(3, PASS, name="short")]
    )

    by_route = criteria_rates(client, ALL).by_route

    names = {route: [one.of.name for one in found] for (_, route), found in by_route.items()}
    assert names == {"support": ["cites", "short"], "pay": ["cites"]}
    assert criteria_rates(client, ALL.of_route("shop", "pay")).together[0].of.failed == 0
    assert criteria_rates(client, ALL.of_time(0, NOON)).together == []


def test_all_routes_together_have_one_version(client: Client) -> None:
    """The newest of any route; routes that still have another one are left out."""
    insert_verdicts(
        client, [judged(1, FAIL), judged(2, PASS, route="pay", version="v2"), judged(3, FAIL)]
    )

    found = criteria_rates(client, ALL)

    (together,) = found.together
    assert (together.of.version, together.of.decided, together.earlier) == ("v1", 2, 1)
    assert found.by_route["shop", "pay"][0].of.version == "v2"
