"""`rt4chart label`: label claims that are drawn by chance, and see the corrected rates."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.labelling.figures import routes_figures, status_figures
from rt4chart_collector.labelling.status import carried_lines, status_lines
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, corrected_rates, draw_rates
from rt4chart_collector.store.labels.draws import (
    LabelDraw,
    latest_draw,
)
from rt4chart_collector.store.labels.rater_agreement import rater_agreement
from rt4chart_collector.store.labels.trusted_labels import labels_in
from rt4chart_collector.store.rates.verifiers import main_verifier


def execute(options: argparse.Namespace) -> int:
    """Label, or do what the options say."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_labels") as client:
        return _action(options)(client, options)


def _action(options: argparse.Namespace) -> Callable[[Client, argparse.Namespace], int]:
    if options.status:
        return show_status
    # Imported here, because the status needs no judge and no terminal.
    from rt4chart_collector.commands.label_claims import (
        label_by_judge,
        label_in_terminal,
        read_file,
        write_file,
    )

    if options.read is not None:
        return read_file
    if options.out is not None:
        return write_file
    return label_by_judge if options.judge else label_in_terminal


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
