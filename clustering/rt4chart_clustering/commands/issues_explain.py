"""`rt4chart issues explain`: where the evidence was lost, and why, according to a model."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_clustering.commands.issues import issue_from
from rt4chart_clustering.commands.issues_table import clean_text, format_percent, name_value_grid
from rt4chart_clustering.explain.agent import Explanation
from rt4chart_clustering.explain.diagnosis import Diagnosis, diagnose, load_failures
from rt4chart_clustering.explain.explain_issues import ExplanationLimits, explain_and_record
from rt4chart_clustering.explain.finding import finding_row
from rt4chart_clustering.explain.loss_stage import STAGE_ADVICE, STAGE_NAMES
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.core.printing import write
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issues import Issue


@dataclass(frozen=True, slots=True)
class _IssueExplanation:
    """The counts, and a model's explanation if one was asked for."""

    issue: Issue
    diagnosis: Diagnosis
    explained: Explanation | None = None


def run(client: Client, options: argparse.Namespace, now_ns: int) -> int:
    """Count the stages; with --llm, ask the model and record its finding."""
    issue = issue_from(client, options)
    failures = load_failures(client, issue, limit=options.failures)
    if options.trace:
        failures = _of_trace(failures, options.trace)
    shown = _IssueExplanation(issue, diagnose(client, failures))
    if options.llm:
        settings = load(JudgeSettings)
        explained = explain_and_record(
            client,
            issue,
            failures,
            shown.diagnosis,
            replace(settings, model=options.model or settings.model),
            actor=actor_of(options),
            now_ns=now_ns,
            limits=ExplanationLimits(options.turns, options.tokens),
            trace_id=options.trace,
        )
        shown = replace(shown, explained=explained)
    write(_as_json(shown), _as_text(shown), as_json=options.json)
    if shown.explained is None or shown.explained.result.finding is not None:
        return 0
    sys.stderr.write(f"rt4chart issues explain: no finding: {shown.explained.result.reason}\n")
    return 1


def _of_trace(failures: list[Failure], trace_id: str) -> list[Failure]:
    """The failures of one trace; InputError if there are none among the issue's failures."""
    found = [failure for failure in failures if failure.trace_id == trace_id.lower()]
    if not found:
        raise InputError(
            f"--trace: expected the id of one of the issue's traces, got {trace_id[:64]!r}: "
            "`rt4chart issues ID` shows some"
        )
    return found


def _as_json(shown: _IssueExplanation) -> dict[str, Any]:
    diagnosis = shown.diagnosis
    value: dict[str, Any] = {
        "id": hex_id(shown.issue.id),
        "title": shown.issue.title,
        "failures": diagnosis.total,
        "of": shown.issue.claims,
        "stages": [
            {
                "stage": str(lost),
                "failures": diagnosis.counts[lost],
                "share": round(diagnosis.share(lost), 4),
                "traces": list(diagnosis.traces[lost]),
                "advice": STAGE_ADVICE[lost],
            }
            for lost in diagnosis.ordered
        ],
    }
    if shown.explained is not None:
        ended, usage = shown.explained.result, shown.explained.usage
        value["finding"] = None if ended.finding is None else finding_row(ended.finding)
        value["why_none"] = ended.reason
        value["turns"] = ended.turns
        value["tokens"] = usage.input_tokens + usage.output_tokens
        value["cost_usd"] = usage.cost_usd
    return value


def _as_text(shown: _IssueExplanation) -> RenderableType:
    diagnosis = shown.diagnosis
    lines: list[tuple[str, Text]] = []
    for lost in diagnosis.ordered:
        name = f"{diagnosis.counts[lost]:6} {format_percent(diagnosis.share(lost)):>5}"
        lines += [
            ("", Text()),
            (name, Text(STAGE_NAMES[lost], "bold")),
            ("", Text(STAGE_ADVICE[lost])),
        ]
        lines.append(("", Text(f"for example, trace {', '.join(diagnosis.traces[lost])}", "dim")))
    if shown.explained is not None and (finding := shown.explained.result.finding) is not None:
        lines += [
            ("", Text()),
            ("cause", clean_text(finding.cause)),
            ("immediate fix", clean_text(finding.immediate_fix)),
        ]
        for quote in finding.quotes:
            where = f"{quote.trace_id} {quote.passage_id or quote.span_id}"
            lines.append(("quote", clean_text(f"“{quote.text}” ({where})")))
        scores = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in finding.scores.items())
        lines.append(("of 5", Text(scores)))
    title = Text(clean_text(shown.issue.title).plain, "bold")
    looked = f"where the evidence of {diagnosis.total} of {shown.issue.claims} failures was lost"
    return Group(title, Text(looked), name_value_grid(lines))
