"""What happened to alerts: an append-only trail, from which their state is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import encodable
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.lifecycle import moment
from rt4chart_collector.core.alerts.silence import Silence, silenced_until
from rt4chart_collector.core.alerts.state import (
    PHASES,
    TELLING,
    AlertEvent,
    AlertState,
    Kind,
    states_of,
)
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of
from rt4chart_collector.store.scope import OF_SCOPE, scope
from rt4chart_collector.store.silences import add_silence, silences

EVENTS = Layout(
    "rt4chart_alert_events",
    (
        ("AlertId", "String"),
        ("At", "DateTime64(9, 'UTC')"),
        ("EventId", "String"),
        ("Kind", NAME),
        ("Rule", NAME),
        ("Severity", NAME),
        ("ServiceName", NAME),
        ("Route", NAME),
        ("IssueId", "UInt64"),
        ("Title", "String"),
        ("Body", "String"),
        ("Actor", "String"),
        ("Note", "String"),
    ),
)
DAY = 86_400 * 10**9
# A resolved alert is of interest for so long; where somebody was told that it fired and not that it
# ended, as in a silence, until that is told, and no longer than the second.
LATELY, OWED = 7 * DAY, 90 * DAY
# Of each alert what happened from a day before it last fired, which is what its state depends on.
OF_STATES = f"""
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
    HAVING {{id:String}} != '' OR max(At) >= fromUnixTimestamp64Nano({{lately:Int64}})
        OR argMaxIf(Kind, (At, EventId), Kind IN {{phases:Array(String)}}) != 'resolved'
        OR AlertId IN (SELECT AlertId FROM owed)
)
SELECT {EVENTS.selection}
FROM rt4chart_alert_events FINAL
INNER JOIN last USING (AlertId)
WHERE At >= Since
ORDER BY rt4chart_alert_events.At, EventId
"""  # noqa: S608 - our own names
OF_ALERT = f"""
SELECT {EVENTS.selection} FROM rt4chart_alert_events FINAL
WHERE AlertId = {{id:String}}
ORDER BY rt4chart_alert_events.At DESC, EventId DESC
LIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}
"""  # noqa: S608
MATCHING = f"""
FROM rt4chart_alert_events FINAL
WHERE Kind = 'fired' AND At >= fromUnixTimestamp64Nano({{since:Int64}})
  AND At < fromUnixTimestamp64Nano({{until:Int64}})
  AND ({{rule:String}} = '' OR Rule = {{rule:String}})
  AND ({{severity:String}} = '' OR Severity = {{severity:String}})
  AND {OF_SCOPE}
"""
EPISODES = f"""
WITH episodes AS (
    SELECT * {MATCHING}
    ORDER BY At DESC, EventId DESC
    LIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}
), ends AS (
    SELECT AlertId, At AS Ended, Actor AS EndedBy FROM rt4chart_alert_events FINAL
    WHERE Kind IN ('resolved', 'dismissed')
      AND AlertId IN (SELECT AlertId FROM episodes)
)
SELECT {EVENTS.selection}, toUnixTimestamp64Nano(Ended), EndedBy
FROM episodes ASOF LEFT JOIN ends ON episodes.AlertId = ends.AlertId AND episodes.At <= ends.Ended
ORDER BY At DESC, EventId DESC
"""  # noqa: S608
DISMISSED = """
SELECT ServiceName, Route, toUnixTimestamp64Nano(At) AS DismissedNs FROM rt4chart_alert_events FINAL
WHERE Kind = 'dismissed' AND Rule = {rule:String} AND At >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY DismissedNs
"""
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Episode:
    """From when an alert fired until it was over; `ended_ns` is 0 where it is not."""

    alert: Alert
    fired_ns: int
    ended_ns: int
    ended_by: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which episodes: those that began from `since_ns` to before `until_ns`.

    Any rule and severity is "", any service and route None.
    """

    since_ns: int
    until_ns: int
    rule: str = ""
    severity: str = ""
    service: str | None = None
    route: str | None = None

    @property
    def parameters(self) -> dict[str, object]:
        """The values of `MATCHING`."""
        return {
            "since": self.since_ns,
            "until": self.until_ns,
            "rule": self.rule,
            "severity": self.severity,
            **scope(self.service, self.route),
        }


def record(client: Client, events: Sequence[AlertEvent]) -> None:
    """Write the events; the same ones twice are there once.

    Raises InputError for a rule, a severity or a kind that there is not.
    """
    for event in events:
        for words, given in (
            (Rule, event.alert.rule),
            (Severity, event.alert.severity),
            (Kind, event.kind),
        ):
            if given not in list(words):
                raise InputError(f"expected one of {', '.join(words)}, got {given!r}")
    rows = [_row(event) for event in events]
    token = token_of("alerts", [(event.alert.id, event.id) for event in events])
    EVENTS.insert(client, rows, token=token)


def alert_states(client: Client, *, now_ns: int, alert_id: str = "") -> list[AlertState]:
    """How the alerts stand that are open, dismissed or were resolved lately, or the one of an id.

    And those that ended longer ago, where who was told of them does not know it yet.

    In the order in which they fired, the last one first.
    """
    times = {"lately": now_ns - LATELY, "owed": now_ns - OWED}
    given = {"id": alert_id, "phases": [str(one) for one in PHASES], **times}
    rows = client.query(OF_STATES, given).result_rows
    quiet = silences(client, now_ns)
    found = [_with_silence(one, quiet, now_ns) for one in states_of(map(_event, rows)).values()]
    return sorted(found, key=lambda one: (-one.fired_ns, one.id))


