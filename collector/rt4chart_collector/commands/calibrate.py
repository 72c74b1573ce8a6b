"""`rt4chart calibrate`: how far a judge's confidence can be trusted, and putting it right."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.recalibration import judge_of
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.labelling.calibration import (
    Calibration,
    calibration_lines,
    fit_lines,
    read_calibration,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import latest_draw
from rt4chart_collector.store.labels.recalibrations import (
    MAX_NOTE,
    RecalibrationAction,
    RecalibrationEvent,
    apply_recalibration,
    next_number,
    recalibration_history,
    recalibration_numbered,
    revert_recalibration,
)

WHEN = "running services follow within 15 seconds"
BRIDGE = "rt4chart backfill gives stored answers these verdicts too, so that labels on them count"


def execute(options: argparse.Namespace) -> int:
    """Print what the labels say, or change the recalibration; 1 where that was refused."""
    if options.threshold and not options.apply:
        raise InputError("expected --apply with --threshold")
    if options.apply and options.route is not None:
        raise InputError("expected no --route with --apply: a judge has one recalibration")
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_recalibrations") as client:
        if options.history:
            return _show_history(client, options)
        if options.revert:
            return _revert(client, options)
        scope = QueryScope(verifier=options.verifier, route=options.route)
        found = read_calibration(client, scope, error=options.error, confidence=options.confidence)
        if options.apply:
            return _apply(client, found, options)
    write(asdict(found), "\n".join(calibration_lines(found)), as_json=options.json)
    return 0


def _apply(client: Client, found: Calibration, options: argparse.Namespace) -> int:
    refused = list(_refusals(found, options.threshold))
    if refused:
        text = "\n".join(["nothing was changed:", *refused])
        write({"applied": None, "refused": refused, **asdict(found)}, text, as_json=options.json)
        return 1
    event = _event(client, found, options)
    apply_recalibration(client, event)
    verifier = event.recalibration.id_of(event.judge)
    lines = [f"{printable(verifier)} from now on: {WHEN}", *_thresholds(event)]
    lines += [*_curve_lines(found, event), BRIDGE]
    figures = {"applied": asdict(event), "verifier": verifier, "refused": []}
    write(figures, "\n".join(lines), as_json=options.json)
    return 0


def _curve_lines(found: Calibration, event: RecalibrationEvent) -> Iterator[str]:
    """What was fitted, or that the curve in force stays."""
    if not found.fit.refusal:
        yield from fit_lines(found.fit)
    elif event.curves:
        yield f"the curve of {printable(found.judge)}+c{found.in_force} stays: {found.fit.refusal}"


def _refusals(found: Calibration, threshold: str | None) -> Iterator[str]:
    """Why nothing can be applied: no proved threshold, or no better confidences."""
    asked = {"both": ("flagged", "entailed"), None: ()}.get(threshold, (threshold,))
    lines = list(calibration_lines(found))
    for line, verdict in zip(lines[1:3], ("flagged", "entailed"), strict=True):
        choice = found.flagged if verdict == "flagged" else found.entailed
        if verdict in asked and choice.threshold is None:
            yield line
    # A proved threshold alone is worth applying.
    if found.fit.refusal and not asked:
        yield from fit_lines(found.fit)


def _event(client: Client, found: Calibration, options: argparse.Namespace) -> RecalibrationEvent:
    """The recalibration to apply; where no better curve was fitted, that in force stays."""
    history = recalibration_history(client, found.judge)
    limits = {
        name: choice.threshold or 0.0
        for name, choice in (("flagged", found.flagged), ("entailed", found.entailed))
        if options.threshold in (name, "both")
    }
    last = history[-1].at_ns if history else 0
    event = RecalibrationEvent(
        judge=found.judge,
        at_ns=max(time.time_ns(), last + 1),
        actor=actor_of(options),
        note=options.note[:MAX_NOTE],
        action=RecalibrationAction.APPLIED,
        number=next_number(history),
        flagged_threshold=limits.get("flagged", 0.0),
        entailed_threshold=limits.get("entailed", 0.0),
        labels=found.labels,
    )
    fit = found.fit
    if fit.refusal:
        kept = recalibration_numbered(history, found.in_force) or event
        return replace(
            event, method=kept.method, curves=kept.curves, before=kept.before, after=kept.after
        )
    curves = {"flagged": fit.flagged, "entailed": fit.entailed}
    return replace(
        event,
        method=fit.method or "",
        curves=tuple((name, curve.knots) for name, curve in curves.items() if curve is not None),
        before=fit.before,
        after=fit.after,
    )


def _thresholds(event: RecalibrationEvent) -> Iterator[str]:
    for verdict, threshold in (
        ("flagged", event.flagged_threshold),
        ("entailed", event.entailed_threshold),
    ):
        if threshold:
            yield f"{verdict} claims below a stated confidence of {threshold:.2f} are undecided"


def _revert(client: Client, options: argparse.Namespace) -> int:
    judge = _judge(client, options)
    event = revert_recalibration(
        client, judge, actor=actor_of(options), note=options.note, now_ns=time.time_ns()
    )
    now = f"{judge}+c{event.number}" if event.number else judge
    write({"reverted": asdict(event)}, f"{printable(now)} again: {WHEN}", as_json=options.json)
    return 0


def _judge(client: Client, options: argparse.Namespace) -> str:
    """The judge that is named, else the one whose recalibration was changed last."""
    if options.verifier:
        return judge_of(options.verifier)
    history = recalibration_history(client)
    if history:
        return max(history, key=lambda event: event.at_ns).judge
    draw = latest_draw(client, QueryScope())
    if draw is None:
        raise InputError("no judge has a recalibration: nothing to revert")
    return judge_of(draw.verifier)


def _show_history(client: Client, options: argparse.Namespace) -> int:
    judge = judge_of(options.verifier) if options.verifier else None
    history = recalibration_history(client, judge)
    write([asdict(event) for event in history], "\n".join(_told(history)), as_json=options.json)
    return 0


def _told(history: Sequence[RecalibrationEvent]) -> Iterator[str]:
    if not history:
        yield "no judge was recalibrated"
    for event in history:
        now = f"{event.judge}+c{event.number}" if event.number else event.judge
        note = f": {printable(event.note)}" if event.note else ""
        yield (
            f"{utc_time(event.at_ns)}  {event.action} by {printable(event.actor)}: "
            f"{printable(now)}{note}"
        )
        if event.action is RecalibrationAction.APPLIED:
            yield f"  {event.method or 'no curve'}, {event.labels} labels{_scores(event)}"
            yield from (f"  {line}" for line in _thresholds(event))


def _scores(event: RecalibrationEvent) -> str:
    if event.before is None or event.after is None:
        return ""
    return f", Brier score {event.before:.3f} before and {event.after:.3f} with it"
