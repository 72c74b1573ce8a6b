"""The circuit breaker: pauses a judge that fails repeatedly, then tries it with one answer."""

from __future__ import annotations

import logging
import threading
from collections import deque

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.judge_failure import JudgeFailure

SECOND = 10**9
# Failures in a row, for one reason, that open the breaker. The limit is higher for permanent ones,
# such as an answer that is too long: they are caused by the answers, not by the judge.
TEMPORARY_FAILURES, PERMANENT_FAILURES = 5, 20
# A judge that fails on most answers opens it too, although a success between resets the row.
WINDOW, FAILED_SHARE = 50, 0.8
FIRST_WAIT_S, LONGEST_WAIT_S = 30, 600
MOST_BLAMED = 1000

log = logging.getLogger(__name__)


class Breaker:
    """Decides whether a judge may be called. Thread-safe; each call must be reported with `note`.

    It opens when `TEMPORARY_FAILURES` answers in a row (`PERMANENT_FAILURES`, if a retry would not
    help), or `FAILED_SHARE` of the last `WINDOW`, fail for one reason. After a wait one answer is
    let through: it closes the breaker, or doubles the wait.

    Where the answers may be at fault, only the services that they came from wait: those of others
    are let through, and the first one that the judge decides on closes the breaker.
    """

    def __init__(self, judge: str, clock: Clock) -> None:
        """Closed at first; `judge` names it in the log, `clock` returns nanoseconds."""
        self.judge = judge
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: deque[tuple[str, str]] = deque(maxlen=WINDOW)  # reason, service
        self._blamed: set[str] | None = None  # the services that wait; None: all of them
        self._row = 0
        self._reason = ""
        self._wait_s = 0
        self._until = 0
        self._is_probing = False

    @property
    def is_paused(self) -> bool:
        """True while `allows` would return False; unlike `allows`, it starts no attempt."""
        with self._lock:
            return bool(self._wait_s) and (self._is_probing or self._clock() < self._until)

    @property
    def status(self) -> dict[str, object]:
        """The state for `/status`."""
        with self._lock:
            if not self._wait_s:
                return {"paused": False}
            left = max(self._until - self._clock(), 0) / SECOND
            return {"paused": True, "reason": self._reason, "next_attempt_s": round(left, 1)}

    def allows(self, service: str = "") -> bool:
        """Whether the judge may be called for an answer of this service now.

        The caller must then `note` it.
        """
        with self._lock:
            if not self._wait_s or not self._is_blamed(service):
                return True
            if self._is_probing or self._clock() < self._until:
                return False
            self._is_probing = True
            return True

    def note(self, failure: JudgeFailure | None, service: str = "") -> None:
        """Report the result of an answer that was let through; only a total failure counts."""
        with self._lock:
            is_blamed = self._is_blamed(service)
            if is_blamed:
                self._is_probing = False
            if failure is None or not failure.is_total:
                self._recover()
                return
            self._row = self._row + 1 if failure.kind == self._reason else 1
            self._reason = failure.kind
            self._recent.append((failure.kind, service))
            if self._wait_s and is_blamed:
                # Answers that were in progress when the breaker opened do not extend the wait.
                if self._clock() >= self._until:
                    self._open(2 * self._wait_s)
            elif self._wait_s and self._blamed is not None and not failure.is_temporary:
                self._blame({*self._blamed, service})
            elif (
                self._row >= (TEMPORARY_FAILURES if failure.is_temporary else PERMANENT_FAILURES)
                or self._is_flood()
            ):
                failing = {one for kind, one in self._recent if kind == failure.kind}
                self._blame(None if failure.is_temporary else failing)
                self._open(FIRST_WAIT_S)

    def _is_blamed(self, service: str) -> bool:
        return self._blamed is None or service in self._blamed

    def _blame(self, services: set[str] | None) -> None:
        is_known = services is not None and len(services) <= MOST_BLAMED
        self._blamed = services if is_known else None

    def _is_flood(self) -> bool:
        failed = sum(kind == self._reason for kind, _ in self._recent)
        return failed >= FAILED_SHARE * WINDOW

    def _recover(self) -> None:
        self._row, self._reason = 0, ""
        self._recent.append(("", ""))
        if self._wait_s:
            self._wait_s, self._blamed = 0, None
            self._recent.clear()
            log.warning("%s answers again: postponed answers are verified now", self.judge)

    def _open(self, wait_s: int) -> None:
        self._wait_s = min(wait_s, LONGEST_WAIT_S)
        self._until = self._clock() + self._wait_s * SECOND
        log.error(
            "judging is paused: %d answers in a row failed (%s), judge %s; spans are stored, no "
            "answer is lost, next attempt in %d s; to diagnose: rt4chart doctor --judge NAME",
            self._row,
            self._reason,
            self.judge,
            self._wait_s,
        )
