"""Searches of the store: answers without a decision, and answers whose retry is due."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.pipeline.retry import missing_answer_letter
from rt4chart_collector.store.answers.dead_letters import (
    LetterCounts,
    due_letters,
    insert_letters,
    letter_counts,
)
from rt4chart_collector.store.answers.spans import spans_of, unverified_traces
from rt4chart_collector.store.answers.trace_sizes import first_traces
from rt4chart_collector.store.engine.columns import ALL_TRACES, TraceShare
from rt4chart_collector.store.engine.connect import Client

WINDOW_NS = 24 * 3600 * 10**9
PAUSE_NS = 30 * 10**9
PAGE_TRACES = 64


class Recovery:
    """Searches the traces of the last day once for each request; for one thread.

    When the verifier changes, it searches again: it has decided on none of them.
    """

    def __init__(self, client: Client, verifier: Callable[[], str]) -> None:
        """The first search is requested at once: an earlier process may have ended abruptly."""
        self._client = client
        self._current = verifier
        self._verifier = verifier()
        self._after = ""
        self._not_before = 0
        self.is_running = True

    def request(self, now_ns: int) -> None:
        """Search once more, after a pause: the cause of the loss probably persists for a moment."""
        self._after = ""
        self.is_running = True
        self.postpone(now_ns)

    def postpone(self, now_ns: int) -> None:
        """Continue after a pause."""
        self._not_before = now_ns + PAUSE_NS

    def page(self, now_ns: int, *, is_in_flight: Callable[[str], bool]) -> Sequence[SpanRecord]:
        """The spans of the next undecided traces; none when the search is over or paused.

        Traces in flight in this process are skipped: they are undecided, but not lost.
        """
        if (verifier := self._current()) != self._verifier:
            self._verifier = verifier
            self.request(now_ns)
        if not self.is_running or now_ns < self._not_before:
            return ()
        found = unverified_traces(
            self._client, self._verifier, now_ns - WINDOW_NS, PAGE_TRACES, after=self._after
        )
        if not found:
            self.is_running = False
            return ()
        lost = [trace_id for trace_id in found if not is_in_flight(trace_id)]
        page = first_traces(self._client, lost)
        self._after = found[-1] if len(page) == len(lost) else page[-1]
        return application_spans(self._client, page)


POLL_NS = 5 * 10**9
# After this time an answer that was handed over and is still due was postponed or lost.
HANDED_OVER_NS = 60 * 10**9
PAGE_ANSWERS = 64


class Retries:
    """Finds due retries every few seconds; for one thread. `counts` are of the last search."""

    def __init__(
        self,
        client: Client,
        verifier: Callable[[], str],
        *,
        share: Callable[[], TraceShare] = lambda: ALL_TRACES,
    ) -> None:
        """`verifier` returns the id of the one in use.

        `share` returns the part of all traces that this process is responsible for.
        """
        self._client = client
        self._verifier = verifier
        self._share = share
        self._not_before = 0
        self._handed: dict[str, int] = {}
        self.counts = LetterCounts()

    def page(self, now_ns: int) -> Sequence[SpanRecord]:
        """The spans of traces with an answer to retry; none between two searches.

        If the store does not have the trace, the answer is tried later, and finally given up.
        """
        if not self._is_time(now_ns):
            return ()
        self._handed = {
            trace_id: at for trace_id, at in self._handed.items() if at > now_ns - HANDED_OVER_NS
        }
        limit = PAGE_ANSWERS + len(self._handed)
        due = [
            letter
            for letter in due_letters(
                self._client, self._verifier(), now_ns, limit, share=self._share()
            )
            if letter.trace_id not in self._handed
        ]
        page = first_traces(self._client, sorted({letter.trace_id for letter in due}))
        due = [letter for letter in due if letter.trace_id in page]
        spans = application_spans(self._client, page)
        found = {span.trace_id for span in spans}
        self._handed |= dict.fromkeys(found, now_ns)
        missing = [
            missing_answer_letter(letter, now_ns) for letter in due if letter.trace_id not in found
        ]
        insert_letters(self._client, missing)
        self.counts = letter_counts(self._client, self._verifier())
        return spans

    def count(self, now_ns: int) -> None:
        """Update only the counts, equally often."""
        if self._is_time(now_ns):
            self.counts = letter_counts(self._client, self._verifier())

    def _is_time(self, now_ns: int) -> bool:
        is_time = now_ns >= self._not_before
        if is_time:
            self._not_before = now_ns + POLL_NS
        return is_time


def application_spans(client: Client, trace_ids: Sequence[str]) -> Sequence[SpanRecord]:
    """The stored spans of the traces without verdicts, which may outlive the others."""
    if not trace_ids:
        return ()
    return [span for span in spans_of(client, trace_ids) if not span.is_verdict]
