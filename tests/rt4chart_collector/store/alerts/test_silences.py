"""Snoozes and maintenance windows."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.alerts.silence import Silence, silenced_until
from rt4chart_collector.store.alerts.silences import add_silence, remove_silence, silences
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.notify.world import DRIFT, HOUR, ISSUE, START


def test_silences_come_back_until_they_are_over(any_client: Client) -> None:
    """Those to come too, by their beginning; written twice they are there once."""
    later = Silence(START + HOUR, START + 2 * HOUR, {"service": "shöp", "route": ""}, "ann", "why")
    now = Silence(START, START + HOUR, {}, "bob")
    kept = [add_silence(any_client, one, now_ns=START) for one in (later, now, now)]

    assert silences(any_client, START) == [now, later] == [kept[1], kept[0]]
    assert silences(any_client, START + HOUR) == [later]
    assert silences(any_client, START + 2 * HOUR) == []


def test_a_silence_can_be_ended_and_begun_again(any_client: Client) -> None:
    """Its id is that of the list."""
    kept = add_silence(any_client, Silence(START, START + HOUR), now_ns=START)

    assert remove_silence(any_client, kept.id, now_ns=START + 1) == kept
    assert silences(any_client, START + 2) == []
    with pytest.raises(InputError, match="expected the id of a silence that is not over"):
        remove_silence(any_client, kept.id, now_ns=START + 3)
    add_silence(any_client, kept, now_ns=START + 4)
    assert silences(any_client, START + 5) == [kept]


@pytest.mark.parametrize(
    "silence",
    [
        Silence(START, START),
        Silence(START - 2 * HOUR, START - HOUR),
        Silence(START, START + HOUR, {"colour": "red"}),
    ],
)
def test_what_silences_nothing_is_refused(client: Client, silence: Silence) -> None:
    """It is over, or names a label that alerts do not have."""
    with pytest.raises(InputError, match="expected"):
        add_silence(client, silence, now_ns=START)

    assert silences(client, START - HOUR) == []


def test_a_silence_covers_what_has_all_of_its_labels() -> None:
    """From its beginning until before its end; the last end of several counts."""
    both = Silence(START, START + HOUR, {"rule": "route_drift", "route": "billing"})
    one = Silence(START, START + 2 * HOUR, {"id": DRIFT.id})

    assert both.covers(DRIFT, START)
    assert not both.covers(DRIFT, START - 1)
    assert not both.covers(DRIFT, START + HOUR)
    assert not both.covers(ISSUE, START)
    assert Silence(START, START + 1).covers(ISSUE, START)
    assert (one.is_snooze, both.is_snooze) == (True, False)
    assert silenced_until(DRIFT, [both, one], START) == START + 2 * HOUR
    assert silenced_until(ISSUE, [both, one], START) == 0
