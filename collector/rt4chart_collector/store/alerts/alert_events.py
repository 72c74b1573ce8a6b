"""The events of alerts: an append-only trail from which their states are derived."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import encodable, one_line
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import AlertFacts
from rt4chart_collector.core.alerts.lifecycle import next_event_ns
from rt4chart_collector.core.alerts.silence import Silence, silenced_until
from rt4chart_collector.core.alerts.state import (
    PHASES,
    WITH_FACTS,
    AlertEvent,
    AlertEventKind,
    AlertState,
    states_of,
)
from rt4chart_collector.core.alerts.stored_facts import facts_from_json, facts_to_json
from rt4chart_collector.core.ticket_url import ticket_url
from rt4chart_collector.store.alerts.silences import add_silence, silences
from rt4chart_collector.store.engine.columns import (
    Actor,
    Note,
    Route,
    ServiceName,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    RowTable,
    StoredAs,
    batch_token,
    read,
    read_int,
)
from rt4chart_collector.store.engine.scope import OF_ROUTE, QueryScope, in_time


@dataclass(frozen=True, slots=True)
class AlertEventRow:
    """A stored event; `body` is JSON."""

    alert_id: Annotated[str, StoredAs("AlertId", "String")]
    at_ns: Annotated[int, StoredAs("At", TIME)]
    event_id: Annotated[str, StoredAs("EventId", "String")]
    kind: Annotated[str, StoredAs("Kind", LOW_CARDINALITY)]
    rule: Annotated[str, StoredAs("Rule", LOW_CARDINALITY)]
    severity: Annotated[str, StoredAs("Severity", LOW_CARDINALITY)]
    service: ServiceName
    route: Route
    issue_id: Annotated[int, StoredAs("IssueId", "UInt64")]
    title: Annotated[str, StoredAs("Title", "String")]
    body: Annotated[str, StoredAs("Body", "String")]
    actor: Actor
    note: Note


EVENTS = RowTable("rt4chart_alert_events", AlertEventRow)
DAY_NS = 86_400 * 10**9
# Resolved alerts are read for RECENT_NS. If a channel was notified that an alert fired but not that
# it ended (during a silence, for example), the alert is read until that message is sent, for
# OWED_NS at most.
RECENT_NS, OWED_NS = 7 * DAY_NS, 90 * DAY_NS
# The events of each alert from a day before it last fired: its state depends on no earlier event.
EVENTS_OF_STATES = f"""
WITH owed AS (
    SELECT AlertId, JSONExtractString(Body, 'target') AS Target,
        argMax(JSONExtractString(Body, 'what'), (At, EventId)) AS What
    FROM rt4chart_alert_events
    WHERE Kind IN ('notified', 'abandoned') AND At >= fromUnixTimestamp64Nano({{owed:Int64}})
    GROUP BY AlertId, Target HAVING countIf(Kind = 'notified') > 0 AND What != 'resolved'
), last AS (
    SELECT AlertId, maxIf(At, Kind = 'fired') - toIntervalDay(1) AS Since
    FROM rt4chart_alert_events
    WHERE {{id:String}} = '' OR AlertId = {{id:String}}
    GROUP BY AlertId
    HAVING {{id:String}} != '' OR max(At) >= fromUnixTimestamp64Nano({{recent:Int64}})
        OR argMaxIf(Kind, (At, EventId), Kind IN {{phases:Array(String)}}) != 'resolved'
        OR AlertId IN (SELECT AlertId FROM owed)
)
SELECT {EVENTS.select()}
FROM rt4chart_alert_events FINAL
INNER JOIN last USING (AlertId)
WHERE At >= Since
ORDER BY rt4chart_alert_events.At, EventId
"""  # noqa: S608 - our own names
EVENTS_OF_ALERT = f"""
SELECT {EVENTS.select()} FROM rt4chart_alert_events FINAL
WHERE AlertId = {{id:String}}
ORDER BY rt4chart_alert_events.At DESC, EventId DESC
LIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}
"""  # noqa: S608
FIRED_EVENTS = f"""
FROM rt4chart_alert_events FINAL
WHERE Kind = 'fired' AND {in_time("At")}
  AND ({{rule:String}} = '' OR Rule = {{rule:String}})
  AND ({{severity:String}} = '' OR Severity = {{severity:String}})
  AND {OF_ROUTE}
  AND ({{service_part:String}} = ''
    OR positionCaseInsensitiveUTF8(ServiceName, {{service_part:String}}) > 0)
  AND ({{route_part:String}} = '' OR positionCaseInsensitiveUTF8(Route, {{route_part:String}}) > 0)
