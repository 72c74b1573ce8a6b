"""Closed traces between the stream and the workers: which messages each one finishes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.spans.exchange.assembly import AssembledTrace, span_bytes
from rt4chart_collector.ingest.kafka.offsets import Mark, Offsets
from rt4chart_collector.store.engine.columns import TraceShare


@dataclass(frozen=True, slots=True)
class Piece:
    """A closed trace, the messages that its spans came in, and about how many bytes it takes.

    One without marks was read from the store.
    """

    trace: AssembledTrace
    marks: frozenset[Mark]
    size: int


def piece_of(trace: AssembledTrace, marks: Iterable[Mark]) -> Piece:
    """The piece, weighed."""
    return Piece(trace, frozenset(marks), sum(map(span_bytes, trace.spans)))


class InHand:
    """What was handed to the workers; they report, the stream's thread does the rest.

    A trace that was taken back while a worker has it is fenced: `is_ours` is false of it until that
    worker is done.
    """

    def __init__(self) -> None:
        """Nothing is in hand."""
        self._lock = threading.Lock()
        # By identity: two pieces of one trace may be equal.
        self._pieces: dict[int, Piece] = {}
        self._reported: list[tuple[Piece, bool]] = []
        self._fenced: dict[str, int] = {}
        self.size = 0

    def __len__(self) -> int:
        """The number of pieces that are not settled."""
        return len(self._pieces) + len(self._reported)

    def is_ours(self, trace_id: str) -> bool:
        """False of a trace that was taken back; for the workers."""
        return trace_id not in self._fenced

    def give(self, piece: Piece) -> None:
        """This one is handed over next."""
        with self._lock:
            self._pieces[id(piece.trace)] = piece
            self.size += piece.size

    def told(self, traces: Sequence[AssembledTrace], left: Collection[str]) -> None:
        """A worker is done with these, and left some of them undecided; for the workers."""
        with self._lock:
            for trace in traces:
                if self._fenced.get(trace.trace_id) == id(trace):
                    del self._fenced[trace.trace_id]
                piece = self._pieces.pop(id(trace), None)
                if piece is not None:
                    self._reported.append((piece, trace.trace_id in left))

    def settled(self) -> Iterator[tuple[Piece, bool]]:
        """What was reported since, with whether it was left undecided."""
        with self._lock:
            reported, self._reported = self._reported, []
            self.size -= sum(piece.size for piece, _ in reported)
        yield from reported

    def keys_of(self, is_so: Callable[[Piece], bool]) -> frozenset[int]:
        """The ids of such pieces' traces, as long as no worker has reported them."""
        with self._lock:
            return frozenset(key for key, piece in self._pieces.items() if is_so(piece))

    def withdraw(self, keys: frozenset[int], *, waiting: Collection[int]) -> None:
        """Take these pieces back; those that were not `waiting` are with a worker, and fenced."""
        with self._lock:
            for key in keys & self._pieces.keys():
                piece = self._pieces.pop(key)
                self.size -= piece.size
                if key not in waiting:
                    self._fenced[piece.trace.trace_id] = key


class Belongs:
    """Whether a trace has live messages of the given partitions alone, or was read for them."""

    def __init__(self, partitions: frozenset[int], share: TraceShare, offsets: Offsets) -> None:
        """What is asked about, what is this member's, and what of it is live."""
        self._partitions = partitions
        self._share = share
        self._offsets = offsets

    def __call__(self, piece: Piece) -> bool:
        """The same of a piece."""
        return self.is_so(piece.trace.trace_id, piece.marks)

    def is_so(self, trace_id: str, marks: Collection[Mark]) -> bool:
        """Whether the trace, with these messages, is of the partitions alone."""
        if not marks:
            return self._share.number_of(trace_id) in self._partitions
        live = [mark for mark in marks if self._offsets.is_live(mark)]
        return all(mark.partition in self._partitions for mark in live)
