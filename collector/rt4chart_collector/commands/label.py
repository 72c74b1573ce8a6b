"""`rt4chart label`: label claims that are drawn by chance, and see the corrected rates."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.console import Console

from otel_rt4chart.commands.verify import default_jobs
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import one_line
from otel_rt4chart.judges.build import build_verifier, settings_for_judge
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.labelling.export_labels import export_labels
from rt4chart_collector.labelling.figures import routes_figures, status_figures
from rt4chart_collector.labelling.import_labels import import_labels
from rt4chart_collector.labelling.judge_rater import JudgeRun, label_with_judge
from rt4chart_collector.labelling.status import carried_lines, status_lines
from rt4chart_collector.labelling.tasks import Rater, open_claims
from rt4chart_collector.labelling.terminal import LabelSession, terminal_keys
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, corrected_rates, draw_rates
from rt4chart_collector.store.labels.draws import (
    DEFAULT_SEED,
    DrawRequest,
    LabelDraw,
    draw_claims,
    latest_draw,
)
from rt4chart_collector.store.labels.rater_agreement import rater_agreement
from rt4chart_collector.store.labels.trusted_labels import labels_in
from rt4chart_collector.store.rates.verifiers import main_verifier

SECOND = 10**9
JUDGE_LABELS = 100


def execute(options: argparse.Namespace) -> int:
    """Label, or do what the options say."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_labels") as client:
        return _action(options)(client, options)


def _action(options: argparse.Namespace) -> Callable[[Client, argparse.Namespace], int]:
    if options.status:
        return show_status
    if options.read is not None:
        return read_file
    if options.out is not None:
        return write_file
    return label_by_judge if options.judge else label_in_terminal


def label_in_terminal(client: Client, options: argparse.Namespace) -> int:
    """Show claims to a person."""
    with terminal_keys() as read_key:
        rater = Rater(actor_of(options))
        draw = find_draw(client, options, rater)
        console = Console(highlight=False, markup=False, emoji=False)
        session = LabelSession(
            client, draw, rater, read_key=read_key, console=console, clock=time.time_ns
        )
        session.run(options.n or 0)
    sys.stdout.write(f"{session.labels} labels; the rates: rt4chart label --status\n")
    return 0


def label_by_judge(client: Client, options: argparse.Namespace) -> int:
    """Let a trusted judge answer the queue; status 1 if it stopped or gave no label."""
    judging = settings_for_judge(options.judge, options.model)
    verifier = build_verifier(options.judge, judging, clock=time.perf_counter_ns)
    draw = find_draw(client, options, Rater(verifier.judge.id))
    run = label_with_judge(
        client,
        draw,
        verifier,
        limit=options.n or JUDGE_LABELS,
        clock=time.time_ns,
        jobs=default_jobs(options.judge, judging.concurrency),
    )
    for line in run_lines(run, verifier.judge.id):
        sys.stdout.write(f"{line}\n")
    return int(bool(run.stopped) or (run.labels == 0 and run.unlabelled.total() > 0))


def run_lines(run: JudgeRun, judge: str) -> list[str]:
    """What a judge labelled, and why it did not label others."""
    lines = [f"{run.labels} labels by {judge}"]
    lines += [
        f"not labelled: {count} × {one_line(why, 200)}"
        for why, count in run.unlabelled.most_common()
    ]
    return [*lines, f"stopped: {run.stopped}"] if run.stopped else lines


def find_draw(client: Client, options: argparse.Namespace, rater: Rater) -> LabelDraw:
    """The last draw if it has claims left for the rater, else a new one."""
    now = time.time_ns()
    scope = scope_of(client, options, now)
    last = latest_draw(client, scope)
    is_asked = options.draw or options.seed is not None
    if last is not None and not is_asked:
        last = last.part(None, options.route)
        if next(open_claims(client, last, rater, now_ns=now), None) is not None:
            return last
    seed = options.seed or (last.routes[0].seed if last is not None else DEFAULT_SEED)
    request = DrawRequest(scope, options.size, actor_of(options), seed)
    return draw_claims(client, request, now_ns=now)


def scope_of(client: Client, options: argparse.Namespace, now_ns: int) -> QueryScope:
    """The answers of the options; InputError where no verifier is known."""
    verifier = options.verifier or main_verifier(client, now_ns)
    if not verifier:
        raise InputError("no verified answers in the last 7 days: expected some, or --verifier ID")
    return QueryScope(now_ns - options.since * SECOND, now_ns, verifier, route=options.route)


def show_status(client: Client, options: argparse.Namespace) -> int:
    """Print the rates of the last draw, what the labels say of the judge, and the agreement."""
    scope = QueryScope(verifier=options.verifier, route=options.route)
    # Labels count for other verifiers too, so the draw may be of claims of another one.
    last = latest_draw(client, scope) or latest_draw(client, replace(scope, verifier=None))
    if last is None:
        raise InputError("no claims were drawn yet: expected a draw, run rt4chart label")
    draw = last.part(None, options.route)
    rates = draw_rates(client, draw, without=options.without)
    agreement = rater_agreement(
        label
        for label in labels_in(client, replace(scope, verifier=options.verifier and draw.verifier))
        if label.rater not in options.without
    )
    lines = [*status_lines(draw, rates, agreement)]
    figures = status_figures(draw, rates, agreement)
    verifier = options.verifier or main_verifier(client, time.time_ns())
    if verifier not in ("", draw.verifier):
        carried = _rates_of(client, draw, verifier, options.without)
        lines += carried_lines(verifier, carried)
        figures["by_the_same_labels"] = {"verifier": verifier, "routes": routes_figures(carried)}
    write(figures, "\n".join(lines), as_json=options.json)
    return 0


def _rates_of(
    client: Client, draw: LabelDraw, verifier: str, without: Sequence[str]
) -> list[RouteRate]:
    """The rates of another verifier on the routes and in the period of the draw."""
    first = draw.routes[0]
    scope = QueryScope(first.since_ns, first.until_ns, verifier)
    drawn = {row.key for row in draw.routes}
    found = corrected_rates(client, scope, without=without)
    return [rate for rate in found if (rate.service, rate.route) in drawn]


def read_file(client: Client, options: argparse.Namespace) -> int:
    """Import labels; the exit status is 1 if a row was refused."""
    result = import_labels(
        client,
        options.read,
        form=options.format,
        meanings=dict(options.map),
        rater=options.by or "",
        now_ns=time.time_ns(),
    )
    for line in result.lines():
        sys.stdout.write(f"{line}\n")
    return int(bool(result.refused))


def write_file(client: Client, options: argparse.Namespace) -> int:
    """Export the current labels of the route and verifier, or all."""
    scope = QueryScope(verifier=options.verifier, route=options.route)
    count = export_labels(client, scope, options.out)
    sys.stderr.write(f"{options.out}: {count} labels\n")
    return 0
