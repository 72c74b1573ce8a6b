"""An issue's failures a day, and what they are a share of."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.model import AnswerLabel, Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import DAY_NS
from rt4chart_collector.store.issues.issue_figures import (
    DayWeight,
    DecidedClaims,
    decided_claims,
    decided_claims_by_day,
    failures_by_day,
)
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers, verdict

NOW = NOON + 3600 * SECOND


def test_failures_count_by_day_and_label_at_their_weight(any_client: Client) -> None:
    """One over the sampling rate; what is older than the days does not count."""
    found = [replace(one, time_ns=NOON - at * DAY_NS) for at, one in enumerate(numbers(4))]
    store_issue(any_client, found, sample_rate=0.25)
    store_issue(any_client, added()[:2], number=SECOND_ID)

    days = failures_by_day(any_client, now_ns=NOW, days=3)

    assert sorted(days, key=lambda one: (one.issue, one.age_days)) == [
        DayWeight(FIRST, "contradicted", 0, 4.0, 1),
        DayWeight(FIRST, "contradicted", 1, 4.0, 1),
        DayWeight(FIRST, "contradicted", 2, 4.0, 1),
        DayWeight(SECOND_ID, "baseless", 0, 2.0, 2),
    ]
    assert decided_claims(any_client, now_ns=NOW, days=3) == {
        ("shop", "billing"): DecidedClaims(14.0, 14.0)
    }
    by_day = decided_claims_by_day(any_client, now_ns=NOW, days=3)
    assert by_day == {("shop", "billing"): (6.0, 4.0, 4.0)}


def test_a_time_in_the_future_is_today(client: Client) -> None:
    """An application's clock may run ahead."""
    store_issue(client, [replace(one, time_ns=NOW + SECOND) for one in numbers(1)])

    assert [one.age_days for one in failures_by_day(client, now_ns=NOW, days=7)] == [0]


def test_a_verdict_that_was_taken_back_counts_no_more(client: Client) -> None:
    """The assignment is there still; the claim is no failure any more."""
    (one,) = numbers(1)
    store_issue(client, [one])
    first = verdict(one)
    assert first.report is not None
    claims = tuple(replace(claim, label=Label.ENTAILED) for claim in first.report.claims)
    report = replace(first.report, label=AnswerLabel.ENTAILED, claims=claims)
    insert_verdicts(
        client, [replace(first, report=report, decided_ns=first.decided_ns + 9 * SECOND)]
    )

    assert failures_by_day(client, now_ns=NOW, days=7) == []
    assert decided_claims(client, now_ns=NOW, days=7) == {
        ("shop", "billing"): DecidedClaims(1.0, 1.0)
    }


def test_an_answer_of_two_verifiers_counts_once(client: Client) -> None:
    """As the last of them saw it."""
    (one,) = numbers(1)
    store_issue(client, [one])
    insert_verdicts(client, [verdict(one, verifier="other/1", version=5)])

    assert failures_by_day(client, now_ns=NOW, days=7) == []
    assert decided_claims(client, now_ns=NOW, days=7) == {
        ("shop", "billing"): DecidedClaims(1.0, 1.0)
    }