"""
EPISODES = f"""
WITH episodes AS (
    SELECT * {FIRED_EVENTS}
    ORDER BY At DESC, EventId DESC
    LIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}
), ends AS (
    SELECT AlertId, At AS Ended, Actor AS EndedBy FROM rt4chart_alert_events FINAL
    WHERE Kind IN ('resolved', 'dismissed', 'accepted')
      AND AlertId IN (SELECT AlertId FROM episodes)
)
SELECT {EVENTS.select()}, greatest(toUnixTimestamp64Nano(Ended), 0) AS ended_ns,
    EndedBy AS ended_by
FROM episodes ASOF LEFT JOIN ends ON episodes.AlertId = ends.AlertId AND episodes.At <= ends.Ended
ORDER BY At DESC, EventId DESC
"""  # noqa: S608
# A retraction undoes the acceptances of its alert before it.
ACCEPTED_TIMES = """
SELECT ServiceName AS service, Route AS route, toUnixTimestamp64Nano(At) AS at_ns
FROM (
    SELECT *, max(if(Kind = 'retracted', At, toDateTime64(0, 9, 'UTC'))) OVER (PARTITION BY AlertId)
        AS Retracted
    FROM rt4chart_alert_events FINAL
    WHERE Kind IN ('accepted', 'retracted') AND Rule = {rule:String}
)
WHERE Kind = 'accepted' AND At > Retracted AND At >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY at_ns
"""
MAX_ROWS = 1_000
MAX_OWNER = 100


@dataclass(frozen=True, slots=True)
class Episode:
    """An alert from firing to its end; `ended_ns` is 0 while it is open."""

    alert: Alert
    fired_ns: int
    ended_ns: int
    ended_by: str


@dataclass(frozen=True, slots=True)
class _EpisodeRow(AlertEventRow):
    ended_ns: int
    ended_by: str


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """The episodes that began in the scope; an empty rule or severity matches all.

    The parts are of the names of the service and the route, ignoring case. Alerts of several rules
    belong to no verifier, so that of the scope is ignored.
    """

    scope: QueryScope
    rule: str = ""
    severity: str = ""
    service_part: str = ""
    route_part: str = ""

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of `FIRED_EVENTS`."""
        names = ("rule", "severity", "service_part", "route_part")
        return {**self.scope.parameters, **{name: getattr(self, name) for name in names}}


def record_alert_events(client: Client, events: Sequence[AlertEvent]) -> None:
    """Write the events; the same event twice is stored once.

    Raises InputError for an unknown rule, severity or kind.
    """
    for event in events:
        for words, value in (
            (Rule, event.alert.rule),
            (Severity, event.alert.severity),
            (AlertEventKind, event.kind),
        ):
            if value not in list(words):
                raise InputError(f"expected one of {', '.join(words)}, got {value!r}")
    rows = [_row_from_event(event) for event in events]
    token = batch_token("alerts", [(event.alert.id, event.id) for event in events])
    EVENTS.insert(client, rows, token=token)


def alert_states(client: Client, *, now_ns: int, alert_id: str = "") -> list[AlertState]:
    """The alerts that are open, dismissed or recently resolved, or only the alert of an id.

    Alerts that ended earlier are included while the notification of their end is due. The alert
    that fired last comes first.
    """
    times = {"recent": now_ns - RECENT_NS, "owed": now_ns - OWED_NS}
    parameters = {"id": alert_id, "phases": [str(phase) for phase in PHASES], **times}
    events = map(_event_from_row, read(client, AlertEventRow, EVENTS_OF_STATES, parameters))
    current = silences(client, now_ns)
    found = [_with_silence(state, current, now_ns) for state in states_of(events).values()]
    return sorted(found, key=lambda state: (-state.fired_ns, state.id))


