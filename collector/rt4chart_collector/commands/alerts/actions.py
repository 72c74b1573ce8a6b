"""`rt4chart alerts ack`, `assign`, `link`, `resolve`, `accept`, `snooze` and `maintenance`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.commands.alerts.find_alert import (
    find_alert,
    find_by_prefix,
    open_store,
)
from rt4chart_collector.core.actors import actor_of
from rt4chart_collector.core.alerts.silence import Silence
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.store.alerts.alert_events import (
    accept,
    acknowledge,
    alert_states,
    assign,
    link_ticket,
    open_alerts,
    resolve,
    retract,
    snooze,
)
from rt4chart_collector.store.alerts.silences import add_silence, remove_silence, silences
from rt4chart_collector.store.engine.connect import Client

SECOND = 10**9
MATCHERS = ("rule", "service", "route")


def acknowledge_by_hand(options: argparse.Namespace) -> int:
    """Acknowledge an alert, which stops its reminders."""
    return _act(
        options,
        acknowledge,
        "acknowledged_by",
        lambda _: "is acknowledged: no reminders until it gets worse",
    )


def resolve_by_hand(options: argparse.Namespace) -> int:
    """Resolve an alert by hand."""
    return _act(
        options, resolve, "resolved_by", lambda state: f"is resolved: {state.alert.resolving}"
    )


def accept_by_hand(options: argparse.Namespace) -> int:
    """Accept the risen rate of a drift alert as the usual one, or undo that."""
    if options.undo:
        return _act(
            options,
            retract,
            "retracted_by",
            lambda _: (
                "is not accepted any more: within the hour the rate before the rise is the "
                "usual one again"
            ),
            alert_states,
        )
    return _act(
        options,
        accept,
        "accepted_by",
        lambda state: f"is resolved and accepted: {state.alert.accepting}; --undo reverts it",
        alert_states,
    )


def _act(
    options: argparse.Namespace,
    action: Callable[..., object],
    key: str,
    result: Callable[[AlertState], str],
    among: Callable[..., Sequence[AlertState]] = open_alerts,
) -> int:
    actor, now = actor_of(options), time.time_ns()
    with open_store(options) as client:
        state = find_alert(among(client, now_ns=now), options.id)
        action(client, state.id, actor=actor, now_ns=now, note=options.note)
    write({"id": state.id, key: actor}, f"{state.id} {result(state)}", as_json=options.json)
    return 0


def assign_by_hand(options: argparse.Namespace) -> int:
    """Set the owner of an alert, open or not."""
    actor, now = actor_of(options), time.time_ns()
    with open_store(options) as client:
        state = find_alert(alert_states(client, now_ns=now), options.id)
        assign(client, state.id, options.owner, actor=actor, now_ns=now)
    words = f"is assigned to {options.owner}" if options.owner.strip() else "has no owner any more"
    write({"id": state.id, "owner": options.owner}, f"{state.id} {words}", as_json=options.json)
    return 0


def link_by_hand(options: argparse.Namespace) -> int:
    """Link a ticket of an alert, or remove the link."""
    actor, now = actor_of(options), time.time_ns()
    with open_store(options) as client:
        state = find_alert(alert_states(client, now_ns=now), options.id)
        link_ticket(
            client, state.id, options.url, actor=actor, now_ns=now, is_removed=options.remove
        )
    words = "is no longer a ticket of" if options.remove else "is a ticket of"
    write(
        {"id": state.id, "url": options.url, "removed": options.remove},
        f"{options.url} {words} {state.id}",
        as_json=options.json,
    )
    return 0


def snooze_by_hand(options: argparse.Namespace) -> int:
    """Silence one alert for a time."""
    actor, now = actor_of(options), time.time_ns()
    until = now + options.time * SECOND
    with open_store(options) as client:
        state = find_alert(open_alerts(client, now_ns=now), options.id)
        made = snooze(client, state.id, until_ns=until, actor=actor, now_ns=now, note=options.note)
    words = (
        f"{state.id} is silenced until {utc_time(made.ends_ns)}; "
        f"rt4chart alerts maintenance --end {made.id} ends the silence"
    )
    write(_silence_json(made), words, as_json=options.json)
    return 0


def manage_silences(options: argparse.Namespace) -> int:
    """List silences, add one, or end one."""
    now = time.time_ns()
    with open_store(options) as client:
        if options.end:
            silence = find_by_prefix(silences(client, now), options.end, "current silence")
            ended = remove_silence(client, silence.id, now_ns=now)
            write(_silence_json(ended), f"{ended.id} has ended", as_json=options.json)
        elif options.time:
            made = add_silence(client, _requested_silence(options, now), now_ns=now)
            words = (
                f"{made.id}: {_matched_alerts(made)} silenced "
                f"from {utc_time(made.starts_ns)} until {utc_time(made.ends_ns)}"
            )
            write(_silence_json(made), words, as_json=options.json)
        else:
            _list_silences(client, options, now)
    return 0


def _requested_silence(options: argparse.Namespace, now: int) -> Silence:
    matchers = {name: value for name in MATCHERS if (value := getattr(options, name)) is not None}
    if bool(matchers) == bool(options.everything):
        raise InputError(
            "expected --rule, --service or --route, which may be combined, or --everything alone, "
            f"got {'both' if matchers else 'none of them'}"
        )
    starts = now + options.begin * SECOND
    ends = starts + options.time * SECOND
    return Silence(starts, ends, matchers, actor_of(options), options.note)


def _list_silences(client: Client, options: argparse.Namespace, now: int) -> None:
    found: Sequence[Silence] = silences(client, now)
    rows = [
        (
            silence.id,
            _matched_alerts(silence),
            utc_time(silence.starts_ns),
            utc_time(silence.ends_ns),
            silence.actor,
            silence.note,
        )
        for silence in found
    ]
    words = table(("id", "of", "from", "until", "by", "note"), rows) if rows else "No silences."
    write([_silence_json(silence) for silence in found], words, as_json=options.json)


def _matched_alerts(silence: Silence) -> str:
    matchers = [f"{name} {value or '–'}" for name, value in silence.matchers.items()]
    return ", ".join(matchers) or "everything"


def _silence_json(silence: Silence) -> dict[str, object]:
    return {
        "id": silence.id,
        "matchers": dict(silence.matchers),
        "starts_ns": silence.starts_ns,
        "ends_ns": silence.ends_ns,
        "actor": silence.actor,
        "note": silence.note,
    }
