"""A model's explanation of an issue, recorded in its trail: when asked for, or on a schedule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.judges.build import build_endpoint
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.llm.conversation import PromptSender
from otel_rt4chart.verify.llm.prices import PRICES, parse_prices
from rt4chart_clustering.core.defaults import EXPLAINED_FAILURES, MAX_TOKENS, MAX_TURNS
from rt4chart_clustering.explain.agent import Explanation, explain_issue
from rt4chart_clustering.explain.diagnosis import Diagnosis, diagnose, load_failures
from rt4chart_clustering.explain.finding import finding_row
from rt4chart_clustering.explain.toolbox import Toolbox
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.core.actors import SYSTEM_ACTOR
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import DAY_NS, Failure
from rt4chart_collector.store.issues.issue_events import IssueEvent, last_events, record_events
from rt4chart_collector.store.issues.issues import Issue, list_issues

# The kinds of events: a finding on the issue or on one trace of it, and an attempt without one.
CAUSE, TRACE_CAUSE, NO_CAUSE = "cause", "trace_cause", "no_cause"
# An attempt without a finding is repeated after a day.
RETRY_NS = DAY_NS


@dataclass(frozen=True, slots=True)
class ExplanationLimits:
    """How many turns and tokens a model has for one explanation."""

    turns: int = MAX_TURNS
    tokens: int = MAX_TOKENS


def explain_and_record(
    client: Client,
    issue: Issue,
    failures: Sequence[Failure],
    found: Diagnosis,
    settings: JudgeSettings,
    *,
    actor: str,
    now_ns: int,
    limits: ExplanationLimits = ExplanationLimits(),
    trace_id: str = "",
) -> Explanation:
    """Ask the model of the settings for the cause of these failures, and record what it found.

    With a `trace_id` the finding is one on that trace.
    """
    with build_endpoint(settings) as endpoint:
        explained = _explain(client, endpoint, issue, failures, found, settings, limits)
    finding, usage = explained.result.finding, explained.usage
    spent = usage.input_tokens + usage.output_tokens
    note = f"{settings.model}, {explained.result.turns} turns, {spent} tokens"
    if finding is None:
        event = IssueEvent(issue.id, now_ns, NO_CAUSE, explained.result.reason, note, actor)
    else:
        told = {**finding_row(finding), "model": settings.model, "trace_id": trace_id}
        kind, value = (TRACE_CAUSE if trace_id else CAUSE), json.dumps(told, ensure_ascii=False)
        event = IssueEvent(issue.id, now_ns, kind, value, note, actor)
    record_events(client, [event])
    return explained


def explain_due_issues(
    client: Client, settings: JudgeSettings, *, limit: int, now_ns: int
) -> Iterator[Issue]:
    """Explain the issues that need it, at most `limit`, those with the most claims first.

    Each is yielded when it is done: a new or regressed one without a finding since it became so.
    """
    for issue in due_issues(client, now_ns=now_ns)[:limit]:
        failures = load_failures(client, issue, limit=EXPLAINED_FAILURES)
        if failures:
            found = diagnose(client, failures)
            explain_and_record(
                client, issue, failures, found, settings, actor=SYSTEM_ACTOR, now_ns=now_ns
            )
            yield issue


def due_issues(client: Client, *, now_ns: int) -> list[Issue]:
    """The open issues that no model has explained since they regressed, the largest first."""
    last = last_events(client, (CAUSE, NO_CAUSE, "state"))
    due = [
        issue
        for issue in list_issues(client)
        if not IssueState(issue.state).is_closed
        and issue.claims
        and _needs_cause(last.get(issue.id, {}), now_ns)
    ]
    return sorted(due, key=lambda issue: (-issue.claims, issue.id))


def _needs_cause(last: Mapping[str, IssueEvent], now_ns: int) -> bool:
    cause, failed, state = last.get(CAUSE), last.get(NO_CAUSE), last.get("state")
    since_ns = state.at_ns if state and state.value == IssueState.REGRESSED else 0
    if cause is not None and cause.at_ns > since_ns:
        return False
    return failed is None or failed.at_ns < max(since_ns, now_ns - RETRY_NS)


def _explain(
    client: Client,
    endpoint: PromptSender,
    issue: Issue,
    failures: Sequence[Failure],
    found: Diagnosis,
    settings: JudgeSettings,
    limits: ExplanationLimits,
) -> Explanation:
    price = {**PRICES, **parse_prices(settings.prices)}.get(settings.model)
    tools = Toolbox(client, _facts(issue, found), list(failures))
    return explain_issue(endpoint, tools, turns=limits.turns, tokens=limits.tokens, price=price)


def _facts(issue: Issue, found: Diagnosis) -> dict[str, Any]:
    """What the model is told of the issue."""
    return {
        "id": hex_id(issue.id),
        "title": issue.title,
        "pattern": issue.fingerprint,
        "route": issue.route,
        "claims": issue.claims,
        "evidence_was": {str(lost): found.counts[lost] for lost in found.ordered},
    }
