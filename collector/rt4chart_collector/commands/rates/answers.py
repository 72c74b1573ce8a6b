"""`rt4chart answers`: the list of answers."""

from __future__ import annotations

import argparse
import time
from typing import Any

from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import one_line
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.core.times import iso, utc_time
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.lists.answer_filter import AnswerFilter, of_any_time
from rt4chart_collector.store.lists.answer_list import ListedAnswer, answer_page
from rt4chart_collector.store.rates.verifiers import main_verifier
from rt4chart_collector.store.schema.tenant_client import seen_by

TEXT_CHARS = 90
NAMES = ("time", "verdict", "unfaithful", "misleading", "route", "question", "trace")


def execute(options: argparse.Namespace) -> int:
    """Print the matching answers."""
    dsn, now_ns = load(ServiceSettings, {"dsn": options.dsn}).dsn, time.time_ns()
    with open_database(dsn, needs="rt4chart_verifications") as client:
        client = seen_by(client, options.tenant)
        verifier = options.verifier or main_verifier(client, now_ns) or None
        scope = QueryScope(now_ns - options.since * 10**9, now_ns, verifier)
        selection = of_any_time(AnswerFilter(scope, terms=options.filter))
        page = answer_page(client, selection, order=options.order, limit=options.limit)
    more = "" if page.after is None else f"There are more than {options.limit}: --limit N"
    if options.json:
        write([_row(answer) for answer in page.rows], "", as_json=True)
        return 0
    lines = table(NAMES, [_cells(answer, selection) for answer in page.rows], title="question")
    write(None, lines if page.rows else "No matching answers.", as_json=False)
    if more:
        write(None, more, as_json=False)
    return 0


def _row(answer: ListedAnswer) -> dict[str, Any]:
    return {
        "time": iso(answer.start_ns),
        "trace_id": answer.trace_id,
        "span_id": answer.span_id,
        "verifier": answer.verifier,
        "service": answer.service,
        "route": answer.route,
        "decision": str(answer.decision),
        "verdict": answer.label,
        "unfaithful": answer.counts.unfaithful,
        "misleading": answer.misleading.count,
        "decided": answer.counts.decided,
        "statuses": sorted(answer.statuses),
        "model": answer.model,
        "prompt_version": answer.prompt_version,
        "release": answer.release,
        "question": answer.question,
        "claim": answer.worst.text,
        "found": answer.found,
    }


def _cells(answer: ListedAnswer, selection: AnswerFilter) -> tuple[str, ...]:
    counts = answer.counts
    shown = answer.found if selection.words else answer.question or answer.answer
    return (
        utc_time(answer.start_ns),
        answer.label or str(answer.decision).replace("_", " "),
        f"{counts.unfaithful} of {counts.decided}",
        str(answer.misleading.count),
        answer.route or answer.service or "–",
        one_line(shown, TEXT_CHARS, selection.words),
        answer.trace_id,
    )
