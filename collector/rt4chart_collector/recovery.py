"""The search for answers without a decision, page by page: after a start, and after losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otel_rt4chart.spans.record import SpanRecord
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.spans import spans_of
from rt4chart_collector.store.unverified import unverified_traces

WINDOW_NS = 24 * 3600 * 10**9
PAUSE_NS = 30 * 10**9
TRACES = 64


class Recovery:
    """Goes once through the traces of the last day when requested; for one thread."""

    def __init__(self, client: Client, verifier: str) -> None:
        """Requested from the start."""
        self._client = client
        self._verifier = verifier
        self._after = ""
        self._not_before = 0
        self.is_running = True

    def request(self, now_ns: int) -> None:
        """Search once more, after a pause: what was lost just now may be lost again just now."""
        self._after = ""
        self.is_running = True
        self.postpone(now_ns)

    def postpone(self, now_ns: int) -> None:
        """Go on after a pause."""
        self._not_before = now_ns + PAUSE_NS

    def page(self, now_ns: int, *, is_in_hand: Callable[[str], bool]) -> Sequence[SpanRecord]:
        """The spans of the next undecided traces; none when the search is over or paused.

        Traces that this process has in hand are passed over: they are undecided, and not lost.
        """
        if not self.is_running or now_ns < self._not_before:
            return ()
        found = unverified_traces(
            self._client, self._verifier, now_ns - WINDOW_NS, TRACES, after=self._after
        )
        if not found:
            self.is_running = False
            return ()
        self._after = found[-1]
        lost = [trace_id for trace_id in found if not is_in_hand(trace_id)]
        return spans_of(self._client, lost) if lost else ()
