"""The main verifier of a store in which several verifiers judged answers.

The choice has to be stable: the monitor starts anew when it changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

SECOND_NS = 1_000_000_000
HOUR_S = 3600
DAY_S = 24 * HOUR_S
RECENT_S = 7 * DAY_S
# A verifier without answers for an hour is replaced where others judged this many since; where
# answers are rarer, after a day.
REPLACED = 12
# Two verifiers of the same answers have about as many verdicts; within this ratio they are equal.
ABOUT = 0.8
VERIFIERS = """
SELECT VerifierId AS verifier, intDiv(toUnixTimestamp(Tick), 3600) * 3600 AS hour_s,
    sum(Answers) AS answers, toUnixTimestamp(min(Tick)) AS first_s,
    toUnixTimestamp(max(Tick)) AS last_s
FROM rt4chart_route_5m
WHERE Decision = 'verified' AND Tick >= toDateTime({since:Int64}, 'UTC')
  AND Tick <= toDateTime({now:Int64}, 'UTC')
GROUP BY VerifierId, hour_s HAVING answers > 0 ORDER BY VerifierId, hour_s
"""


@dataclass(frozen=True, slots=True)
class _Hour:
    """A verifier's answers of an hour, with its first and last tick; times in epoch seconds."""

    verifier: str
    hour_s: int
    answers: int
    first_s: int
    last_s: int


def main_verifier(client: Client, now_ns: int) -> str:
    """The verifier whose verdicts count; "" without a verdict in the last seven days.

    Of the active verifiers, the one with the most verdicts on the last whole day in UTC; of those
    with about as many, the first by name. Without a verdict on that day, the one that began first.
    """
    now_s = now_ns // SECOND_NS
    given = {"since": now_s - RECENT_S, "now": now_s}
    found: dict[str, list[_Hour]] = {}
    for row in read(client, _Hour, VERIFIERS, given):
        found.setdefault(row.verifier, []).append(row)
    at_work = {name: hours for name, hours in found.items() if not _is_replaced(name, found)}
    if not at_work:
        return ""
    today_s = now_s // DAY_S * DAY_S
    counted = {name: _answers(hours, today_s - DAY_S, today_s) for name, hours in at_work.items()}
    most = max(counted.values())
    if not most:
        return min(at_work, key=lambda name: (at_work[name][0].first_s, name))
    return min(name for name, answers in counted.items() if answers >= ABOUT * most)


def _is_replaced(name: str, found: Mapping[str, Sequence[_Hour]]) -> bool:
    last = found[name][-1]
    passed_s = max(hours[-1].last_s for hours in found.values()) - last.last_s
    others = [hours for other, hours in found.items() if other != name]
    start_s, end_s = last.hour_s + HOUR_S, last.hour_s + RECENT_S + DAY_S
    since = sum(_answers(hours, start_s, end_s) for hours in others)
    return passed_s >= DAY_S or (passed_s >= HOUR_S and since >= REPLACED)


def _answers(hours: Sequence[_Hour], since_s: int, until_s: int) -> int:
    return sum(hour.answers for hour in hours if since_s <= hour.hour_s < until_s)
