"""An incident as it is read from the store."""

from __future__ import annotations

import pytest

from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import DriftFacts, MeasuredRate
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.incident.asked_before import AskedBefore
from rt4chart_collector.incident.changes import ChangeTime
from rt4chart_collector.incident.read_incident import (
    RouteIncident,
    read_asked_before,
    read_incident,
)
from rt4chart_collector.incident.wording import roll_back_words
from rt4chart_collector.store.alerts.alert_events import alert_state, record_alert_events
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.comparison.releases import RIGHT, WRONG
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE, Rise
from tests.rt4chart_collector.notify.world import ISSUE
from tests.rt4chart_collector.records import NOON

SINCE = NOON - NOON % HOUR + 20 * MINUTE
NOW = SINCE + 6 * HOUR
RELEASES = ((SINCE - 24 * HOUR, "2.3.0"), (SINCE, "2.4.0"))


def read_alert(client: Client, alert: Alert, now_ns: int = NOW) -> RouteIncident:
    """The alert's incident."""
    state = alert_state(client, alert.id, now_ns=now_ns)
    assert state is not None
    with ConcurrentReads(client) as reads:
        found = read_incident(reads, state, now_ns=now_ns)
    assert found is not None
    return found


def read_answers(client: Client, alert: Alert, now_ns: int = NOW) -> AskedBefore:
    """The alert's answers before and since."""
    state = alert_state(client, alert.id, now_ns=now_ns)
    assert state is not None
    found = read_asked_before(client, state, now_ns=now_ns)
    assert found is not None
    return found


def test_a_bad_release_is_dated_and_has_what_to_go_back_to(any_client: Client) -> None:
    """No step before it has a wrong answer; the release before it is named with its own rate."""
    rise = Rise(SINCE, releases=RELEASES)
    found = read_alert(any_client, rise.fill(any_client))
    answers = [one.candidate.start_ns >= SINCE for one in rise.verdicts()]

    assert {step.rate.value for step in found.steps if step.begin_ns < SINCE} == {0.0}
    assert min(step.rate.value or 0 for step in found.steps if step.begin_ns >= SINCE) > 0.2
    assert sum(step.claims for step in found.steps) <= len(answers)
    assert found.anchor_ns == SINCE
    assert found.began.low_ns <= SINCE <= found.began.high_ns
    (change,) = found.changes
    assert (change.change.new.value, change.change.replaced) == ("2.4.0", "2.3.0")
    assert (change.first_ns, change.time) == (SINCE, ChangeTime.WITH)
    assert [(one.value, one.at_ns) for one in found.seen] == [("2.4.0", SINCE)]
    back = found.roll_back
    assert back is not None
    assert (back.to, back.of, back.is_better) == ("2.3.0", "2.4.0", True)
    assert (back.before.rate, back.before.answers) == (0.0, answers.count(False))
    assert back.since.claims == 0
    assert back.last_ns == SINCE - 10 * MINUTE
    assert [one.attribute for one in found.steady] == ["prompt_version", "model", "environment"]


def test_answers_to_the_same_questions_stand_beside_each_other(any_client: Client) -> None:
    """A faulty one since the rise, a faultless one before; how many of each are faulty."""
    found = read_answers(any_client, Rise(SINCE, releases=RELEASES).fill(any_client))

    assert (found.questions, found.asked_before) == (5, 5)
    (pair,) = found.pairs
    assert pair.before is not None
    assert (pair.before.verdict.answer, pair.after.verdict.answer) == (RIGHT, WRONG)
    assert pair.before.verdict.question == pair.after.verdict.question
    assert pair.before.verdict.start_ns < SINCE <= pair.after.verdict.start_ns
    assert (pair.asked_before.answers, pair.asked_before.faulty) == (24, 0)
    assert (pair.asked_after.answers, pair.asked_after.faulty) == (12, 4)
    assert pair.is_same


