"""Trusted labels: several raters a claim, every version kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    label_history,
    labels_in,
    labels_on,
    last_label_of,
    record_labels,
    withdraw_label,
)
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    draw,
    insert_answers,
    label_of,
)

WRONG, RIGHT = GivenLabel.BASELESS, GivenLabel.ENTAILED


def drawn(client: Client) -> QueueRow:
    """A drawn claim."""
    insert_answers(client, [1, 2])
    return draw(client).queue[0]


def test_a_changed_label_is_a_new_version(client: Client) -> None:
    """The new one counts, even if the clock was set back; the old one stays in the history."""
    row = drawn(client)
    record_labels(client, [label_of(row, RIGHT)])
    record_labels(client, [label_of(row, WRONG, at_ns=NOW - SECOND)])
    client.command("OPTIMIZE TABLE rt4chart_labels FINAL")

    (current,) = labels_on(client, VERIFIER, [row.claim_key])
    history = label_history(client, VERIFIER, row.claim_key)

    assert (current.label, current.version) == (WRONG, NOW + 1)
    assert [(one.label, one.is_deleted) for one in history] == [(RIGHT, False), (WRONG, False)]


def test_labels_that_contradict_each_other_are_kept(client: Client) -> None:
    """Each rater has a label of their own."""
    row = drawn(client)
    record_labels(client, [label_of(row, RIGHT), label_of(row, WRONG, rater="bob")])

    found = labels_in(client, SCOPE)

    assert [(one.rater, one.label) for one in found] == [("ann", RIGHT), ("bob", WRONG)]


def test_a_label_is_taken_back(client: Client) -> None:
    """That of this rater alone; the history keeps it, and it can be given again."""
    row = drawn(client)
    record_labels(client, [label_of(row), label_of(row, rater="bob")])

    taken = withdraw_label(client, label_of(row), at_ns=NOW + 1)
    again = withdraw_label(client, label_of(row), at_ns=NOW + 2)

    assert (taken, again) == (True, False)
    assert [one.rater for one in labels_in(client, SCOPE)] == ["bob"]
    assert len(label_history(client, VERIFIER, row.claim_key)) == 3
    record_labels(client, [label_of(row, WRONG, at_ns=NOW - 5)])
    assert [one.label for one in labels_in(client, SCOPE) if one.rater == "ann"] == [WRONG]


def test_the_last_label_of_a_rater_is_found(client: Client) -> None:
    """What an undo takes back; not those of an earlier sitting, nor of others."""
    insert_answers(client, [1, 2])
    first, second, third = draw(client).queue[:3]
    record_labels(client, [label_of(first), label_of(second, at_ns=NOW + 1)])
    record_labels(client, [label_of(third, rater="bob", at_ns=NOW + 2)])

    found = last_label_of(client, "ann")

    assert found is not None
    assert found.id == second.id
    withdraw_label(client, found, at_ns=NOW + 3)
    earlier = last_label_of(client, "ann")
    assert earlier is not None
    assert earlier.id == first.id
    assert last_label_of(client, "ann", since_ns=NOW + 1) is None


def test_a_label_outlives_its_claim(client: Client) -> None:
    """It says what the judge said of it, and is found by the time of the answer."""
    row = drawn(client)
    record_labels(client, [label_of(row, WRONG)])
    client.command("TRUNCATE TABLE rt4chart_claims")
    client.command("TRUNCATE TABLE rt4chart_verifications")

    (found,) = labels_in(client, SCOPE)

    assert (found.judge_label, found.confidence, found.weight, found.text_hash) == (
        *(row.judge_label, row.confidence, row.weight, row.text_hash),
    )
    assert labels_in(client, QueryScope(since_ns=NOON + SECOND)) == []


def test_what_cannot_be_a_label_is_refused(client: Client) -> None:
    """Nobody's label, the software's own, an unknown status, two at once of one rater."""
    label = label_of(drawn(client))

    for wrong in (
        [replace(label, rater=" ")],
        [replace(label, rater="rt4chart")],
        [replace(label, status="odd")],
        [label, replace(label, label=WRONG)],
        [label, replace(label, rater="bob", verifier="v2")],
    ):
        with pytest.raises(InputError, match="expected"):
            record_labels(client, wrong)
    assert labels_in(client, QueryScope()) == []
