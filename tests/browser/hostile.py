"""Answers whose every text tries to be markup, script, a formula or the end of the page."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    AnswerRange,
    Claim,
    ClaimStatus,
    Edit,
    Evidence,
    Exchange,
    Finding,
    Label,
)
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.core.alerts.stored_facts import facts_from_json
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.browser.world import HOUR_NS, World
from tests.rt4chart_collector.console.pages.answer_data import (
    ANSWER,
    candidate,
    claims,
    spans,
    verdict,
)

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "<img src=x onerror='window.hacked=1'>"
BREAKS = "\"'></textarea></title></style>--><svg/onload=window.hacked=1>{{7*7}}"
ROUND = "\u202eesrever\u202c\u2066x\u2069 =1+1"
MARKDOWN = "# **x** [x](javascript:alert(1)) ![x](https://example.com/x.png) `x` | - | <b>"
LONG = "w\u00f6rd" * 600
WORDS = f"{SCRIPT}{IMAGE}{BREAKS} {ROUND} {MARKDOWN} nul:\x00 {LONG}"
VAST = "c" * 32
SERVICE, ROUTE = f"shop{SCRIPT}", f"../{IMAGE}/{BREAKS}?x#y"


def fill_hostile(client: Client, now_ns: int) -> None:
    """A few of them, one with all its spans, one that is very long, and an alert."""
    _whole(client)
    _vast(client)
    found = []
    for number, decided in enumerate(World(now_ns, busy=0.05).verdicts()):
        answered = decided.candidate
        exchange = replace(answered.exchange, question=WORDS)
        has_all = number % 2 == 0
        hostile = replace(
            answered,
            exchange=exchange,
            service=SERVICE if has_all else answered.service,
            route=ROUTE if has_all else answered.route,
            model=IMAGE,
            prompt_version=BREAKS if answered.start_ns > now_ns - HOUR_NS else "1",
            release=SCRIPT,
            environment=ROUND,
        )
        report = decided.report
        if report is not None:
            claims = tuple(replace(one, text=f"{one.text} {WORDS}") for one in report.claims)
            report = replace(report, claims=claims)
        found.append(replace(decided, candidate=hostile, report=report))
    insert_verdicts(client, found)
    stored: dict[str, object] = {
        SCRIPT: IMAGE,
        "since": BREAKS,
        "changed": [{"attribute": SCRIPT, "value": IMAGE, "share_before": 0.1}],
        "documents": [{"id": f"javascript:{SCRIPT}"}],
        "issues": [{"id": BREAKS, "title": IMAGE}],
        "worst_answers": [{"trace_id": BREAKS, "span_id": "//evil", "claim": SCRIPT}],
    }
    facts = facts_from_json(Rule.ROUTE_DRIFT, stored)
    alert = Alert(Rule.ROUTE_DRIFT, Severity.CRITICAL, SERVICE, ROUTE, 0, SCRIPT + IMAGE, facts)
    record_alert_events(
        client, [AlertEvent(alert, now_ns - HOUR_NS, AlertEventKind.FIRED, note=IMAGE)]
    )


def _whole(client: Client) -> None:
    """An answer whose passages and trace are shown."""
    answer = f"{ANSWER} {WORDS}"
    insert_spans(client, spans(answer, WORDS))
    insert_verdicts(client, [_misleading(verdict(candidate(answer, WORDS), claims(answer)))])


def _misleading(made: Verdict) -> Verdict:
    """The verdict with its entailed claim cherry-picked, hostile findings, and hostile edits."""
    assert made.report is not None
    wrong, free, baseless = made.report.claims
    limit = Evidence("kb-2", 0, 23, "Our office is in Lisbon", "limits")
    status = ClaimStatus.CHERRY_PICKED
    picked = replace(free, status=status, evidence=(*free.evidence, limit))
    told = Finding("cherry_picked", f"“{WORDS}” “office”", kind=IMAGE, claim=1)
    edits = (Edit(4, 9, WORDS, 0, BREAKS),)
    report = replace(
        made.report,
        claims=(wrong, picked, baseless),
        findings=(*made.report.findings, told),
        advice=Advice(Action.REVISE, SCRIPT, edits),
    )
    return replace(made, report=report)


def _vast(client: Client) -> None:
    """An answer of 50,000 words with 10,000 claims."""
    sentences = [f"Sentence {at:05} says so much." for at in range(10_000)]
    answer, labels = " ".join(sentences), (Label.ENTAILED,) * 9 + (Label.CONTRADICTED,)
    given, at = list[Claim](), 0
    for number, text in enumerate(sentences):
        label = labels[number % len(labels)]
        place = AnswerRange(at, at + len(text))
        given.append(Claim(text, label, label, 0.75, "local", "numeric", place, number))
        at += len(text) + 1
    found = replace(candidate(), trace_id=VAST, exchange=Exchange(WORDS, (), answer))
    insert_verdicts(client, [verdict(found, tuple(given))])