@pytest.mark.parametrize(
    ("asked", "is_found"),
    [("Please: how long is the trial of plan 3?", True), ("Wie lange dauert das?", False)],
)
def test_a_question_in_other_words_gets_a_like_one_or_none(
    any_client: Client, asked: str, is_found: bool
) -> None:
    """From the same passage, and it is told that the words differ."""
    rise = Rise(SINCE, releases=RELEASES, new_questions=(asked,))
    found = read_answers(any_client, rise.fill(any_client))

    assert (found.questions, found.asked_before) == (1, 0)
    (pair,) = found.pairs
    assert (pair.before is not None) == is_found
    assert pair.is_same is not is_found
    if pair.before is not None:
        assert pair.before.verdict.question == "How long is the trial of plan 3?"


def test_without_releases_there_is_nothing_to_go_back_to(any_client: Client) -> None:
    """The rise is where the alert says, and the attributes say that none is named."""
    found = read_alert(any_client, Rise(SINCE).fill(any_client))

    assert found.roll_back is None
    assert found.changes == ()
    assert found.seen == ()
    assert found.anchor_ns == SINCE
    assert next(one for one in found.steady if one.attribute == "release").values == ()


def test_a_release_with_few_answers_is_not_called_better(any_client: Client) -> None:
    """Four right answers may be chance."""
    releases = ((SINCE - 24 * HOUR, "r0"), (SINCE - 24 * MINUTE, "r1"), (SINCE, "r2"))
    back = read_alert(any_client, Rise(SINCE, releases=releases).fill(any_client)).roll_back

    assert back is not None
    assert (back.to, back.before.answers, back.is_better) == ("r1", 4, False)
    words = list(roll_back_words(back, DriftFacts().measure))
    assert words[-1] == "That is not surely better than the rate since the rise."


def test_many_releases_are_all_there(any_client: Client) -> None:
    """In the order of their times, however many they are."""
    begin = SINCE - 6 * HOUR
    releases = [(begin - HOUR, "r"), *((begin + n * 6 * MINUTE, f"r{n}") for n in range(61))]
    found = read_alert(any_client, Rise(SINCE, releases=releases).fill(any_client))

    assert len(found.seen) == 61
    assert [one.at_ns for one in found.seen] == sorted(one.at_ns for one in found.seen)


def test_a_resolved_alert_ends_where_it_ended(any_client: Client) -> None:
    """Later answers are of no part of it."""
    alert = Rise(SINCE, releases=RELEASES, lasts_ns=30 * HOUR).fill(any_client)
    end_ns = SINCE + 5 * HOUR
    record_alert_events(any_client, [AlertEvent(alert, end_ns, AlertEventKind.RESOLVED)])
    found = read_alert(any_client, alert, SINCE + 40 * HOUR)

    assert found.span.until_ns == end_ns + 75 * MINUTE
    asked = read_answers(any_client, alert, SINCE + 40 * HOUR)
    assert asked.pairs
    assert all(one.after.verdict.start_ns < end_ns for one in asked.pairs)


def test_an_alert_whose_answers_are_gone_is_read_all_the_same(any_client: Client) -> None:
    """After the retention, or where another program wrote it with any time."""
    for since_ns in (SINCE, 1, 2**70):
        facts = DriftFacts(since_ns=since_ns, before=MeasuredRate(rate=0.01))
        alert = Alert("route_drift", "error", "gone", str(since_ns), facts=facts)
        record_alert_events(any_client, [AlertEvent(alert, SINCE, AlertEventKind.FIRED)])
        found = read_alert(any_client, alert)

        assert found.steps == ()
        assert read_answers(any_client, alert) == AskedBefore()
        assert found.roll_back is None


def test_alerts_of_other_rules_are_no_incident(any_client: Client) -> None:
    """They have no rate that rose."""
    record_alert_events(any_client, [AlertEvent(ISSUE, SINCE, AlertEventKind.FIRED)])
    state = alert_state(any_client, ISSUE.id, now_ns=NOW)

    assert state is not None
    with ConcurrentReads(any_client) as reads:
        assert read_incident(reads, state, now_ns=NOW) is None
    assert read_asked_before(any_client, state, now_ns=NOW) is None
