"""The breaker: a judge that fails again and again is left alone for a while, then tried once."""

from __future__ import annotations

import logging
import threading
from collections import deque

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.judge_failure import JudgeFailure

SECOND = 10**9
# So many in a row for one reason; what is the answers' own fault is borne longer.
PASSING, LASTING = 5, 20
WINDOW, SHARE = 50, 0.8
FIRST_WAIT_S, LONGEST_WAIT_S = 30, 600

log = logging.getLogger(__name__)


class Breaker:
    """Says whether a judge may be asked; any thread may ask, and must then `note` what came of it.

    It opens where `PASSING` answers in a row (`LASTING`, where no later attempt would help), or
    `SHARE` of the last `WINDOW`, fail for one reason. After a wait one answer is let through: it
    closes the breaker, or doubles the wait.
    """

    def __init__(self, judge: str, clock: Clock) -> None:
        """Closed; `judge` names it in the log, `clock` tells nanoseconds."""
        self.judge = judge
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: deque[str] = deque(maxlen=WINDOW)
        self._row = 0
        self._reason = ""
        self._wait_s = 0
        self._until = 0
        self._is_probing = False

    @property
    def is_paused(self) -> bool:
        """True while no answer would be let through, not even one."""
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

    def allows(self) -> bool:
        """Whether the judge may be asked about one answer now."""
        with self._lock:
            if not self._wait_s:
                return True
            if self._is_probing or self._clock() < self._until:
                return False
            self._is_probing = True
            return True

    def note(self, failure: JudgeFailure | None) -> None:
        """What came of an answer that was let through; a judge that said something did not fail."""
        with self._lock:
            self._is_probing = False
            if failure is None or not failure.is_total:
                self._recover()
                return
            self._row = self._row + 1 if failure.kind == self._reason else 1
            self._reason = failure.kind
            self._recent.append(failure.kind)
            if self._wait_s:
                # What was under way when it opened says nothing new.
                if self._clock() >= self._until:
                    self._open(2 * self._wait_s)
            elif self._row >= (PASSING if failure.is_temporary else LASTING) or self._is_flood():
                self._open(FIRST_WAIT_S)

    def _is_flood(self) -> bool:
        return self._recent.count(self._reason) >= SHARE * WINDOW

    def _recover(self) -> None:
        self._row, self._reason = 0, ""
        self._recent.append("")
        if self._wait_s:
            self._wait_s = 0
            self._recent.clear()
            log.warning("%s answers again: judging goes on with what was put off", self.judge)

    def _open(self, wait_s: int) -> None:
        self._wait_s = min(wait_s, LONGEST_WAIT_S)
        self._until = self._clock() + self._wait_s * SECOND
        log.error(
            "judging is paused: %d answers in a row failed (%s), judge %s; spans are stored, no "
            "answer is lost, and one is tried in %d s; what is wrong: rt4chart doctor --judge NAME",
            self._row,
            self._reason,
            self.judge,
            self._wait_s,
        )
