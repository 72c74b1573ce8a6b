"""A route's fortnight in the store, with a bad release at its end, and a monitor over it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import AnswerLabel, Label
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.settings import AlertSettings, MonitorSettings
from rt4chart_collector.detect.monitor.monitor import Monitor
from rt4chart_collector.notify.alerting import Alerting
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR = 3600 * SECOND
DAY = 24 * HOUR
START = NOON // HOUR * HOUR
GOOD, BAD = (Label.ENTAILED,) * 3, (Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS)
_numbers = iter(range(1, 10**9))


class World:
    """Writes answers and moves a clock."""

    def __init__(self, client: Client, **settings: object) -> None:
        self.client = client
        self.now = START
        self._random = random.Random(7)  # noqa: S311 - a world, no secret
        self.monitor = self.another(**settings)

    def another(self, **settings: object) -> Monitor:
        """A monitor as of a process that starts now."""
        made = replace(MonitorSettings(), **settings)  # type: ignore[arg-type]
        return Monitor(
            self.client, made, Alerting(AlertSettings(), targets=()), clock=lambda: self.now
        )

    def answer(
        self,
        hours: float,
        an_hour: float,
        bad: float,
        *,
        route: str = "support",
        release: str = "1.0",
        sample_rate: float = 1.0,
        since_ns: int | None = None,
    ) -> None:
        """So many answers an hour, of which that share is bad, and move the clock behind them."""
        begin = self.now if since_ns is None else since_ns
        count = round(hours * an_hour)
        made = [
            self._verdict(begin + round((at + 0.5) * hours * HOUR / count), bad, route)
            for at in range(count)
        ]
        told = [
            replace(
                one,
                sample_rate=sample_rate,
                candidate=replace(one.candidate, release=release, route=route),
            )
            for one in made
        ]
        for page in _pages(told, 2000):
            insert_verdicts(self.client, page)
        self.now = max(self.now, begin + round(hours * HOUR))

    def alerts(self) -> list[Alert]:
        """Those that are open."""
        return [one.alert for one in open_alerts(self.client, now_ns=self.now)]

    def _verdict(self, at_ns: int, bad: float, route: str) -> Verdict:
        number = next(_numbers)
        is_bad = self._random.random() < bad
        made = verdict(
            number,
            BAD if is_bad else GOOD,
            route=route,
            start_ns=at_ns - number,
            decided_ns=at_ns + SECOND,
        )
        assert made.report is not None
        label = AnswerLabel.CONTRADICTED if is_bad else AnswerLabel.ENTAILED
        return replace(made, report=replace(made.report, label=label))


def _pages(rows: Sequence[Verdict], size: int) -> Iterator[Sequence[Verdict]]:
    for at in range(0, len(rows), size):
        yield rows[at : at + size]
