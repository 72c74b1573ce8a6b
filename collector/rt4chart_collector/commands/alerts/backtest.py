"""`rt4chart alerts backtest`: the alarms that each rule would have raised."""

from __future__ import annotations

import argparse
import sys
import time

from rich.console import RenderableType

from otel_rt4chart.core.settings import load
from otel_rt4chart.verify.core.rates import Measure, Rate
from rt4chart_collector.commands.alerts.find_alert import open_store
from rt4chart_collector.core.alerts.alert import DRIFT_RULES
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.detect.drift.backtest import HISTORY_NS, Backtest, backtest
from rt4chart_collector.detect.drift.policy import DAY_NS, RULES
from rt4chart_collector.detect.monitor.route_detectors import drift_policy
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.ticks import route_ticks
from rt4chart_collector.store.rates.verifiers import main_verifier

EXPLANATIONS = {
    "evidence": "the drift detector",
    "threshold": "a fixed share of claims",
    "window": "a rise in points",
}


def run(options: argparse.Namespace) -> int:
    """Replay the stored ticks by each rule; nothing is written or sent."""
    settings, now = load(MonitorSettings), time.time_ns()
    since = now - options.days * DAY_NS
    with open_store(options) as client:
        verifier = options.verifier or main_verifier(client, now)
        scope = QueryScope(since - HISTORY_NS, now, verifier, options.service, options.route)
        measures = [Measure(name) for name in options.measure] or DRIFT_RULES
        routes = route_ticks(client, scope, *measures)
    if not routes:
        words = (
            f"no verified answers of {verifier or 'any verifier'} in that time; "
            "to add some: rt4chart backfill"
        )
        write([], words, as_json=options.json)
        return 0
    # As the monitor does: the false alarms are those of all routes together, of each measure.
    policy = drift_policy(settings, len({(route.service, route.route) for route in routes}))
    only = options.rule or RULES
    found = list(backtest(routes, policy, since_ns=since, until_ns=now, only=only))
    if options.json:
        write([_json(result) for result in found], "", as_json=True)
        return 0
    write(None, table(COUNTS, [_counts(result) for result in found]), as_json=False)
    for result in found:
        for part in _alarm_table(result, options.limit):
            sys.stdout.write("\n")
            write(None, part, as_json=False)
    return 0


COUNTS = (
    "rule",
    "meaning",
    "claims",
    "routes",
    "without a baseline",
    "alarms",
    "per route-month",
)
COLUMNS = ("rule", "claims", "service", "route", "rise began", "alarm", "ended", "before", "after")


def _counts(result: Backtest) -> tuple[str, ...]:
    return (
        *(result.rule, EXPLANATIONS.get(result.rule, ""), str(result.measure)),
        *(str(result.routes), str(result.cold)),
        *(str(len(result.alarms)), f"{result.per_route_month:.2f} in {result.route_months:.1f}"),
    )


def _alarm_table(found: Backtest, limit: int) -> list[RenderableType]:
    """The newest alarms of one rule, the oldest of them first."""
    if not found.alarms:
        return []
    rows = [
        (
            *(
                alarm.rule,
                str(found.measure),
                alarm.service or "–",
                alarm.route or "–",
                utc_time(alarm.began_ns),
            ),
            *(utc_time(alarm.paged_ns), utc_time(alarm.ended_ns) if alarm.ended_ns else "open"),
            *(_rate(alarm.before, alarm.before_claims), _rate(alarm.after, alarm.after_claims)),
        )
        for alarm in found.alarms[-limit:]
    ]
    more = len(found.alarms) - limit
    return [
        table(COLUMNS, rows),
        *([f"and {more} before: --limit {len(found.alarms)}"] if more > 0 else []),
    ]


def _rate(rate: Rate, claims: int) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return "–"
    return f"{rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}) of {claims}"


def _json(result: Backtest) -> dict[str, object]:
    return {
        "rule": result.rule,
        "measure": str(result.measure),
        "routes": result.routes,
        "without_baseline": result.cold,
        "route_months": result.route_months,
        "alarms_per_route_month": result.per_route_month,
        "alarms": [
            {
                "service": alarm.service,
                "route": alarm.route,
                "began_ns": alarm.began_ns,
                "paged_ns": alarm.paged_ns,
                "ended_ns": alarm.ended_ns,
                "before": _rate_json(alarm.before, alarm.before_claims),
                "after": _rate_json(alarm.after, alarm.after_claims),
            }
            for alarm in result.alarms
        ],
    }


def _rate_json(rate: Rate, claims: int) -> dict[str, object]:
    return {"rate": rate.value, "low": rate.low, "high": rate.high, "claims": claims}