def open_alerts(client: Client, *, now_ns: int) -> list[AlertState]:
    """The open alerts, acknowledged and silenced ones too, the latest first."""
    return [state for state in alert_states(client, now_ns=now_ns) if state.is_open]


def alert_state(client: Client, alert_id: str, *, now_ns: int) -> AlertState | None:
    """One alert with its facts, open or not; None for an unknown id."""
    return next(iter(alert_states(client, now_ns=now_ns, alert_id=alert_id)), None)


def alert_trail(
    client: Client, alert_id: str, *, limit: int = 200, offset: int = 0
) -> list[AlertEvent]:
    """The events of an alert, the newest first."""
    parameters = {"id": alert_id, "limit": min(limit, MAX_ROWS), "offset": offset}
    return [
        _event_from_row(row) for row in read(client, AlertEventRow, EVENTS_OF_ALERT, parameters)
    ]


def alert_history(
    client: Client, selection: EpisodeFilter, *, limit: int = 50, offset: int = 0
) -> list[Episode]:
    """The episodes of alerts, the newest first, at most 1,000 at once."""
    parameters = {**selection.parameters, "limit": min(limit, MAX_ROWS), "offset": offset}
    return [
        Episode(_event_from_row(row).alert, row.at_ns, row.ended_ns, row.ended_by)
        for row in read(client, _EpisodeRow, EPISODES, parameters)
    ]


def alert_history_count(client: Client, selection: EpisodeFilter) -> int:
    """The number of episodes in all."""
    return int(read_int(client, f"SELECT count() {FIRED_EVENTS}", selection.parameters))


