"""On an alert's page: in which step the unfaithful claims since the rise entered."""

from __future__ import annotations

from rt4chart_collector.console.view.trail_note import TrailNote, route_trail_note
from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope


def entered_note(
    client: Client, state: AlertState, *, began_ns: int, now_ns: int
) -> TrailNote | None:
    """The note on the alert's route from `began_ns` on, 0 for the start that the alert has.

    None without a route.
    """
    alert = state.alert
    if not alert.route:
        return None
    facts = alert.facts
    verifier = facts.verifier if isinstance(facts, DriftFacts) else ""
    until_ns = state.resolved_ns or now_ns
    scope = QueryScope(began_ns or alert.starts_ns or state.fired_ns, until_ns, verifier or None)
    return route_trail_note(client, scope.of_route(alert.service, alert.route))
