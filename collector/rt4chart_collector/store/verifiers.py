"""Whose verdicts are looked at where several verifiers judged answers of one store.

It has to be the same one each time: a monitor that turns to another begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rt4chart_collector.store.connect import Client

SECOND_NS = 1_000_000_000
HOUR_S = 3600
DAY_S = 24 * HOUR_S
RECENT_S = 7 * DAY_S
# Others that judged so many answers since, for an hour, have taken the place of one without any;
# where answers are rarer, so has whoever went on for a day.
REPLACED = 12
# Two that judge the same answers have about as many verdicts: chance is not to tell which.
ABOUT = 0.8
VERIFIERS = """
SELECT VerifierId, intDiv(toUnixTimestamp(Tick), 3600) * 3600 AS Hour, sum(Answers) AS N,
    toUnixTimestamp(min(Tick)) AS First, toUnixTimestamp(max(Tick)) AS Last
FROM rt4chart_route_5m
WHERE Decision = 'verified' AND Tick >= toDateTime({since:Int64}, 'UTC')
  AND Tick <= toDateTime({now:Int64}, 'UTC')
GROUP BY VerifierId, Hour HAVING N > 0 ORDER BY VerifierId, Hour
"""

# (hour, answers, first tick, last tick), in order, times in epoch seconds.
Hours = Sequence[tuple[int, int, int, int]]


def main_verifier(client: Client, now_ns: int) -> str:
    """The verifier whose verdicts are looked at; "" without a verdict of the last seven days.

    Of those at work, the one with the most verdicts of the last whole day in UTC, the first by name
    of about as many. Where that day has none, the one that began first.
    """
    now_s = now_ns // SECOND_NS
    given = {"since": now_s - RECENT_S, "now": now_s}
    found: dict[str, list[tuple[int, int, int, int]]] = {}
    for name, *times in client.query(VERIFIERS, given).result_rows:
        hour, answers, first, last = map(int, times)
        found.setdefault(name, []).append((hour, answers, first, last))
    at_work = {name: hours for name, hours in found.items() if not _is_replaced(name, found)}
    if not at_work:
        return ""
    today_s = now_s // DAY_S * DAY_S
    counted = {name: _answers(hours, today_s - DAY_S, today_s) for name, hours in at_work.items()}
    most = max(counted.values())
    if not most:
        return min(at_work, key=lambda name: (at_work[name][0][2], name))
    return min(name for name, answers in counted.items() if answers >= ABOUT * most)


def _is_replaced(name: str, found: Mapping[str, Hours]) -> bool:
    hour, *_, last_s = found[name][-1]
    passed_s = max(hours[-1][3] for hours in found.values()) - last_s
    others = [hours for other, hours in found.items() if other != name]
    since = sum(_answers(hours, hour + HOUR_S, hour + RECENT_S + DAY_S) for hours in others)
    return passed_s >= DAY_S or (passed_s >= HOUR_S and since >= REPLACED)


def _answers(hours: Hours, since_s: int, until_s: int) -> int:
    return sum(answers for hour, answers, *_ in hours if since_s <= hour < until_s)
