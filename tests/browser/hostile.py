"""Answers whose every text tries to be markup, script, a formula or the end of the page."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.alerts.state import AlertEvent, Kind
from rt4chart_collector.store.alert_events import record
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.verdicts import insert_verdicts
from tests.browser.world import HOUR_NS, World

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "<img src=x onerror='window.hacked=1'>"
BREAKS = "\"'></textarea></title></style>--><svg/onload=window.hacked=1>{{7*7}}"
ROUND = "\u202eesrever\u202c\u2066x\u2069 =1+1"
SERVICE, ROUTE = f"shop{SCRIPT}", f"../{IMAGE}/{BREAKS}?x#y"


def fill_hostile(client: Client, now_ns: int) -> None:
    """A few of them, and an alert."""
    found = []
    for number, verdict in enumerate(World(now_ns, busy=0.05).verdicts()):
        candidate = verdict.candidate
        exchange = replace(candidate.exchange, question=f"{SCRIPT}{BREAKS}{ROUND}")
        has_all = number % 2 == 0
        hostile = replace(
            candidate,
            exchange=exchange,
            service=SERVICE if has_all else candidate.service,
            route=ROUTE if has_all else candidate.route,
            model=IMAGE,
            prompt_version=BREAKS if candidate.start_ns > now_ns - HOUR_NS else "1",
            release=SCRIPT,
            environment=ROUND,
        )
        report = verdict.report
        if report is not None:
            claims = tuple(replace(one, text=f"{IMAGE}{one.text}") for one in report.claims)
            report = replace(report, claims=claims)
        found.append(replace(verdict, candidate=hostile, report=report))
    insert_verdicts(client, found)
    facts: dict[str, object] = {
        SCRIPT: IMAGE,
        "since": BREAKS,
        "changed": [{"attribute": SCRIPT, "value": IMAGE, "share_before": 0.1}],
        "documents": [{"id": f"javascript:{SCRIPT}"}],
        "issues": [{"id": BREAKS, "title": IMAGE}],
        "worst_answers": [{"trace_id": BREAKS, "span_id": "//evil", "claim": SCRIPT}],
    }
    alert = Alert(Rule.ROUTE_DRIFT, Severity.CRITICAL, SERVICE, ROUTE, 0, SCRIPT + IMAGE, facts)
    record(client, [AlertEvent(alert, now_ns - HOUR_NS, Kind.FIRED, note=IMAGE)])