def accepted_times(client: Client, rule: str, *, since_ns: int) -> dict[tuple[str, str], list[int]]:
    """When people accepted the risen rates of a rule's alerts, in order, by (service, route)."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in client.query(ACCEPTED_TIMES, {"rule": rule, "since": since_ns}).named_results():
        found.setdefault((row["service"], row["route"]), []).append(row["at_ns"])
    return found


def acknowledge(client: Client, alert_id: str, *, actor: str, now_ns: int, note: str = "") -> None:
    """Acknowledge an alert: no reminders until it becomes more severe.

    Raises InputError, like `resolve` and `snooze`, where no such alert is open.
    """
    state = _open_state(client, alert_id, now_ns)
    _record_action(client, state, AlertEventKind.ACKNOWLEDGED, actor, now_ns, note)


def resolve(client: Client, alert_id: str, *, actor: str, now_ns: int, note: str = "") -> None:
    """Resolve an alert by hand; see `Alert.resolving`."""
    state = _open_state(client, alert_id, now_ns)
    _record_action(client, state, AlertEventKind.DISMISSED, actor, now_ns, note)


def accept(client: Client, alert_id: str, *, actor: str, now_ns: int, note: str = "") -> None:
    """Resolve a drift alert and call its risen rate the usual one; see `Alert.accepting`.

    Raises InputError for an alert of another rule, and where it is neither open nor resolved by
    hand.
    """
    state = alert_state(client, alert_id, now_ns=now_ns)
    if state is None or state.phase not in (AlertEventKind.FIRED, AlertEventKind.DISMISSED):
        raise _not_open(alert_id)
    if not state.alert.accepting:
        raise InputError(f"expected an alert about a risen rate, got one of {state.alert.rule}")
    _record_action(client, state, AlertEventKind.ACCEPTED, actor, now_ns, note)


def retract(client: Client, alert_id: str, *, actor: str, now_ns: int, note: str = "") -> None:
    """Undo an acceptance: the rate before the rise is the usual one again within the hour.

    Where the acceptance closed the alert, it fires again; where its evidence has ended since, or
    somebody had resolved it before, it stays closed. Raises InputError where the alert's rate was
    not accepted.
    """
    state = alert_state(client, alert_id, now_ns=now_ns)
    if state is None or not state.accepted_ns:
        raise InputError(f"expected an alert whose rate was accepted, got {alert_id!r}")
    at_ns = next_event_ns(state, now_ns)
    events = [AlertEvent(state.alert, at_ns, AlertEventKind.RETRACTED, {}, actor, note)]
    is_closed_by_it = state.resolved_ns == state.accepted_ns
    if state.phase == AlertEventKind.DISMISSED and is_closed_by_it:
        events.append(AlertEvent(state.alert, at_ns + 1, AlertEventKind.FIRED, actor=actor))
    record_alert_events(client, events)


def snooze(
    client: Client, alert_id: str, *, until_ns: int, actor: str, now_ns: int, note: str = ""
) -> Silence:
    """Send no notifications of an alert until that time."""
    state = _open_state(client, alert_id, now_ns)
    silence = Silence(now_ns, until_ns, {"id": state.id}, actor, note)
    stored = add_silence(client, silence, now_ns=now_ns)
    body = {"silence": stored.id, "until_ns": stored.ends_ns}
    _record_action(client, state, AlertEventKind.SNOOZED, actor, now_ns, note, body)
    return stored


def assign(client: Client, alert_id: str, owner: str, *, actor: str, now_ns: int) -> None:
    """Set who takes care of an alert, open or not; an empty name removes the owner.

    Raises InputError, like `link_ticket`, for an unknown alert.
    """
    body = {"owner": one_line(owner, MAX_OWNER)}
    _record_on_known(client, alert_id, AlertEventKind.ASSIGNED, actor, now_ns, body)


def link_ticket(
    client: Client, alert_id: str, url: str, *, actor: str, now_ns: int, is_removed: bool = False
) -> None:
    """Record the address of a ticket that somebody made, or that it is no longer one.

    Raises InputError for an address that no ticket can have.
    """
    body = {"url": ticket_url(url), "removed": is_removed}
    _record_on_known(client, alert_id, AlertEventKind.LINKED, actor, now_ns, body)


def _record_on_known(
    client: Client,
    alert_id: str,
    kind: AlertEventKind,
    actor: str,
    now_ns: int,
    body: Mapping[str, object],
) -> None:
    state = alert_state(client, alert_id, now_ns=now_ns)
    if state is None:
        raise InputError(f"expected the id of an alert, got {alert_id!r}")
    _record_action(client, state, kind, actor, now_ns, "", body)


def _record_action(
    client: Client,
    state: AlertState,
    kind: AlertEventKind,
    actor: str,
    now_ns: int,
    note: str,
    body: Mapping[str, object] | None = None,
) -> None:
    event = AlertEvent(state.alert, next_event_ns(state, now_ns), kind, body or {}, actor, note)
    record_alert_events(client, [event])


def _open_state(client: Client, alert_id: str, now_ns: int) -> AlertState:
    state = alert_state(client, alert_id, now_ns=now_ns)
    if state is None or not state.is_open:
        raise _not_open(alert_id)
    return state


def _not_open(alert_id: str) -> InputError:
    return InputError(
        f"expected the id of an open alert (see rt4chart alerts list), got {alert_id!r}"
    )


def _with_silence(state: AlertState, current: Sequence[Silence], now_ns: int) -> AlertState:
    return replace(state, silenced_ns=silenced_until(state.alert, current, now_ns))


def _row_from_event(event: AlertEvent) -> AlertEventRow:
    alert, body = event.alert, dict(event.body)
    if event.kind in WITH_FACTS:
        body = {"facts": facts_to_json(alert.facts), "starts_ns": alert.starts_ns}
    return AlertEventRow(
        alert_id=alert.id,
        at_ns=event.at_ns,
        event_id=event.id,
        kind=str(event.kind),
        rule=str(alert.rule),
        severity=str(alert.severity),
        service=alert.service,
        route=alert.route,
        issue_id=alert.issue_id,
        title=alert.title,
        body=encodable(json.dumps(body, ensure_ascii=False, default=str)),
        actor=event.actor,
        note=event.note,
    )


def _event_from_row(row: AlertEventRow) -> AlertEvent:
    body = json.loads(row.body)
    has_facts = row.kind in WITH_FACTS
    alert = Alert(
        row.rule,
        row.severity,
        row.service,
        row.route,
        row.issue_id,
        row.title,
        facts_from_json(row.rule, body.get("facts", {})) if has_facts else AlertFacts(),
        int(body.get("starts_ns", 0)) if has_facts else 0,
    )
    return AlertEvent(alert, row.at_ns, row.kind, {} if has_facts else body, row.actor, row.note)
