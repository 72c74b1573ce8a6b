"""The corrected rates of the last week in the monitor, stored for SQL and exports."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.rates.corrected import MIN_LABELS
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, corrected_rates
from rt4chart_collector.store.labels.draws import draws_in
from rt4chart_collector.store.labels.rate_history import label_state, write_corrected_rates

# Rates are of the last week; its judge is compared with that of the three weeks before, since
# verdicts are kept for a month.
PERIOD_NS, BEFORE_NS = 7 * DAY_NS, 21 * DAY_NS
# As many as may be watched; those with the most labels.
MAX_ROUTES = 10_000


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LabelledPeriods:
    """The corrected rates of the last week by route, and those of the weeks before."""

    rates: tuple[RouteRate, ...] = ()
    before: tuple[RouteRate, ...] = ()


class CorrectedRates:
    """The corrected rates of the last week, computed anew when labels change, and once an hour."""

    def __init__(self, client: Client) -> None:
        """Nothing is known before the first `update`."""
        self._client = client
        self._tick = -1
        self._state: tuple[str, int, str] | None = None
        self.known = LabelledPeriods()

    def update(self, verifier: str, now_ns: int) -> LabelledPeriods:
        """The rates as of this tick; those that were computed are stored."""
        tick = now_ns // TICK_NS
        is_new_verifier = self._state is not None and self._state[0] != verifier
        if tick == self._tick and not is_new_verifier:
            return self.known
        state = (verifier, now_ns // HOUR_NS, label_state(self._client))
        if state != self._state:
            self.known = self._read(verifier, now_ns) if verifier else LabelledPeriods()
            self._state = state
        self._tick = tick
        return self.known

    def _read(self, verifier: str, now_ns: int) -> LabelledPeriods:
        scope = QueryScope(now_ns - PERIOD_NS, now_ns, verifier)
        if not draws_in(self._client, scope):
            return LabelledPeriods()
        rates = _most_labelled(corrected_rates(self._client, scope))
        write_corrected_rates(self._client, rates, scope)
        earlier = scope.of_time(scope.since_ns - BEFORE_NS, scope.since_ns)
        is_compared = any(map(has_enough_labels, rates)) and draws_in(self._client, earlier)
        before = corrected_rates(self._client, earlier) if is_compared else []
        return LabelledPeriods(rates, tuple(before))


def _most_labelled(rates: Sequence[RouteRate]) -> tuple[RouteRate, ...]:
    """The routes that claims were drawn from, at most `MAX_ROUTES` of them."""
    drawn = [rate for rate in rates if rate.covered > 0]
    drawn.sort(key=lambda rate: (-rate.corrected.labels, rate.service, rate.route))
    if left_out := len(drawn[MAX_ROUTES:]):
        log.warning("the corrected rates of %d routes are not watched: the fewest labels", left_out)
    return tuple(drawn[:MAX_ROUTES])


def has_enough_labels(rate: RouteRate) -> bool:
    """True where labels suffice to say anything of the judge."""
    return rate.corrected.labels >= MIN_LABELS and not rate.corrected.more_labels
