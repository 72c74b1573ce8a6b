"""How `rt4chart label` gets labels: from a person, a judge or a file; and how it exports them."""

from __future__ import annotations

import argparse
import sys
import time

from rich.console import Console

from otel_rt4chart.commands.verify import default_jobs
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import one_line
from otel_rt4chart.judges.build import build_verifier, settings_for_judge
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.labelling.export_labels import export_labels
from rt4chart_collector.labelling.import_labels import import_labels
from rt4chart_collector.labelling.judge_rater import JudgeRun, label_with_judge
from rt4chart_collector.labelling.tasks import Rater, open_claims
from rt4chart_collector.labelling.terminal import LabelSession, terminal_keys
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import (
    DEFAULT_SEED,
    DrawRequest,
    LabelDraw,
    draw_claims,
    latest_draw,
)
from rt4chart_collector.store.rates.verifiers import main_verifier

SECOND = 10**9
JUDGE_LABELS = 100


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
