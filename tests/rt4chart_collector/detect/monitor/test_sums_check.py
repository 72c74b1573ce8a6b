"""The hourly check of the sums: it corrects what two rounds find wrong, and nothing else."""

from __future__ import annotations

import logging

import pytest

from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.detect.monitor.sums_check import SumsCheck
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease
from rt4chart_collector.store.rates.rollup import SUMS_LEASE
from tests.rt4chart_collector.pipeline.line import rollup
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR = 3600 * SECOND
TWICE = "INSERT INTO rt4chart_route_1m SELECT * FROM rt4chart_route_1m"


def test_answers_counted_twice_are_corrected_in_the_next_round(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says how many sums; a third round has nothing to do."""
    insert_verdicts(client, [verdict(1), verdict(2, [Label.BASELESS])])
    before = rollup(client)
    client.command(TWICE)
    check = SumsCheck(client, "test")

    with caplog.at_level(logging.WARNING):
        corrected = [check.step(NOON + HOUR + minute * 60 * SECOND) for minute in range(3)]

    assert corrected == [0, 1, 0]
    assert rollup(client) == before
    assert [record.message for record in caplog.records] == [
        "sums of rates that did not agree with the verdicts: 1"
    ]


def test_sums_are_compared_once_an_hour(client: Client) -> None:
    """A comparison reads the verdicts of a day; what goes wrong later is found in the next hour."""
    insert_verdicts(client, [verdict(1)])
    before, check = rollup(client), SumsCheck(client, "test")
    start = NOON // HOUR * HOUR + HOUR

    check.step(start)
    client.command(TWICE)
    within = [check.step(start + minute * 60 * SECOND) for minute in range(1, 59)]
    wrong = rollup(client)
    later = [check.step(start + HOUR + minute * 60 * SECOND) for minute in range(2)]

    assert (set(within), wrong != before) == ({0}, True)
    assert (later, rollup(client)) == ([0, 1], before)


def test_the_last_minutes_are_left_to_settle(client: Client) -> None:
    """Their sums may be on the way."""
    insert_verdicts(client, [verdict(1)])
    client.command(TWICE)
    check = SumsCheck(client, "test")

    assert [check.step(NOON + (5 + minute) * 60 * SECOND) for minute in range(2)] == [0, 0]


def test_another_process_that_corrects_sums_is_left_to_it(client: Client) -> None:
    """Both would insert the difference: `rt4chart repair --sums` may run beside the monitor."""
    insert_verdicts(client, [verdict(1)])
    client.command(TWICE)
    check, start = SumsCheck(client, "monitor"), NOON + HOUR
    check.step(start)
    acquire_lease(client, SUMS_LEASE, "repair", now_ns=start, for_ns=HOUR)

    assert [check.step(start + minute * 60 * SECOND) for minute in range(1, 3)] == [0, 0]
    assert rollup(client)[0] == 2


def test_a_database_that_broke_off_is_compared_at_once(client: Client) -> None:
    """The last minutes too, and again until nothing differs: writes go on meanwhile."""
    now = NOON + 30 * 60 * SECOND
    insert_verdicts(client, [verdict(1)])
    before, check = rollup(client), SumsCheck(client, "test")
    check.step(now)
    client.command(TWICE)
    not_yet = check.step(now)
    check.suspect()
    check.step(now)
    client.command(TWICE)  # another write: the difference is no longer the one that was found
    changed = check.step(now)
    later = [check.step(now) for _ in range(3)]

    assert (not_yet, changed, later) == (0, 0, [0, 1, 0])
    assert rollup(client) == before
