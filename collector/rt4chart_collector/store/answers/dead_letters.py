"""Answers that the judge failed on: waiting for another attempt, or given up (dead letters)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from rt4chart_collector.store.engine.columns import (
    ALL_TRACES,
    IN_SHARE,
    IsDeleted,
    TraceShare,
    VerdictRow,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    RowTable,
    StoredAs,
    batch_token,
    read,
)
from rt4chart_collector.store.engine.scope import QueryScope, in_time


class LetterState(StrEnum):
    """Whether the answer will be judged again."""

    WAITING = "waiting"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class DeadLetter(VerdictRow):
    """One answer and verifier that failed; all times are epoch nanoseconds.

    `reason` is one of `judge_failure.KINDS`, or says that the answer is no longer stored.
    Of several rows of one letter the highest `version` counts.
    """

    state: Annotated[LetterState, StoredAs("State", "Enum8('waiting' = 1, 'dead' = 2)")]
    reason: Annotated[str, StoredAs("Reason", LOW_CARDINALITY)]
    error_type: Annotated[str, StoredAs("ErrorType", LOW_CARDINALITY)]
    attempts: Annotated[int, StoredAs("Attempts", "UInt16")]
    first_ns: Annotated[int, StoredAs("FirstFailed", TIME)]
    last_ns: Annotated[int, StoredAs("LastFailed", TIME)]
    next_ns: Annotated[int, StoredAs("NextAttempt", TIME)]
    version: Version
    is_deleted: IsDeleted = False


LETTERS = RowTable("rt4chart_dead_letters", DeadLetter)
SELECT_LETTERS = f"""
SELECT {LETTERS.select()} FROM rt4chart_dead_letters FINAL WHERE IsDeleted = 0
"""  # noqa: S608 - our own names alone
LETTERS_OF_TRACES = (
    f"{SELECT_LETTERS} AND VerifierId = {{verifier:String}} AND TraceId IN {{ids:Array(String)}}"
)
DUE_LETTERS = f"""{SELECT_LETTERS} AND VerifierId = {{verifier:String}} AND State = 'waiting'
AND NextAttempt <= fromUnixTimestamp64Nano({{now:Int64}}) AND {IN_SHARE}
ORDER BY NextAttempt, TraceId, SpanId LIMIT {{limit:UInt32}}
"""
IS_DEAD = "State = 'dead' AND LastFailed >= fromUnixTimestamp64Nano({since:Int64})"
DEAD_LETTERS = f"""{SELECT_LETTERS} AND {IS_DEAD}
AND ({{route:String}} = '' OR Route = {{route:String}})
AND ({{reason:String}} = '' OR Reason = {{reason:String}})
ORDER BY LastFailed, TraceId, SpanId
"""
DIED_IN_TIME = f"State = 'dead' AND {in_time('LastFailed')}"
LATEST_DEAD_LETTERS = f"""{SELECT_LETTERS} AND {DIED_IN_TIME}
ORDER BY LastFailed DESC, TraceId, SpanId LIMIT {{limit:UInt32}}
"""
DEAD_LETTER_REASONS = f"""
SELECT Reason AS reason, count() AS answers FROM rt4chart_dead_letters FINAL
WHERE IsDeleted = 0 AND {DIED_IN_TIME} GROUP BY Reason ORDER BY answers DESC, Reason LIMIT 1000
"""  # noqa: S608
LETTER_COUNTS = """
SELECT toString(State) AS state, Reason AS reason, count() AS answers
FROM rt4chart_dead_letters FINAL
WHERE IsDeleted = 0 AND VerifierId = {verifier:String} GROUP BY ALL ORDER BY ALL
"""
BACKLOG = """
SELECT countIf(State = 'waiting') AS waiting,
    countIf(State = 'dead' AND LastFailed >= fromUnixTimestamp64Nano({since:Int64})) AS dead
FROM rt4chart_dead_letters FINAL WHERE IsDeleted = 0 AND VerifierId IN {verifiers:Array(String)}
"""


@dataclass(frozen=True, slots=True)
class LetterCounts:
    """The number of answers that wait for another attempt, and of those given up, by reason."""

    waiting: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)


def insert_letters(
    client: Client, letters: Sequence[DeadLetter], *, settled: Collection[DeadLetter] = ()
) -> None:
    """Write the letters, each in place of its earlier row, and delete the `settled` ones."""
    rows = [
        *letters,
        *(replace(letter, version=letter.version + 1, is_deleted=True) for letter in settled),
    ]
    written = [
        (
            *(letter.trace_id, letter.span_id, letter.verifier),
            *(letter.version, int(letter.is_deleted), letter.service),
        )
        for letter in rows
    ]
    LETTERS.insert(client, rows, token=batch_token("letters", written))


def letters_of(
    client: Client, trace_ids: Iterable[str], verifier: str
) -> dict[tuple[str, str], DeadLetter]:
    """This verifier's letters of these traces, by (trace id, span id)."""
    parameters = {"verifier": verifier, "ids": sorted(set(trace_ids))}
    if not parameters["ids"]:
        return {}
    return {
        letter.key: letter for letter in read(client, DeadLetter, LETTERS_OF_TRACES, parameters)
    }


def due_letters(
    client: Client, verifier: str, now_ns: int, limit: int, *, share: TraceShare = ALL_TRACES
) -> list[DeadLetter]:
    """The letters in this share of the traces that are due by now, the earliest first."""
    parameters = {"verifier": verifier, "now": now_ns, "limit": limit, **share.parameters}
    return read(client, DeadLetter, DUE_LETTERS, parameters)


def dead_letters(
    client: Client, *, since_ns: int, route: str = "", reason: str = ""
) -> list[DeadLetter]:
    """The letters given up since then, of every verifier; an empty route or reason matches all."""
    return read(
        client, DeadLetter, DEAD_LETTERS, {"since": since_ns, "route": route, "reason": reason}
    )


def last_dead_letters(client: Client, scope: QueryScope, *, limit: int) -> list[DeadLetter]:
    """The letters given up in the scope's time, the newest first, at most `limit`."""
    return read(client, DeadLetter, LATEST_DEAD_LETTERS, {**scope.parameters, "limit": limit})


def dead_letter_reasons(client: Client, scope: QueryScope) -> list[tuple[str, int]]:
    """The number of answers given up in the scope's time by reason, the most frequent first."""
    rows = client.query(DEAD_LETTER_REASONS, scope.parameters).named_results()
    return [(row["reason"], row["answers"]) for row in rows]


def letter_counts(client: Client, verifier: str) -> LetterCounts:
    """The numbers of this verifier's letters."""
    rows = list(client.query(LETTER_COUNTS, {"verifier": verifier}).named_results())
    waiting = sum(row["answers"] for row in rows if row["state"] == LetterState.WAITING)
    dead = {row["reason"]: row["answers"] for row in rows if row["state"] == LetterState.DEAD}
    return LetterCounts(waiting, dead)


def letter_backlog(client: Client, verifiers: Collection[str], *, since_ns: int) -> tuple[int, int]:
    """The numbers of these verifiers' letters that wait, and that were given up since then."""
    parameters = {"verifiers": sorted(verifiers), "since": since_ns}
    ((waiting, dead),) = client.query(BACKLOG, parameters).result_rows
    return int(waiting), int(dead)
