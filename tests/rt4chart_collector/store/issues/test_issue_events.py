"""The trail of what happened to issues, and the aliases that stand in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import (
    IssueEvent,
    aliases,
    events_of,
    group_by_root,
    last_events,
    record_events,
    record_merge,
    root_of,
)

AT = 4_000_000_000_000_000_000


def test_events_come_back_in_order(any_client: Client) -> None:
    """Every field survives, the oldest first, and the same event twice is there once."""
    events = [
        IssueEvent(2**64 - 1, AT, "born", "fp1:contradicted:number"),
        IssueEvent(2**64 - 1, AT + 1, "state", "resolved", "fixed", "ann"),
        IssueEvent(5, AT, "owner", "bob", actor="ann"),
    ]

    record_events(any_client, events[::-1])
    record_events(any_client, events[:2])

    assert events_of(any_client, 2**64 - 1) == events[:2]
    assert events_of(any_client, 6) == []


def test_the_last_event_of_a_kind_counts(client: Client) -> None:
    """State and owner are what was said of them last."""
    record_events(
        client,
        [IssueEvent(1, AT + n, "state", s) for n, s in enumerate(("new", "open", "ignored"))],
    )
    record_events(client, [IssueEvent(1, AT, "owner", "ann")])

    last = last_events(client)

    assert last == {
        1: {
            "state": IssueEvent(1, AT + 2, "state", "ignored"),
            "owner": IssueEvent(1, AT, "owner", "ann"),
        }
    }


def test_unknown_state_is_refused(client: Client) -> None:
    """The message lists the states that there are, and nothing is written."""
    with pytest.raises(InputError, match="expected a state of new, open"):
        record_events(client, [IssueEvent(1, AT, "note"), IssueEvent(1, AT, "state", "done")])

    assert events_of(client, 1) == []


@pytest.mark.parametrize(("kind", "value", "note"), [("note", "", 4_001), ("owner", "a" * 101, 0)])
def test_what_is_too_long_is_refused(client: Client, kind: str, value: str, note: int) -> None:
    """Every reader of the trail would pay for it."""
    with pytest.raises(InputError, match="expected a note of at most 4,000 characters"):
        record_events(client, [IssueEvent(1, AT, kind, value, "x" * note, "ann")])

    assert events_of(client, 1) == []


def test_chain_of_merges_resolves(client: Client) -> None:
    """Every alias leads to the one that stands in the end, also where that one was merged later."""
    record_merge(client, 1, 2, actor="ann", at_ns=AT)
    record_merge(client, 2, 3, actor="ann", at_ns=AT + 1)
    record_merge(client, 4, 1, actor="ann", at_ns=AT + 2)

    assert aliases(client) == {1: 3, 2: 3, 4: 3}
    assert group_by_root([1, 2, 3, 4, 5], aliases(client)) == {3: [3, 1, 2, 4], 5: [5]}


def test_circle_is_refused(client: Client) -> None:
    """What is one already is not merged again, in either direction."""
    record_merge(client, 1, 2, actor="ann", at_ns=AT)

    for issue, into in ((2, 1), (1, 2), (1, 1)):
        with pytest.raises(InputError, match="both merged into"):
            record_merge(client, issue, into, actor="ann", at_ns=AT + 1)

    assert aliases(client) == {1: 2}


def test_merge_that_was_taken_back_is_none(client: Client) -> None:
    """A later merge into nothing makes the issue its own again."""
    record_merge(client, 1, 2, actor="ann", at_ns=AT)

    record_events(client, [IssueEvent(1, AT + 1, "merged", "", actor="ann")])

    assert aliases(client) == {}


@given(st.dictionaries(st.integers(0, 8), st.integers(0, 8)))
def test_every_id_has_one_root(merged: dict[int, int]) -> None:
    """Whatever was written, resolving ends, and all on one way end in the same place."""
    roots = {issue: root_of(issue, merged) for issue in range(9)}

    for issue, into in merged.items():
        assert roots[issue] == roots[into]
    for root in roots.values():
        assert roots[root] == root
