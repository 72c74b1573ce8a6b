"""The list of answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import AnswerLabel, ClaimStatus, status_label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.answers.answer_page import ANSWER_PAGES
from rt4chart_collector.console.answers.suggestions import suggest
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.view.filter_terms import read_terms
from rt4chart_collector.console.view.filters import (
    link,
    shortened,
    verdict_label,
    visible,
    when,
)
from rt4chart_collector.console.view.found_words import with_found_words
from rt4chart_collector.console.view.paging import EXPORT_ROWS, page_size
from rt4chart_collector.console.view.params import (
    bad_request,
    choice_param,
    integer_param,
    text_param,
)
from rt4chart_collector.console.view.request_url import request_url
from rt4chart_collector.console.view.table import (
    EMPTY_CELL,
    HTML,
    Column,
    Table,
    format_param,
    with_chosen_columns,
)
from rt4chart_collector.console.view.urls import answer_url, route_url
from rt4chart_collector.core.filters.filter_language import MAX_CHARS, FilterTerm
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.answers.verifications import Checked
from rt4chart_collector.store.lists.answer_filter import ANSWER_KEYS, AnswerFilter, of_any_time
from rt4chart_collector.store.lists.answer_list import AnswerPage, ListedAnswer, answer_page
from rt4chart_collector.store.lists.candidates import AnswerCursor, Order

# What links of other pages ask for, each with its name on the page.
FILTERS = {
    "service": "service",
    "route": "route",
    "model": "model",
    "prompt_version": "prompt version",
    "release": "release",
    "environment": "environment",
    "verifier": "judge",
}
EXACT = ("model", "prompt_version", "release", "environment")
LABELS = ("", *map(str, AnswerLabel))
MEASURES = {
    "": "all",
    Measure.UNFAITHFUL: "with unfaithful claims",
    Measure.MISLEADING: "with misleading claims",
    Measure.EITHER: "with either",
}
STATUSES = {
    "": "any",
    **{str(one): one.label for one in ClaimStatus if one is not ClaimStatus.NOT_A_CLAIM},
}
DECISIONS = ("", *map(str, Decision))
ORDERS: tuple[Order, ...] = ("newest", "worst")
CURSOR = re.compile(r"([0-9]{1,19})~([0-9]{1,5})~([^~]{1,128})~([^~]{1,128})~(.{0,200})", re.DOTALL)
EMPTY = (
    "No matching answers. Choose a longer time range or remove filters. If there are no answers at "
    "all, send traces (docs/instrument/application.md) or run rt4chart demo."
)


def show_answers(console: Console, request: Request) -> Response:
    """GET /answers; status 400 and an empty list for a filter that cannot be read."""
    written = text_param(request, "q", longest=MAX_CHARS)
    terms, problem = read_terms(request, written, ANSWER_KEYS)
    selection = _filter_from(console, request, terms)
    order: Order = order_param(request)
    limit = integer_param(request, "limit", default=page_size(request), low=1, high=EXPORT_ROWS)
    page = AnswerPage((), None)
    if not problem:
        with console.store() as client:
            page = answer_page(
                client, selection, order=order, after=cursor_param(request), limit=limit
            )
    more = _next_page_url(request, page.after) if page.after else ""
    columns, title = _columns(selection.words), f"{order.capitalize()} first"
    table = Table("answers", title, page.rows, columns, EMPTY, more=more)
    return console.tables(
        request,
        [with_chosen_columns(request, table, extra=EXTRA)],
        "answers.html",
        title="Answers",
        status=400 if problem else 200,
        selection=selection,
        written=written,
        problem=problem,
        keys=ANSWER_KEYS,
        chosen={
            name: (title, value)
            for name, title in FILTERS.items()
            if (value := text_param(request, name))
        },
        order=order,
        labels=LABELS,
        measures=MEASURES,
        statuses=STATUSES,
        decisions=DECISIONS,
        orders=ORDERS,
    )


def order_param(request: Request) -> Order:
    """`?order=`."""
    found = choice_param(request, "order", ORDERS, "newest")
    return "worst" if found == "worst" else "newest"


def cursor_param(request: Request) -> AnswerCursor | None:
    """`?after=`, which the link to the next page sets."""
    after = text_param(request, "after")
    if not after:
        return None
    found = CURSOR.fullmatch(after)
    if found is None or int(found[1]) >= 2**63:
        raise bad_request("after", "the value from a link to the next page", after)
    return AnswerCursor(int(found[1]), found[3], found[4], found[5], int(found[2]))


def _next_page_url(request: Request, cursor: AnswerCursor) -> str:
    values = (cursor.at_ns, cursor.failures, cursor.trace_id, cursor.span_id, cursor.verifier)
    kind = format_param(request)
    table = {} if kind == HTML else {"format": kind, "table": "answers"}
    return request_url(request).replace(after="~".join(map(str, values)), **table)


def _filter_from(console: Console, request: Request, terms: Sequence[FilterTerm]) -> AnswerFilter:
    """The filter of the page: the terms of its box, its choices, and what a link asked for."""
    verifier = text_param(request, "verifier")
    scope = console.route_scope(request)
    if verifier != "*":
        scope = replace(scope, verifier=console.verifier(request) or None)
    # ?label=unfaithful is in older links, from before there were measures.
    label = choice_param(request, "label", (*LABELS, Measure.UNFAITHFUL), "")
    old = label if label == Measure.UNFAITHFUL else ""
    measure = choice_param(request, "measure", tuple(MEASURES), old)
    selection = AnswerFilter(
        scope=scope,
        decision=choice_param(request, "decision", DECISIONS, ""),
        label="" if label == Measure.UNFAITHFUL else label,
        status=choice_param(request, "status", tuple(STATUSES), ""),
        measure=Measure(measure) if measure else None,
        terms=terms,
        **{name: text_param(request, name) for name in EXACT},
    )
    found = of_any_time(selection)
    if verifier in ("", "*"):
        return found
    # The judge that the address names, of a trace too.
    return replace(found, scope=replace(found.scope, verifier=verifier))


def _columns(words: Sequence[str]) -> Sequence[Column[ListedAnswer]]:
    """The columns; after a search the question has what was found, with the words marked."""
    if not words:
        return COLUMNS
    found = replace(QUESTION, render=partial(_found_cell, words))
    return [found if column is QUESTION else column for column in COLUMNS]


def _found_cell(words: Sequence[str], row: ListedAnswer) -> Markup:
    question = with_found_words(row.question or row.answer, 110, words)
    asked = Markup('<a class="asked" href="{}"><bdi>{}</bdi></a>').format(
        answer_url(row.trace_id, row.span_id), question or EMPTY_CELL
    )
    if "<mark>" in question:
        return asked
    around = with_found_words(row.found, 160, words, is_cut=row.found_at > 1)
    return asked + Markup('<span class="found"><bdi>{}</bdi></span>').format(around)


def _question_cell(row: ListedAnswer) -> Markup:
    return Markup('<a class="asked" href="{}"><bdi>{}</bdi></a>').format(
        answer_url(row.trace_id, row.span_id),
        shortened(visible(row.question or row.answer), 110) or "–",
    )


def _claim_cell(row: ListedAnswer) -> Markup | str:
    if row.worst.text:
        kind = "misleading" if row.worst.label == "entailed" else row.worst.label
        return Markup('<a class="guilty guilty-{}" href="{}"><bdi>{}</bdi></a>').format(
            kind,
            answer_url(row.trace_id, row.span_id, row.worst.index),
            shortened(visible(row.worst.text), 140, [visible(row.worst.difference)]),
        )
    return Markup('<span class="rest"><bdi>{}</bdi></span>').format(
        shortened(visible(row.answer), 140) or "–"
    )


def _verdict_cell(row: ListedAnswer) -> Markup:
    if row.decision != Decision.VERIFIED:
        return Markup('<span class="quiet">not verified: {}</span>').format(
            row.decision.replace("_", " ")
        )
    told = Markup("").join(
        Markup(' <span class="status">{}</span>').format(status_label(name))
        for name in _statuses(row)
        if name not in (row.label, ClaimStatus.SUPPORTED)
    )
    return verdict_label(row) + told


def _statuses(row: ListedAnswer) -> list[str]:
    """The statuses of the answer's claims, the worst first."""
    order = {str(status): at for at, status in enumerate(ClaimStatus)}
    return sorted(row.statuses, key=lambda name: (order.get(name, len(order)), name))