def open_alerts(client: Client, *, now_ns: int) -> list[AlertState]:
    """Those that fire, the last one first; each says whether it is acknowledged or silenced."""
    return [one for one in alert_states(client, now_ns=now_ns) if one.is_open]


def alert_state(client: Client, alert_id: str, *, now_ns: int) -> AlertState | None:
    """One alert with its facts, open or not; None where there never was one of that id."""
    return next(iter(alert_states(client, now_ns=now_ns, alert_id=alert_id)), None)


def trail(client: Client, alert_id: str, *, limit: int = 200, offset: int = 0) -> list[AlertEvent]:
    """What happened to an alert, the newest first."""
    given = {"id": alert_id, "limit": min(limit, MOST), "offset": offset}
    return [_event(row) for row in client.query(OF_ALERT, given).result_rows]


def history(client: Client, wanted: Wanted, *, limit: int = 50, offset: int = 0) -> list[Episode]:
    """The times that alerts fired, the newest first, at most 1,000 at once."""
    given = {**wanted.parameters, "limit": min(limit, MOST), "offset": offset}
    return [
        Episode(_event(row[:13]).alert, row[1], max(row[13], 0), row[14])
        for row in client.query(EPISODES, given).result_rows
    ]


def history_count(client: Client, wanted: Wanted) -> int:
    """How many episodes there are in all."""
    return int(client.query(f"SELECT count() {MATCHING}", wanted.parameters).result_rows[0][0])


def dismissals(client: Client, rule: str, *, since_ns: int) -> dict[tuple[str, str], list[int]]:
    """When people resolved alerts of a rule by hand, in order, by (service, route)."""
    found: dict[tuple[str, str], list[int]] = {}
    given = {"rule": rule, "since": since_ns}
    for service, route, at_ns in client.query(DISMISSED, given).result_rows:
        found.setdefault((service, route), []).append(at_ns)
    return found


def acknowledge(client: Client, alert_id: str, *, actor: str, now_ns: int, note: str = "") -> None:
    """Say that somebody has taken it on: no reminders until it gets worse.

    Raises InputError, as the others here, where no such alert is open.
    """
    state = _open(client, alert_id, now_ns)
    record(
        client, [AlertEvent(state.alert, moment(state, now_ns), Kind.ACKNOWLEDGED, {}, actor, note)]
    )


def resolve(client: Client, alert_id: str, *, actor: str, now_ns: int, note: str = "") -> None:
    """Resolve it by hand; `Alert.resolving` says what that means."""
    state = _open(client, alert_id, now_ns)
    record(
        client, [AlertEvent(state.alert, moment(state, now_ns), Kind.DISMISSED, {}, actor, note)]
    )


def snooze(
    client: Client, alert_id: str, *, until_ns: int, actor: str, now_ns: int, note: str = ""
) -> Silence:
    """Tell nobody of it until then."""
    state = _open(client, alert_id, now_ns)
    silence = Silence(now_ns, until_ns, {"id": state.id}, actor, note)
    kept = add_silence(client, silence, now_ns=now_ns)
    body = {"silence": kept.id, "until_ns": kept.ends_ns}
    record(
        client, [AlertEvent(state.alert, moment(state, now_ns), Kind.SNOOZED, body, actor, note)]
    )
    return kept


def _open(client: Client, alert_id: str, now_ns: int) -> AlertState:
    state = alert_state(client, alert_id, now_ns=now_ns)
    if state is None or not state.is_open:
        raise InputError(
            f"expected the id of an alert that is open (rt4chart alerts list), got {alert_id!r}"
        )
    return state


def _with_silence(state: AlertState, quiet: Sequence[Silence], now_ns: int) -> AlertState:
    return replace(state, silenced_ns=silenced_until(state.alert, quiet, now_ns))


def _row(event: AlertEvent) -> Row:
    one, body = event.alert, dict(event.body)
    if event.kind in TELLING:
        body = {"facts": dict(one.facts), "starts_ns": one.starts_ns}
    return (
        *(one.id, event.at_ns, event.id, str(event.kind), str(one.rule), str(one.severity)),
        *(one.service, one.route, one.issue_id, one.title),
        encodable(json.dumps(body, ensure_ascii=False, default=str)),
        *(event.actor, event.note),
    )


def _event(row: Sequence[object]) -> AlertEvent:
    _, at_ns, _, kind, rule, severity, service, route, issue, title, body, actor, note = row
    told = json.loads(str(body))
    is_telling = kind in TELLING
    facts: Mapping[str, object] = told.get("facts", {}) if is_telling else {}
    starts_ns = int(told.get("starts_ns", 0)) if is_telling else 0
    alert = Alert(
        *(str(rule), str(severity), str(service), str(route)),
        *(int(str(issue)), str(title), facts, starts_ns),
    )
    return AlertEvent(
        alert, int(str(at_ns)), str(kind), {} if is_telling else told, str(actor), str(note)
    )
