"""`rt4chart backfill`, also `rt4chart verify --from-store`: verify stored answers."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.metadata import version

from otel_rt4chart.commands.verify import default_jobs, no_progress, progress
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.batch import judge_advice
from otel_rt4chart.judges.build import (
    build_budget,
    build_criteria,
    build_verifier,
    settings_for_judge,
    shared_endpoint,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.pipeline.backfill import Backfill, BackfillFilter
from rt4chart_collector.pipeline.route_names import RouteNames
from rt4chart_collector.store.engine.budgets import shared_through_store
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.labels.recalibrations import recalibration_in_force
from rt4chart_collector.store.rates.traffic import routes_by_claims

SECOND = 10**9
BUSY_ADVICE = (
    "An embedded database has one owner: stop the service while this command runs, or use a "
    "ClickHouse server, where both can run"
)


def execute(options: argparse.Namespace) -> int:
    """Verify stored answers; the exit status is 1 if an answer or the judge failed."""
    settings = load(ServiceSettings, {"dsn": options.dsn, "judge": options.judge})
    now = time.time_ns()
    judging = settings_for_judge(settings.judge, options.model)
    budget = build_budget(judging)
    endpoint = shared_endpoint(judging, budget)
    verifier = build_verifier(
        settings.judge, judging, clock=time.perf_counter_ns, endpoint=endpoint
    )
    selection = BackfillFilter(
        since_ns=now - options.since * SECOND,
        until_ns=now - options.until * SECOND,
        route=options.route,
        limit=options.limit,
        again=options.again,
    )
    with (
        open_database(settings.dsn, needs="rt4chart_criteria", otherwise=BUSY_ADVICE) as client,
        client.sibling() as own,
        shared_through_store(budget, own),
    ):
        additions = verdict_additions(
            verifier,
            ServiceMetrics(judge=verifier.judge.id),
            layers=settings.layers,
            calls=settings.trail_calls,
            clock=time.time_ns,
            criteria=build_criteria(settings.criteria, judging, endpoint),
        )
        limit = settings.route_limit
        routes = RouteNames(folds=settings.fold_routes, limit=limit, clock=time.time_ns)
        routes.know(routes_by_claims(client, now_ns=time.time_ns(), limit=limit))
        backfill = Backfill(
            client,
            verifier.recalibrated(recalibration_in_force(client, verifier.judge.id)),
            selection,
            additions=additions,
            sample_rate=settings.sample_rate,
            layers=settings.layers,
            strict_routes=settings.strict_routes,
            routes=routes,
            carrier=settings.carrier,
            clock=time.time_ns,
            version=version("otel-rt4chart"),
            # A guest may not write spans: only the service stores them.
            has_carriers=not client.is_guest,
            jobs=options.jobs or default_jobs(settings.judge, judging.concurrency),
        )
        try:
            watched = progress(time.monotonic, "answers") if sys.stderr.isatty() else None
            with watched or nullcontext(no_progress) as show:
                for count in backfill.verify_all():
                    show(count)
        finally:
            sys.stderr.write("".join(f"{line}\n" for line in backfill.lines()))
    # On standard error, like the summary: it must not mix with a result that is piped on.
    failures = list(_failures(backfill, settings.judge))
    sys.stderr.write("".join(f"{line}\n" for line in failures))
    return int(backfill.errors > 0 or failures != [])


def _failures(backfill: Backfill, judge: str) -> Iterator[str]:
    """Failures of the whole run, with what to do about them."""
    if backfill.stopped:
        advice = judge_advice(judge)
        yield f"{backfill.stopped}\n{advice}.\nThen run it again: it continues from here"
    elif backfill.summary.is_silent:
        yield f"the judge gave no verdict: {backfill.summary.main_reason}\n{judge_advice(judge)}"
