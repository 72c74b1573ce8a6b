"""Recalibrations in the store: one is in force, and every change is kept."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.recalibration import Curve, Recalibration
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.recalibrations import (
    RecalibrationAction,
    RecalibrationEvent,
    apply_recalibration,
    next_number,
    recalibration_history,
    recalibration_in_force,
    revert_recalibration,
)
from tests.rt4chart_collector.records import NOON

KNOTS = ((0.0, 0.05), (0.7, 0.3), (1.0, 0.812345678901))
JUDGE = "rules/9"


def applied(
    number: int, *, at_ns: int = NOON, actor: str = "ann", judge: str = JUDGE
) -> RecalibrationEvent:
    """A recalibration of the flagged claims."""
    return RecalibrationEvent(
        judge,
        at_ns,
        actor,
        "after the release",
        RecalibrationAction.APPLIED,
        number,
        "platt",
        (("flagged", KNOTS),),
        flagged_threshold=0.7,
        labels=200,
        before=0.25,
        after=0.2,
    )


def test_what_is_applied_is_in_force_to_the_last_digit(client: Client) -> None:
    """For its judge alone."""
    assert recalibration_in_force(client, JUDGE) is None
    event = applied(1)

    apply_recalibration(client, event)

    assert recalibration_history(client, JUDGE) == [event]
    assert recalibration_in_force(client, JUDGE) == Recalibration(
        1, flagged=Curve(KNOTS), flagged_threshold=0.7
    )
    assert recalibration_in_force(client, "local/4") is None


def test_each_revert_goes_one_back_and_nothing_is_lost(client: Client) -> None:
    """From the second to the first to none; numbers are never used again."""
    apply_recalibration(client, applied(1))
    apply_recalibration(client, applied(2, at_ns=NOON + 1))

    # A clock that was set back does not matter.
    backs = [
        revert_recalibration(client, JUDGE, actor="bob", note="worse", now_ns=NOON - 9)
        for _ in range(2)
    ]
    with pytest.raises(InputError, match="rules/9 has no recalibration: nothing to revert"):
        revert_recalibration(client, JUDGE, actor="bob", note="", now_ns=NOON)

    history = recalibration_history(client)
    assert [event.number for event in backs] == [1, 0]
    assert [event.number for event in history] == [1, 2, 1, 0]
    assert recalibration_in_force(client, JUDGE) is None
    assert next_number(history) == 3
    apply_recalibration(client, applied(3, at_ns=NOON + 9))
    assert revert_recalibration(client, JUDGE, actor="bob", note="", now_ns=NOON).number == 0


def test_of_two_people_at_once_the_first_one_counts(client: Client) -> None:
    """Verdicts with one number must be of one recalibration; the other person is told."""
    apply_recalibration(client, applied(1))

    with pytest.raises(InputError, match="at the same time"):
        apply_recalibration(client, applied(1, at_ns=NOON + 1, actor="bob"))

    assert [event.actor for event in recalibration_history(client)] == ["ann"]
