"""Answers that the judge failed on: which are tried again and when, and which are given up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, token_of
from rt4chart_collector.store.share import ALL, OURS, Share

TIME = "DateTime64(9, 'UTC')"
LETTERS = Layout(
    "rt4chart_dead_letters",
    (
        ("Timestamp", TIME),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ServiceName", NAME),
        ("Route", NAME),
        ("VerifierId", NAME),
        ("State", "Enum8('waiting' = 1, 'dead' = 2)"),
        ("Reason", NAME),
        ("ErrorType", NAME),
        ("Attempts", "UInt16"),
        ("FirstFailed", TIME),
        ("LastFailed", TIME),
        ("NextAttempt", TIME),
        ("Version", "UInt64"),
        ("IsDeleted", "UInt8"),
    ),
)
IN_FORCE = f"""
SELECT {LETTERS.selection} FROM rt4chart_dead_letters FINAL WHERE IsDeleted = 0
"""  # noqa: S608 - our own names alone
OF_TRACES = f"{IN_FORCE} AND VerifierId = {{verifier:String}} AND TraceId IN {{ids:Array(String)}}"
DUE = f"""{IN_FORCE} AND VerifierId = {{verifier:String}} AND State = 'waiting'
AND NextAttempt <= fromUnixTimestamp64Nano({{now:Int64}}) AND {OURS}
ORDER BY NextAttempt, TraceId, SpanId LIMIT {{limit:UInt32}}
"""
DEAD = f"""{IN_FORCE} AND State = 'dead'
AND LastFailed >= fromUnixTimestamp64Nano({{since:Int64}})
AND ({{route:String}} = '' OR Route = {{route:String}})
AND ({{reason:String}} = '' OR Reason = {{reason:String}})
ORDER BY LastFailed, TraceId, SpanId
"""
COUNTS = """
SELECT toString(State), Reason, count() FROM rt4chart_dead_letters FINAL
WHERE IsDeleted = 0 AND VerifierId = {verifier:String} GROUP BY ALL ORDER BY ALL
"""

BACKLOG = """
SELECT countIf(State = 'waiting'),
    countIf(State = 'dead' AND LastFailed >= fromUnixTimestamp64Nano({since:Int64}))
FROM rt4chart_dead_letters FINAL WHERE IsDeleted = 0 AND VerifierId IN {verifiers:Array(String)}
"""


class State(StrEnum):
    """Whether the answer is tried again."""

    WAITING = "waiting"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Letter:
    """One answer and verifier that failed; all times are epoch nanoseconds.

    `reason` is one of `judge_failure.KINDS`, or says that the answer is gone; `start_ns` is the
    answer's start, `version` orders the letter's writings.
    """

    start_ns: int
    trace_id: str
    span_id: str
    service: str
    route: str
    verifier: str
    state: State
    reason: str
    error_type: str
    attempts: int
    first_ns: int
    last_ns: int
    next_ns: int
    version: int


@dataclass(frozen=True, slots=True)
class LetterCounts:
    """How many answers wait for another attempt, and how many were given up, by reason."""

    waiting: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)


def insert_letters(
    client: Client, letters: Sequence[Letter], *, settled: Collection[Letter] = ()
) -> None:
    """Write the letters, each in place of its earlier writing; the `settled` are taken away."""
    rows = [_row(one, 0) for one in letters]
    rows += [_row(one, 1) for one in settled]
    token = token_of("letters", ((*row[1:3], row[5], *row[-2:]) for row in rows))
    LETTERS.insert(client, rows, token=token)


def letters_of(
    client: Client, trace_ids: Iterable[str], verifier: str
) -> dict[tuple[str, str], Letter]:
    """This verifier's letters of these traces, by (trace id, span id)."""
    given = {"verifier": verifier, "ids": sorted(set(trace_ids))}
    if not given["ids"]:
        return {}
    return {(one.trace_id, one.span_id): one for one in letters_in(client, OF_TRACES, given)}


def due_letters(
    client: Client, verifier: str, now_ns: int, limit: int, *, share: Share = ALL
) -> list[Letter]:
    """What is to be tried again by now of this share of the traces, the longest due first."""
    given = {"verifier": verifier, "now": now_ns, "limit": limit, **share.parameters}
    return letters_in(client, DUE, given)


def dead_letters(
    client: Client, *, since_ns: int, route: str = "", reason: str = ""
) -> list[Letter]:
    """What was given up since then, of every verifier; an empty route or reason takes all."""
    return letters_in(client, DEAD, {"since": since_ns, "route": route, "reason": reason})


def letter_counts(client: Client, verifier: str) -> LetterCounts:
    """This verifier's letters in numbers."""
    rows = client.query(COUNTS, {"verifier": verifier}).result_rows
    dead = {reason: count for state, reason, count in rows if state == State.DEAD}
    waiting = sum(count for state, _, count in rows if state == State.WAITING)
    return LetterCounts(waiting, dead)


def backlog(client: Client, verifiers: Collection[str], *, since_ns: int) -> tuple[int, int]:
    """How many letters of these verifiers wait, and how many were given up since then."""
    given = {"verifiers": sorted(verifiers), "since": since_ns}
    ((waiting, dead),) = client.query(BACKLOG, given).result_rows
    return int(waiting), int(dead)


def letters_in(client: Client, query: str, given: Mapping[str, object]) -> list[Letter]:
    """The rows of a query over the columns of `IN_FORCE`."""
    return [_letter(row) for row in client.query(query, given).result_rows]


def _letter(row: Sequence[Any]) -> Letter:
    start, trace_id, span_id, service, route, verifier, state, *rest, _ = row
    return Letter(start, trace_id, span_id, service, route, verifier, State(state), *rest)


def _row(letter: Letter, is_deleted: int) -> tuple[Any, ...]:
    return (
        letter.start_ns,
        letter.trace_id,
        letter.span_id,
        letter.service,
        letter.route,
        letter.verifier,
        letter.state.value,
        letter.reason,
        letter.error_type,
        letter.attempts,
        letter.first_ns,
        letter.last_ns,
        letter.next_ns,
        letter.version + is_deleted,
        is_deleted,
    )
