"""What may be committed, under any order of events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.ingest.kafka.offset_tracker import MessageId, OffsetTracker

PARTITIONS = st.integers(0, 2)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), PARTITIONS, st.integers(0, 3)),
        st.tuples(st.just("finish"), st.integers(0, 99), st.just(0)),
        st.tuples(st.just("revoke"), PARTITIONS, st.just(0)),
        st.tuples(st.just("assign"), PARTITIONS, st.just(0)),
        st.tuples(st.just("cut"), PARTITIONS, st.integers(0, 9)),
        st.tuples(st.just("commit"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


class Log:
    """Partitions that are read from their committed offsets on, and what is finished of them."""

    def __init__(self) -> None:
        self.offsets = OffsetTracker()
        self.committed = dict.fromkeys(range(3), 0)
        self.read = dict.fromkeys(range(3), 0)
        self.open: list[tuple[MessageId, int]] = []
        self.finished: dict[int, set[int]] = {0: set(), 1: set(), 2: set()}
        self.left: dict[MessageId, int] = {}

    def arrive(self, partition: int, parts: int) -> None:
        """The next message, of so many parts; every second offset is a gap."""
        offset = self.read[partition]
        message_id = self.offsets.track(partition, offset, parts)
        if message_id is None:
            return
        self.read[partition] = offset + 2
        self.open += [(message_id, part) for part in range(parts)]
        self.left[message_id] = parts
        if not parts:
            self.finished[partition].add(offset)

    def finish(self, number: int) -> None:
        """One part that is open, whether its partition is ours still or not."""
        if not self.open:
            return
        message_id, _ = self.open.pop(number % len(self.open))
        is_live = self.offsets.is_live(message_id)
        self.offsets.finish_part(message_id)
        self.left[message_id] -= 1
        if is_live and not self.left[message_id]:
            self.finished[message_id.partition].add(message_id.offset)

    def revoke(self, partition: int) -> None:
        """It is another's: what was read and not committed will be read again."""
        self.offsets.revoke([partition])
        self.read[partition] = 2 * -(-self.committed[partition] // 2)

    def cut(self, partition: int, number: int) -> None:
        """The log loses what is behind this message, and is read on from there."""
        offset = 2 * number
        if partition not in self.offsets.partitions or offset >= self.read[partition]:
            return
        self.read[partition] = offset
        self.finished[partition] -= set(range(offset, 200, 2))
        # The broker does the same where less is left than was committed.
        self.committed[partition] = min(self.committed[partition], offset)
        self.arrive(partition, 1)

    def commit(self) -> None:
        """Commit all that may be, and look that nothing unfinished lies below."""
        positions = self.offsets.uncommitted()
        for partition, position in positions.items():
            assert position >= self.committed[partition]
            below = set(range(0, position, 2))
            assert below <= self.finished[partition]
            self.committed[partition] = position
        self.offsets.committed(positions)


@given(EVENTS)
def test_no_order_of_events_commits_past_an_unfinished_message(
    events: list[tuple[str, int, int]],
) -> None:
    """Arrivals, ends, revocations in any order; and once all is finished, all is committed."""
    log = Log()
    log.offsets.assign([0, 1, 2])
    for name, first, second in events:
        if name == "arrive":
            log.arrive(first, second)
        elif name == "finish":
            log.finish(first)
        elif name == "revoke":
            log.revoke(first)
        elif name == "cut":
            log.cut(first, second)
        elif name == "assign":
            log.offsets.assign([first])
        log.commit()

    while log.open:
        log.finish(0)
    log.commit()

    for partition in log.offsets.partitions:
        if partition in log.offsets.positions():
            assert log.committed[partition] == log.read[partition] - 1


def test_offset_is_committed_when_all_its_parts_are_finished() -> None:
    """A message with two traces waits for both."""
    offsets = OffsetTracker()
    offsets.assign([7])
    message_id = offsets.track(7, 100, 2)
    assert message_id is not None

    offsets.finish_part(message_id)
    before = offsets.positions()
    offsets.finish_part(message_id)

    assert before == {7: 100}
    assert offsets.positions() == {7: 101}


def test_message_of_a_partition_that_is_not_ours_counts_for_nothing() -> None:
    """It may have been fetched before the partition went to another."""
    offsets = OffsetTracker()

    assert offsets.track(1, 5, 1) is None
    assert offsets.positions() == {}


def test_end_of_a_message_from_an_earlier_ownership_is_ignored() -> None:
    """It comes again, and is to be finished again."""
    offsets = OffsetTracker()
    offsets.assign([0])
    early = offsets.track(0, 5, 1)
    assert early is not None
    offsets.revoke([0])
    offsets.assign([0])
    offsets.track(0, 5, 1)

    offsets.finish_part(early)

    assert offsets.positions() == {0: 5}


def test_log_that_was_cut_short_is_read_anew_from_there_on() -> None:
    """What is unfinished before the cut holds it back still; an old end behind it is ignored."""
    offsets = OffsetTracker()
    offsets.assign([0])
    first, _, third = (offsets.track(0, offset, 1) for offset in (5, 6, 7))
    again = offsets.track(0, 6, 1)
    assert first is not None
    assert third is not None
    assert again is not None

    offsets.finish_part(third)
    dead, held = offsets.is_live(third), offsets.positions()
    offsets.finish_part(first)
    unfinished = offsets.positions()
    offsets.finish_part(again)

    assert (dead, held, unfinished) == (False, {0: 5}, {0: 6})
    assert offsets.positions() == {0: 7}


def test_messages_behind_an_unfinished_one_are_weighed() -> None:
    """They take memory until they are committed, though they are finished."""
    offsets = OffsetTracker()
    offsets.assign([0])
    first = offsets.track(0, 0, 1)
    for offset in range(1, 1001):
        offsets.track(0, offset, 0)
    offsets.positions()
    full = offsets.size
    assert first is not None
    offsets.finish_part(first)
    offsets.positions()

    assert 100_000 < full < 1_000_000
    assert offsets.size == 0


def test_position_is_committed_once_unless_it_is_forgotten() -> None:
    """A commit that failed is made again that way."""
    offsets = OffsetTracker()
    offsets.assign([0])
    offsets.track(0, 5, 0)

    offsets.committed(offsets.uncommitted())

    assert offsets.uncommitted() == {}
    offsets.forget_commits()
    assert offsets.uncommitted() == {0: 6}
