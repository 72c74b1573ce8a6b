"""`rt4chart compare`: two versions side by side, in words, tables or JSON."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from rich.console import Group

from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import clip, printable
from otel_rt4chart.verify.core.model import status_label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.compare import (
    IssueTurn,
    VersionComparison,
    begin_comparison,
)
from rt4chart_collector.comparison.sides import (
    ComparisonRequest,
    choose_sides,
    find_versions,
    side_name,
    spoken_names,
)
from rt4chart_collector.comparison.wording import (
    answer_figures,
    compared_figures,
    difference_figures,
    difference_words,
    routes_words,
)
from rt4chart_collector.console.view.filters import interval, percent
from rt4chart_collector.core.printing import Listing, table, write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from rt4chart_collector.store.rates.verifiers import main_verifier
from rt4chart_collector.store.schema.tenant_client import seen_by

# The pairs of answers that a terminal shows, and their characters; JSON has whole ones.
SHOWN_PAIRS, SHOWN_TEXT = 5, 300


def execute(options: argparse.Namespace) -> int:
    """Read both versions and print them; InputError names the versions that there are."""
    dsn, now_ns = load(ServiceSettings, {"dsn": options.dsn}).dsn, time.time_ns()
    measure = Measure(options.measure)
    with open_database(dsn, needs="rt4chart_verifications") as client:
        client = seen_by(client, options.tenant)
        scope = QueryScope(
            now_ns - options.since * 10**9,
            now_ns,
            options.verifier or main_verifier(client, now_ns),
            options.service or None,
            options.route or None,
        )
        request = ComparisonRequest(VersionKind(options.by), options.a, options.b, scope)
        a, b = choose_sides(request, find_versions(client, request))
        with ConcurrentReads(client) as reads:
            found = begin_comparison(reads, a, b, measure=measure)()
    write(figures(found, measure), Group(*_shown(found, measure)), as_json=options.json)
    return 0


def figures(found: VersionComparison, measure: Measure) -> dict[str, object]:
    """The comparison as JSON values; rates and differences are shares of claims."""
    rates = found.rates
    return {
        "by": str(found.a.kind),
        "a": _side_figures(found.a),
        "b": _side_figures(found.b),
        "measure": str(measure),
        "words": _words(found, measure),
        "rates": {str(name): compared_figures(one) for name, one in rates.measures.items()},
        "labels": {name: compared_figures(one) for name, one in rates.labels.items()},
        "statuses": {name: compared_figures(one) for name, one in rates.statuses.items()},
        "routes": [
            {
                "service": one.service,
                "route": one.route,
                **compared_figures(rates.of_measures(one)[measure]),
            }
            for one in rates.matched
        ],
        "routes_left_out": [
            {"service": one.service, "route": one.route, "answers": list(one.answers)}
            for one in rates.unmatched
        ],
        "issues": [
            {
                "id": f"{issue.id:016x}",
                "title": issue.title,
                "turn": str(issue.turn),
                "failures": list(issue.claims),
                **compared_figures(issue.share),
            }
            for issue in found.issues
        ]
        if found.has_issues
        else None,
        "questions": {
            "asked_of_both": found.questions.questions,
            "more_in_a": found.questions.more_in_a,
            "more_in_b": found.questions.more_in_b,
            "pairs": [
                {
                    "service": pair.b.verdict.service,
                    "route": pair.b.verdict.route,
                    "question": pair.b.verdict.question,
                    "a": answer_figures(pair.a),
                    "b": answer_figures(pair.b),
                }
                for pair in found.questions.pairs
            ],
        },
    }


def _side_figures(of: VersionScope) -> dict[str, object]:
    return {
        "version": of.version,
        "since": iso(of.scope.since_ns),
        "until": iso(of.scope.until_ns),
    }


def _words(found: VersionComparison, measure: Measure) -> str:
    return difference_words(found.rates.measures[measure], **spoken_names(found.a, found.b))


def _shown(found: VersionComparison, measure: Measure) -> Iterator[str | Listing]:
    """The outcome, the rates, the issues, and some pairs of answers."""
    a, b = (printable(side_name(of)) for of in (found.a, found.b))
    yield printable(f"{measure} claims: {_words(found, measure)}")
    yield f"of {routes_words(found.rates).removeprefix('of ')}"
    yield ""
    yield _rates_table(found, a, b)
    listed = [issue for issue in found.issues if issue.turn is not IssueTurn.SIMILAR]
    if listed:
        yield ""
        yield table(
            ("issue", f"failures in {a}", f"in {b}", "points", ""),
            (
                (
                    issue.title or f"{issue.id:016x}",
                    f"{issue.claims[0]:,}",
                    f"{issue.claims[1]:,}",
                    difference_figures(issue.share),
                    "" if issue.is_told else "may be chance",
                )
                for issue in listed
            ),
        )
    yield from _pair_lines(found, measure, a, b)


def _rates_table(found: VersionComparison, a: str, b: str) -> Listing:
    rates = found.rates
    rows = [
        *((str(measure), rate) for measure, rate in rates.measures.items()),
        *rates.labels.items(),
        *((status_label(n), rate) for n, rate in rates.statuses.items() if n not in rates.labels),
    ]
    return table(
        ("claims", a, b, "points", "n"),
        (
            (
                name,
                f"{percent(rate.a.value)} {interval(rate.a)}",
                f"{percent(rate.b.value)} {interval(rate.b)}",
                difference_figures(rate),
                f"{rate.claims[0]:,} / {rate.claims[1]:,}",
            )
            for name, rate in rows
            if rate.answers != (0, 0)
        ),
    )


def _pair_lines(found: VersionComparison, measure: Measure, a: str, b: str) -> Iterator[str]:
    questions = found.questions
    yield ""
    yield (
        f"{questions.questions:,} questions were asked of both; {b} has more {measure} claims in "
        f"{questions.more_in_b:,}, {a} in {questions.more_in_a:,}"
    )
    failed = [pair for pair in questions.pairs if pair.a.failed or pair.b.failed]
    for pair in failed[:SHOWN_PAIRS]:
        yield ""
        yield printable(clip(" ".join(pair.b.verdict.question.split()), SHOWN_TEXT))
        for name, side in ((a, pair.a), (b, pair.b)):
            wrong = [f"“{claim.claimed}”" for one in side.failed for claim in one.claim.clashes]
            said = " ".join(side.verdict.answer[: SHOWN_TEXT * 4].split())
            text = f"  {name}: {clip(said, SHOWN_TEXT)}"
            yield printable(f"{text} ✗ {', '.join(wrong)}" if wrong else text)
