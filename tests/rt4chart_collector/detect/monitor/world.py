"""A route's fortnight in the store, with a bad release at its end, and a monitor over it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import AnswerLabel, CheckPlan, ClaimStatus, Label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.settings import AlertSettings, MonitorSettings
from rt4chart_collector.detect.monitor.monitor import Monitor
from rt4chart_collector.notify.alerting import Alerting
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.schema.migrate import LEDGER_TABLE
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR = 3600 * SECOND
DAY = 24 * HOUR
START = NOON // HOUR * HOUR
EVERY_CHECK = CheckPlan()
GOOD, BAD = (Label.ENTAILED,) * 3, (Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS)
FILLED = """
SELECT DISTINCT table FROM system.parts
WHERE active AND database = currentDatabase() AND table != {ledger:String}
"""
_numbers = iter(range(1, 10**9))


class World:
    """Writes answers and moves a clock."""

    def __init__(self, client: Client, **settings: object) -> None:
        self.client = client
        self._settings = settings
        self.now = START
        self._random = random.Random(7)  # noqa: S311 - a world, no secret
        self.monitor = self.another(**settings)

    def copied(self, client: Client) -> World:
        """The same world in another database: its rows as they are, at the same moment."""
        made = World(client, **self._settings)
        made.now = self.now
        made._random.setstate(self._random.getstate())
        for (table,) in self.client.query(FILLED, {"ledger": LEDGER_TABLE}).result_rows:
            source = f"{self.client.database}.{table}"
            client.command(f"ALTER TABLE {table} ATTACH PARTITION ALL FROM {source}")
        return made

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
        measure: Measure = Measure.UNFAITHFUL,
        plan: CheckPlan = EVERY_CHECK,
        question: str = "How long?",
    ) -> None:
        """Store so many answers an hour, that share of them bad, and move the clock past them.

        A bad answer has two unfaithful claims or a misleading one, as the measure says.
        """
        begin = self.now if since_ns is None else since_ns
        count = round(hours * an_hour)
        made = [
            self._verdict(begin + round((at + 0.5) * hours * HOUR / count), bad, route, measure)
            for at in range(count)
        ]
        answers = [
            replace(
                one,
                sample_rate=sample_rate,
                report=replace(one.report, plan=plan) if one.report else None,
                candidate=replace(
                    one.candidate,
                    release=release,
                    route=route,
                    exchange=replace(one.candidate.exchange, question=question),
                ),
            )
            for one in made
        ]
        for page in _pages(answers, 2000):
            insert_verdicts(self.client, page)
        self.now = max(self.now, begin + round(hours * HOUR))

    def alerts(self) -> list[Alert]:
        """Those that are open."""
        return [one.alert for one in open_alerts(self.client, now_ns=self.now)]

    def _verdict(self, at_ns: int, bad: float, route: str, measure: Measure) -> Verdict:
        number = next(_numbers)
        is_bad = self._random.random() < bad
        misleads = is_bad and measure is Measure.MISLEADING
        made = verdict(
            number,
            BAD if is_bad and not misleads else GOOD,
            route=route,
            start_ns=at_ns - number,
            decided_ns=at_ns + SECOND,
        )
        assert made.report is not None
        label = AnswerLabel.CONTRADICTED if is_bad and not misleads else AnswerLabel.ENTAILED
        claims = list(made.report.claims)
        if misleads:
            claims[1] = replace(claims[1], status=ClaimStatus.CHERRY_PICKED)
        return replace(made, report=replace(made.report, label=label, claims=tuple(claims)))


def _pages(rows: Sequence[Verdict], size: int) -> Iterator[Sequence[Verdict]]:
    for at in range(0, len(rows), size):
        yield rows[at : at + size]
