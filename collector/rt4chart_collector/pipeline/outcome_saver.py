"""Stores the outcomes of all workers of a process together, every one or two seconds."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from threading import Condition, Event

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from rt4chart_collector.core.instruments import (
    ANSWERS,
    CLAIM_STATUSES,
    CLAIMS,
    FAILURES,
    RETRIES,
    STORE_INSERT_DURATION,
    STORE_INSERT_FAILURES,
    UNSAVED_TRACES,
    VERDICT_LAG,
    VERIFIED_ANSWERS,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.decision import save_outcomes
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.store.answers.dead_letters import LetterState
from rt4chart_collector.store.engine.connect import Client

# A save is a few statements, however many answers it has. The first one after a pause is at once,
# the next one a second later, or two seconds after one of more than a few outcomes.
SAVE_EVERY_S, BUSY_EVERY_S = 1.0, 2.0
FEW_OUTCOMES = 4
# As many outcomes or traces, or as many characters of their texts, are saved together; no more wait
# for a save.
BATCH_OUTCOMES = 1000
BATCH_CHARACTERS = 32 * 10**6
INSERT_RETRIES_S = (0.1, 0.5, 2.0, 5.0)
SECOND = 10**9

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Lease:
    """The end of a lease: it comes behind the outcomes of its traces."""

    traces: Sequence[AssembledTrace]
    undecided: Collection[str]


class OutcomeSaver:
    """Takes outcomes from many workers; one thread stores them, and then ends the leases.

    What could not be stored stays undecided in the store, where recovery finds it again; `metrics`
    counts it (UNSAVED_TRACES).
    """

    def __init__(
        self,
        client: Client,
        end_lease: Callable[[Sequence[AssembledTrace], Collection[str]], None],
        metrics: ServiceMetrics,
        *,
        carrier: CarrierPlace = CarrierPlace.TRACE,
        clock: Clock,
        giving_up: Event,
        is_owned: Callable[[str], bool] = lambda trace_id: True,
    ) -> None:
        """`end_lease` gets the traces of a lease, and the ids of those left undecided.

        `giving_up` ends the waits between attempts to reach the store. Outcomes of a trace that
        this process no longer owns are dropped.
        """
        self._client = client
        self._end_lease = end_lease
        self._metrics = metrics
        self._carrier = carrier
        self._version = version("otel-rt4chart")
        self._clock = clock
        self._giving_up = giving_up
        self._is_owned = is_owned
        self._changed = Condition()
        self._waiting: deque[AnswerOutcome | _Lease] = deque()
        self._outcomes = self._traces = self._characters = 0
        self._failed: set[str] = set()
        self._closed = False

    def put(self, outcome: AnswerOutcome) -> None:
        """Hand over an outcome; waits while too much waits to be saved."""
        self._append(outcome)

    def finish(self, traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        """End the lease of these traces once all outcomes that were put before are stored."""
        self._append(_Lease(traces, undecided))

    def close(self) -> None:
        """Let `run` save what waits, and then end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def run(self) -> None:
        """Save until closed and empty."""
        due = 0.0
        while self._wait_for_work(due):
            began = time.monotonic()
            is_busy = self.save_waiting() > FEW_OUTCOMES
            due = began + (BUSY_EVERY_S if is_busy else SAVE_EVERY_S)

    def save_waiting(self) -> int:
        """Save what waits now together, and end the leases whose outcomes these were.

        Returns the number of outcomes.
        """
        batch = self._take()
        made = [one for one in batch if isinstance(one, AnswerOutcome)]
        # Asked here: ownership may have been lost while the judge was working.
        self._failed |= self._save([one for one in made if self._is_owned(one.trace_id)])
        for one in batch:
            if isinstance(one, _Lease):
                ids = {trace.trace_id for trace in one.traces}
                unsaved = ids & self._failed
                self._failed -= ids
                # The worker has counted those that it could not decide on.
                self._metrics.add(UNSAVED_TRACES, number=len(unsaved.difference(one.undecided)))
                self._end_lease(one.traces, unsaved.union(one.undecided))
        return len(made)

    def _append(self, item: AnswerOutcome | _Lease) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_full)
            self._waiting.append(item)
            if isinstance(item, _Lease):
                self._traces += len(item.traces)
            else:
                self._outcomes += 1
            self._characters += _characters(item)
            self._changed.notify_all()

    @property
    def _is_full(self) -> bool:
        number = max(self._outcomes, self._traces)
        return number >= BATCH_OUTCOMES or self._characters >= BATCH_CHARACTERS

    def _wait_for_work(self, due: float) -> bool:
        """Wait until something waits, and the time has come or much waits; False at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            while (left := due - time.monotonic()) > 0 and not (self._is_full or self._closed):
                self._changed.wait(left)
            return bool(self._waiting)

    def _take(self) -> Sequence[AnswerOutcome | _Lease]:
        with self._changed:
            taken = list(self._waiting)
            self._waiting.clear()
            self._outcomes = self._traces = self._characters = 0
            self._changed.notify_all()
            return taken

    def _save(self, outcomes: Sequence[AnswerOutcome]) -> set[str]:
        """The ids of the traces of which something could not be stored; the others are counted."""
        if not outcomes:
            return set()
        try:
            self._store_patiently(outcomes)
        except Exception as error:  # noqa: BLE001 - thread boundary: the next save goes on
            return self._save_apart(outcomes, error)
        return set()

    def _save_apart(self, outcomes: Sequence[AnswerOutcome], error: Exception) -> set[str]:
        """As `_save`, in halves down to single traces: one must not keep the others from it.

        The halves are tried only while the store answers.
        """
        ids = list(dict.fromkeys(outcome.trace_id for outcome in outcomes))
        if len(ids) == 1 or self._giving_up.is_set() or not self._store_answers():
            return self._note(error, outcomes)
        failed: set[str] = set()
        for half in (set(ids[: len(ids) // 2]), set(ids[len(ids) // 2 :])):
            own = [outcome for outcome in outcomes if outcome.trace_id in half]
            try:
                self._store(own)
            except Exception as again:  # noqa: BLE001 - one trace must not stop the others
                failed |= self._save_apart(own, again)
        return failed

    def _store_answers(self) -> bool:
        try:
            self._client.command("SELECT 1")
        except StoreError:
            return False
        return True

    def _store_patiently(self, outcomes: Sequence[AnswerOutcome]) -> None:
        """Store the outcomes, with several attempts to reach the store."""
        for wait_s in INSERT_RETRIES_S:
            try:
                return self._store(outcomes)
            except StoreError as error:
                if self._giving_up.is_set():
                    raise
                log.warning("verdicts not stored, next attempt in %s s: %s", wait_s, error)
                self._giving_up.wait(wait_s)
        return self._store(outcomes)

    def _store(self, outcomes: Sequence[AnswerOutcome]) -> None:
        with self._metrics.timed(STORE_INSERT_DURATION, STORE_INSERT_FAILURES, "verdicts"):
            save_outcomes(self._client, outcomes, self._version, place=self._carrier)
        for outcome in outcomes:
            self._count(outcome)

    def _note(self, error: Exception, outcomes: Sequence[AnswerOutcome]) -> set[str]:
        """Report outcomes that were not stored; the ids of their traces."""
        failed = {outcome.trace_id for outcome in outcomes}
        self._metrics.add(FAILURES, type(error).__name__)
        where = "%d traces left undecided, found again later: %s"
        log.error(where, len(failed), redacted_error(error))
        return failed

    def _count(self, outcome: AnswerOutcome) -> None:
        if (verdict := outcome.verdict) is not None:
            self._metrics.add(ANSWERS, verdict.decision)
            if (report := verdict.report) is not None:
                self._metrics.add(VERIFIED_ANSWERS, report.label)
                self._note_lag(verdict.candidate.end_ns)
                for claim in report.claims:
                    self._metrics.add(CLAIMS, claim.label)
                    self._metrics.add(CLAIM_STATUSES, claim.status)
        if (letter := outcome.letter) is not None:
            self._metrics.add(RETRIES, "planned", number=letter.state is LetterState.WAITING)
            self._metrics.add(RETRIES, "given_up", number=letter.state is LetterState.DEAD)
        self._metrics.add(RETRIES, "answered", number=outcome.answered_letter is not None)

    def _note_lag(self, end_ns: int) -> None:
        if end_ns:
            self._metrics.record(VERDICT_LAG, (self._clock() - end_ns) / SECOND)


def _characters(item: AnswerOutcome | _Lease) -> int:
    """About the size of what an outcome keeps: the texts of the answer and its passages."""
    if isinstance(item, _Lease) or item.verdict is None:
        return 0
    exchange = item.verdict.candidate.exchange
    passages = sum(len(passage.text) for passage in exchange.passages)
    return len(exchange.question) + len(exchange.answer) + passages
