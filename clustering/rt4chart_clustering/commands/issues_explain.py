"""`rt4chart issues explain`: where the evidence was lost, and with a model why."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.build import build_endpoint
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.llm.prices import PRICES, parse_prices
from rt4chart_clustering.commands.issues_table import clean, pairs, percent
from rt4chart_clustering.commands.issues_verb import Verb, actor_of, chosen, with_id, write
from rt4chart_clustering.explain.agent import TURNS
from rt4chart_clustering.explain.diagnosis import Diagnosis, diagnose
from rt4chart_clustering.explain.finding import finding_row
from rt4chart_clustering.explain.members import failures_of
from rt4chart_clustering.explain.run import TOKENS, Explained, explain
from rt4chart_clustering.explain.stage import ADVICE, WORDS
from rt4chart_clustering.explain.toolbox import Toolbox
from rt4chart_clustering.triage.find import shown_id
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issue_events import Event, record
from rt4chart_collector.store.issues.issues import Issue

MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Told:
    """What there is to tell: the counts, and what a model made of it, if one was asked."""

    issue: Issue
    diagnosis: Diagnosis
    explained: Explained | None = None


def run(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Count the stages; ask the model where that is wanted, and keep its finding."""
    issue = chosen(client, options)
    failures = failures_of(client, issue, limit=options.failures)
    told = _Told(issue, diagnose(client, failures))
    if options.llm:
        told = replace(told, explained=_asked(client, told, failures, options, now_ns))
    write(_as_json(told), _in_words(told), as_json=options.json)
    if told.explained is None or told.explained.ended.finding is not None:
        return 0
    sys.stderr.write(f"rt4chart issues explain: no finding: {told.explained.ended.why}\n")
    return 1


def _asked(
    client: Client,
    told: _Told,
    failures: list[Failure],
    options: argparse.Namespace,
    now_ns: int,
) -> Explained:
    settings = load(JudgeSettings)
    settings = replace(settings, model=options.model or settings.model)
    actor = actor_of(options)
    price = {**PRICES, **parse_prices(settings.prices)}.get(settings.model)
    tools = Toolbox(client, _about(told), failures)
    with build_endpoint(settings) as endpoint:
        explained = explain(
            endpoint, tools, turns=options.turns, tokens=options.tokens, price=price
        )
    finding, usage = explained.ended.finding, explained.usage
    if finding is not None:
        spent = usage.input_tokens + usage.output_tokens
        value = json.dumps({**finding_row(finding), "model": settings.model}, ensure_ascii=False)
        note = f"{settings.model}, {explained.ended.turns} turns, {spent} tokens"
        record(client, [Event(told.issue.id, now_ns, "cause", value, note, actor)])
    return explained


def _about(told: _Told) -> dict[str, Any]:
    """What the agent is told of the issue."""
    issue = told.issue
    return {
        "id": shown_id(issue),
        "title": issue.title,
        "pattern": issue.fingerprint,
        "route": issue.route,
        "claims": issue.claims,
        "evidence_was": {str(lost): told.diagnosis.counts[lost] for lost in told.diagnosis.ordered},
    }


def _as_json(told: _Told) -> dict[str, Any]:
    diagnosis = told.diagnosis
    value: dict[str, Any] = {
        "id": shown_id(told.issue),
        "title": told.issue.title,
        "failures": diagnosis.total,
        "of": told.issue.claims,
        "stages": [
            {
                "stage": str(lost),
                "failures": diagnosis.counts[lost],
                "share": round(diagnosis.share(lost), 4),
                "traces": list(diagnosis.traces[lost]),
                "advice": ADVICE[lost],
            }
            for lost in diagnosis.ordered
        ],
    }
    if told.explained is not None:
        ended, usage = told.explained.ended, told.explained.usage
        value["finding"] = None if ended.finding is None else finding_row(ended.finding)
        value["why_none"] = ended.why
        value["turns"] = ended.turns
        value["tokens"] = usage.input_tokens + usage.output_tokens
        value["cost_usd"] = usage.cost_usd
    return value


def _in_words(told: _Told) -> RenderableType:
    diagnosis = told.diagnosis
    lines: list[tuple[str, Text]] = []
    for lost in diagnosis.ordered:
        name = f"{diagnosis.counts[lost]:6} {percent(diagnosis.share(lost)):>5}"
        lines += [("", Text()), (name, Text(WORDS[lost], "bold")), ("", Text(ADVICE[lost]))]
        lines.append(("", Text(f"such as trace {', '.join(diagnosis.traces[lost])}", "dim")))
    if told.explained is not None and (finding := told.explained.ended.finding) is not None:
        lines += [("", Text()), ("cause", clean(finding.cause)), ("fix", clean(finding.fix))]
        for quote in finding.quotes:
            where = f"{quote.trace_id} {quote.passage_id or quote.span_id}"
            lines.append(("quote", clean(f"“{quote.text}” ({where})")))
        scores = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in finding.scores.items())
        lines.append(("of 5", Text(scores)))
    title = Text(clean(told.issue.title).plain, "bold")
    looked = f"where the evidence of {diagnosis.total} of {told.issue.claims} failures was lost"
    return Group(title, Text(looked), pairs(lines))


def _configure(parser: argparse.ArgumentParser) -> None:
    with_id(parser)
    parser.add_argument(
        "--failures", type=int, default=MOST, metavar="N", help=f"looked at (default {MOST})"
    )
    parser.add_argument("--llm", action="store_true", help="let a model read the traces too")
    parser.add_argument("--model", help="that model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--turns", type=int, default=TURNS, metavar="N", help=f"its turns (default {TURNS})"
    )
    parser.add_argument(
        "--tokens", type=int, default=TOKENS, metavar="N", help=f"its tokens (default {TOKENS})"
    )


_HELP = "where the evidence was lost; --llm: why"
VERBS = (Verb("explain", "explain ID", _HELP, _configure, run, ("by",)),)
