"""Who looks for which answers: exclusive, complete, and the same in the store as here."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.pipeline.retry import postponed_letter
from rt4chart_collector.store.answers.dead_letters import due_letters, insert_letters
from rt4chart_collector.store.engine.columns import ALL_TRACES, TraceShare
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, VERIFIER, verdict

DUE = NOON + 3600 * 10**9


def test_shares_of_due_answers_are_exclusive_and_complete(client: Client) -> None:
    """Each letter is with the one worker whose partitions its trace's hash falls into."""
    letters = [
        postponed_letter(verdict(number).candidate, VERIFIER, NOON) for number in range(1, 101)
    ]
    insert_letters(client, [replace(one, trace_id=f"{n:032x}") for n, one in enumerate(letters)])
    shares = [TraceShare(6, frozenset(ours)) for ours in ((0, 1), (2,), (3, 4, 5), ())]

    found = [
        {one.trace_id for one in due_letters(client, VERIFIER, DUE, 999, share=share)}
        for share in shares
    ]
    everyone = {one.trace_id for one in due_letters(client, VERIFIER, DUE, 999, share=ALL_TRACES)}

    assert sum(map(len, found)) == len(everyone) == 100
    assert set().union(*found) == everyone
    assert all(
        share.number_of(trace_id) in share.numbers
        for share, ids in zip(shares, found, strict=True)
        for trace_id in ids
    )
    assert [len(ids) > 5 for ids in found] == [True, True, True, False]


@given(st.text(alphabet="0123456789abcdef", min_size=32, max_size=32), st.integers(1, 99))
def test_part_lies_within_the_count(trace_id: str, number: int) -> None:
    """Whatever the id."""
    assert 0 <= TraceShare(number).number_of(trace_id) < number
