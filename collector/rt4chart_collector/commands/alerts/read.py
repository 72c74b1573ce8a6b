"""`rt4chart alerts list` and `history`, and an alert as JSON."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict

from rt4chart_collector.commands.alerts.find_alert import open_store
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.alerts.stored_facts import facts_to_json
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.times import lasted, utc_time
from rt4chart_collector.store.alerts.alert_events import (
    Episode,
    EpisodeFilter,
    alert_history,
    alert_history_count,
    alert_states,
)
from rt4chart_collector.store.engine.scope import QueryScope

SECOND = 10**9


def list_open(options: argparse.Namespace) -> int:
    """Print the open alerts, with their ids and states."""
    now = time.time_ns()
    with open_store(options) as client:
        states = [state for state in alert_states(client, now_ns=now) if state.is_open]
    rows = [
        (
            *(state.id[:8], state.states, str(state.alert.severity), str(state.alert.rule)),
            *(state.alert.service or "–", state.alert.route or "–", state.alert.title),
            *(utc_time(state.fired_ns), lasted(state.fired_ns, now), _targets(state)),
        )
        for state in states
    ]
    names = (
        "id",
        "state",
        "severity",
        "rule",
        "service",
        "route",
        "title",
        "fired",
        "for",
        "notified",
    )
    words = table(names, rows, title="title") if rows else "No open alerts."
    write([as_json(state) for state in states], words, as_json=options.json)
    return 0


def show_history(options: argparse.Namespace) -> int:
    """Print when alerts fired and ended, the newest first."""
    now = time.time_ns()
    scope = QueryScope(
        now - options.since * SECOND, now + SECOND, service=options.service, route=options.route
    )
    selection = EpisodeFilter(scope, options.rule or "", options.severity or "")
    offset = (options.page - 1) * options.limit
    with open_store(options) as client:
        found = alert_history(client, selection, limit=options.limit, offset=offset)
        count = alert_history_count(client, selection)
    if options.json:
        write([_episode(episode) for episode in found], "", as_json=True)
        return 0
    names = ("id", "fired", "for", "severity", "rule", "service", "route", "title", "ended by")
    rows = [
        (
            *(episode.alert.id[:8], utc_time(episode.fired_ns)),
            lasted(episode.fired_ns, episode.ended_ns) if episode.ended_ns else "open",
            *(str(episode.alert.severity), str(episode.alert.rule)),
            *(
                episode.alert.service or "–",
                episode.alert.route or "–",
                episode.alert.title,
                episode.ended_by,
            ),
        )
        for episode in found
    ]
    write(
        None,
        table(names, rows, title="title") if rows else "No alert fired in that time.",
        as_json=False,
    )
    if count > offset + len(found):
        write(None, f"{offset + len(found)} of {count}: --page {options.page + 1}", as_json=False)
    return 0


def as_json(state: AlertState) -> dict[str, object]:
    """An alert as JSON."""
    return {
        "id": state.id,
        "state": state.state,
        **_alert(state.alert),
        "facts": facts_to_json(state.alert.facts),
        "fired_ns": state.fired_ns,
        "last_ns": state.last_ns,
        "resolved_ns": state.resolved_ns,
        "resolved_by": state.resolved_by,
        "acknowledged_by": state.acknowledged_by,
        "owner": state.owner,
        "tickets": list(state.tickets),
        "silenced_until_ns": state.silenced_ns,
        "told": {name: asdict(delivery) for name, delivery in state.deliveries.items()},
    }


def _targets(state: AlertState) -> str:
    """The targets that were notified, and those whose last message failed."""
    return ", ".join(
        f"{name} (failed)" if delivery.failures else name
        for name, delivery in sorted(state.deliveries.items())
    )


def _alert(alert: Alert) -> dict[str, object]:
    return {
        "rule": str(alert.rule),
        "severity": str(alert.severity),
        "service": alert.service,
        "route": alert.route,
        "issue": f"{alert.issue_id:016x}" if alert.issue_id else "",
        "title": alert.title,
        "starts_ns": alert.starts_ns,
    }


def _episode(episode: Episode) -> dict[str, object]:
    times = {
        "fired_ns": episode.fired_ns,
        "ended_ns": episode.ended_ns,
        "ended_by": episode.ended_by,
    }
    return {"id": episode.alert.id, **_alert(episode.alert), **times}
