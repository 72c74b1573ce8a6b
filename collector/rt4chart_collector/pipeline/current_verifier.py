"""The verifier that workers use now: the judge with the recalibration that the store has."""

from __future__ import annotations

import logging
from threading import Lock

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.recalibrations import recalibration_in_force

# A change takes effect within this time and the answer in work.
REFRESH_NS = 15 * 10**9

log = logging.getLogger(__name__)


class CurrentVerifier:
    """A verifier that follows the recalibration of its judge; threads may share it."""

    def __init__(self, verifier: Verifier, clock: Clock) -> None:
        """`verifier` has no recalibration; none is in force before the first `get`."""
        self._judge = verifier.judge.id
        self._clock = clock
        self._lock = Lock()
        self._not_before = 0
        self._verifier = verifier

    @property
    def id(self) -> str:
        """The id of the verifier that was current at the last `get`."""
        return self._verifier.id

    def get(self, client: Client) -> Verifier:
        """The verifier; what the store says is read at most every 15 seconds.

        Where that fails, the last one stays.
        """
        with self._lock:
            now = self._clock()
            if now < self._not_before:
                return self._verifier
            self._not_before = now + REFRESH_NS
            before = self._verifier.id
            try:
                found = recalibration_in_force(client, self._judge)
            except (RT4ChartError, ValueError) as error:
                log.warning("recalibrations not read, %s stays: %s", before, redacted_error(error))
                return self._verifier
            self._verifier = self._verifier.recalibrated(found)
            if self._verifier.id != before:
                log.info("the verifier is %s from now on, %s before", self._verifier.id, before)
            return self._verifier