def _unfaithful_cell(row: ListedAnswer) -> str:
    counts = row.counts
    return f"{counts.unfaithful} of {counts.decided}" if counts.decided else EMPTY_CELL


def _misleading_cell(row: ListedAnswer) -> Markup | str:
    if row.misleading.checked is Checked.NO or not row.counts.decided:
        return EMPTY_CELL
    text = f"{row.misleading.count} of {row.counts.decided}"
    if row.misleading.checked is Checked.FULLY:
        return text
    return Markup('<span title="not all checks were run on this answer">{}, in part</span>').format(
        text
    )


QUESTION: Column[ListedAnswer] = Column(
    "question", "Question", lambda row: row.question, _question_cell, is_lead=True
)
# Columns that a reader can add to the page.
EXTRA = ("service", "release", "prompt_version", "verifier", "decision", "trace_id", "action")
COLUMNS: Sequence[Column[ListedAnswer]] = (
    Column("time", "Time", lambda row: iso(row.start_ns), lambda row: when(row.start_ns)),
    Column("verdict", "Verdict", lambda row: row.label, _verdict_cell),
    Column(
        "unfaithful",
        "Unfaithful",
        lambda row: row.counts.unfaithful,
        _unfaithful_cell,
        is_number=True,
        hint="contradicted or baseless claims, of the decided claims",
    ),
    Column(
        "misleading",
        "Misleading",
        lambda row: row.misleading.count,
        _misleading_cell,
        is_number=True,
        hint="entailed claims that mislead, of the decided claims; – where that was not checked",
    ),
    QUESTION,
    Column(
        "claim",
        "First failed claim or answer",
        lambda row: row.worst.text,
        _claim_cell,
        is_lead=True,
    ),
    Column(
        "route",
        "Route",
        lambda row: row.route,
        lambda row: link(route_url(row.service, row.route), visible(row.route or row.service)),
    ),
    Column(
        "model",
        "Model",
        lambda row: row.model,
        lambda row: visible(row.model) or EMPTY_CELL,
        is_minor=True,
    ),
    Column("trace_id", "Trace", lambda row: row.trace_id, is_exported_only=True),
    Column("span_id", "Span", lambda row: row.span_id, is_exported_only=True),
    Column("verifier", "Verifier", lambda row: row.verifier, is_exported_only=True),
    Column("service", "Service", lambda row: row.service, is_exported_only=True),
    Column("decision", "Decision", lambda row: row.decision, is_exported_only=True),
    Column("sample_rate", "Sampled", lambda row: row.sample_rate, is_exported_only=True),
    Column("prompt_version", "Prompt", lambda row: row.prompt_version, is_exported_only=True),
    Column("release", "Release", lambda row: row.release, is_exported_only=True),
    Column("decided", "Decided", lambda row: row.counts.decided, is_exported_only=True),
    Column("checked", "Checked", lambda row: row.misleading.checked, is_exported_only=True),
    Column("misleading_weight", "", lambda row: row.misleading.weight, is_exported_only=True),
    Column("statuses", "Statuses", lambda row: " ".join(_statuses(row)), is_exported_only=True),
    Column("claim_status", "", lambda row: row.worst.status, is_exported_only=True),
    Column("action", "Action", lambda row: row.action, is_exported_only=True),
    Column("edits", "Edits", lambda row: row.edits, is_exported_only=True),
)
ROUTES = page_routes(
    ("GET", "/answers", show_answers), ("GET", "/suggest/{key}", suggest), *ANSWER_PAGES
)
SECTION = Section("Answers", "/answers", ROUTES, Path(__file__).parent / "templates", order=10)
