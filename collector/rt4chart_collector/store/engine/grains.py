"""Sums of answers per five minutes, hour and day, each range of time read from the coarsest rows.

A row per hour or day has the sums that rates follow from; a row per five minutes has one line of
the histogram of answers (store/rates/ticks.py), from which the same sums follow.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from weakref import WeakSet

from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int
from rt4chart_collector.store.engine.scope import OF_ROUTE, OF_VERIFIER, QueryScope

SECOND_NS = 10**9


class Grain(IntEnum):
    """The seconds that a row of sums is about."""

    TICK = 300
    HOUR = 3600
    DAY = 86_400


TABLES = {
    Grain.TICK: "rt4chart_route_5m",
    Grain.HOUR: "rt4chart_route_1h",
    Grain.DAY: "rt4chart_route_1d",
}
KEYS = (
    "ServiceName",
    "Route",
    "VerifierId",
    "Environment",
    "Model",
    "PromptVersion",
    "Release",
    "Decision",
)
# Rows per five minutes are signed: a replaced verdict is added again with its sign turned. Every
# sum below is linear in the signed numbers of a row, so both cancel here too.
# W is a weight, 1 / sample rate, of verified answers alone; K marks answers that were checked for
# misleading claims. The engine takes as long to analyze a product as to add up hundreds of rows.
WEIGHTS = f"""if(Decision = 'verified', {SAMPLE_WEIGHT}, 0) AS w, w * w AS ww, Checked != 'no' AS k,
    w * Answers AS wa, ww * Answers AS wwa, w * k * Answers AS kwa, ww * k * Answers AS kwwa"""
COUNTS = {
    "Answers": "Answers",
    "DecidedAnswers": "Answers * (Decided > 0)",
    "UnfaithfulAnswers": "Answers * (Unfaithful > 0)",
    "CheckedAnswers": "Answers * k",
    "CitingAnswers": "CitingAnswers",
    "MiscitingAnswers": "MiscitingAnswers",
    "Claims": "Answers * Decided",
    "UnfaithfulClaims": "Answers * Unfaithful",
    "MisleadingClaims": "Answers * Misleading",
    "CheckedClaims": "Answers * Decided * k",
    "Contradicted": "Contradicted",
    "Baseless": "Baseless",
    "Undecided": "Undecided",
}
# M are the decided claims of an answer, X the unfaithful ones, Y the weighted misleading ones.
WEIGHTED = {
    "WContradicted": "w * Contradicted",
    "WBaseless": "w * Baseless",
    "WUndecided": "w * Undecided",
    "WWUndecided": "ww * Undecided",
    "WM": "wa * Decided",
    "WX": "wa * Unfaithful",
    "WWM": "wwa * Decided",
    "WWXX": "wwa * Unfaithful * Unfaithful",
    "WWXM": "wwa * Unfaithful * Decided",
    "WWMM": "wwa * Decided * Decided",
    "WDecidedAnswers": "wa * (Decided > 0)",
    "WUnfaithfulAnswers": "wa * (Unfaithful > 0)",
    "WWDecidedAnswers": "wwa * (Decided > 0)",
    "WWUnfaithfulAnswers": "wwa * (Unfaithful > 0)",
    "KWM": "kwa * Decided",
    "KWX": "kwa * Unfaithful",
    "KWY": "kwa * MisleadingWeight",
    "KWWM": "kwwa * Decided",
    "KWWMM": "kwwa * Decided * Decided",
    "KWWXX": "kwwa * Unfaithful * Unfaithful",
    "KWWXY": "kwwa * Unfaithful * MisleadingWeight",
    "KWWYY": "kwwa * MisleadingWeight * MisleadingWeight",
    "KWWXM": "kwwa * Unfaithful * Decided",
    "KWWYM": "kwwa * MisleadingWeight * Decided",
}
MAPS = {"WStatuses": "mapApply((status, claims) -> (status, w * claims), Statuses)"}
SUMS = {**COUNTS, **WEIGHTED, **MAPS}
# All sums in two arrays: the engine takes as long to plan a statement for each column as it takes
# to add up hundreds of rows.
ALL_COUNTS, ALL_WEIGHTS = "AllCounts", "AllWeights"
IN_ARRAYS = (ALL_COUNTS, ALL_WEIGHTS, *MAPS)
# The first and the last five minutes with an answer.
TIMES = {"FirstTick": "min", "LastTick": "max"}

# As far as the engine's times in seconds reach, in whole days.
MOST_S = 49_650 * 86_400
# The sums per hour and day are complete from this time on: those of before an upgrade are filled
# day by day (store/rates/rollup.py). Before, the five minutes serve.
STARTS = "rt4chart_rollup_starts"
COMPLETE_SINCE = f"""
SELECT if(count() = 0, {MOST_S}, toInt64(min(toUnixTimestamp(Since)))) FROM {STARTS}
"""  # noqa: S608 - our own names
# Once the sums are complete from the beginning, they stay so.
_complete: WeakSet[Client] = WeakSet()
OF_SCOPE = f"{OF_VERIFIER} AND {OF_ROUTE}"


def sums_in(
    client: Client,
    since_ns: int,
    until_ns: int,
    columns: Collection[str],
    *,
    coarsest: Grain = Grain.DAY,
    where: str = OF_SCOPE,
) -> str:
    """A subquery of the sums in [since, until), of rows no coarser than `coarsest`.

    It has these `columns` of `KEYS`, `Tick` (the start of the row's time), `TIMES`, `SUMS` and
    `IN_ARRAYS`, which have the `COUNTS` and the `WEIGHTED` in order; `where` is a condition on
    `KEYS`. Whole days and hours are read from their own rows, what is
    left at both ends from finer ones, so that every answer whose five minutes start in the range is
    in exactly one row.
    """
    since_s = -(-max(since_ns, 0) // SECOND_NS)
    until_s = -(-min(until_ns, MOST_S * SECOND_NS) // SECOND_NS)
    whole_s = max(since_s, complete_since_s(client)) if until_s - since_s >= Grain.HOUR else MOST_S
    rows, taken, left_s = [], "", until_s - since_s
    for grain in (Grain.DAY, Grain.HOUR):
        first_s, end_s = -(-whole_s // grain) * grain, until_s // grain * grain
        if grain <= coarsest and first_s < end_s:
            whole = _between(first_s, end_s)
            rows.append(_rows(grain, columns, f"{whole}{taken} AND {where}"))
            taken += f" AND NOT ({whole})"
            left_s = until_s - since_s - (end_s - first_s)
    if left_s > 0 or not rows:
        rows.append(_rows(Grain.TICK, columns, f"{_between(since_s, until_s)}{taken} AND {where}"))
    return f"({' UNION ALL '.join(rows)})"


def sums_of(
    client: Client,
    scope: QueryScope,
    columns: Collection[str],
    *,
    coarsest: Grain = Grain.DAY,
) -> str:
    """The same for the answers of a scope, whose parameters the query is given."""
    return sums_in(client, scope.since_ns, scope.until_ns, columns, coarsest=coarsest)


def coarsest_of(step_s: int) -> Grain:
    """The coarsest rows of which each is in one step, where steps are multiples of their length."""
    return next(grain for grain in (Grain.DAY, Grain.HOUR, Grain.TICK) if step_s % grain == 0)


def total(name: str) -> str:
    """The sum of a weighted column; floats leave a trace of what was taken off again."""
    return f"round(sum({name}), 9)"


def complete_since_s(client: Client) -> int:
    """The time from which on the sums per hour and day are complete; far ahead if nowhere."""
    if client in _complete:
        return 0
    found = read_int(client, COMPLETE_SINCE)
    if found == 0:
        _complete.add(client)
    return found


def _between(since_s: int, until_s: int) -> str:
    return f"Tick >= toDateTime({since_s}, 'UTC') AND Tick < toDateTime({until_s}, 'UTC')"


def _rows(grain: Grain, columns: Collection[str], where: str) -> str:
    made = {**SUMS, **dict.fromkeys(TIMES, "Tick")} if grain is Grain.TICK else {}
    counts = ", ".join(made.get(name, name) for name in COUNTS)
    weights = ", ".join(made.get(name, name) for name in WEIGHTED)
    made |= {ALL_COUNTS: f"[{counts}]", ALL_WEIGHTS: f"[{weights}]"}
    listed = ", ".join(
        name if made.get(name, name) == name else f"{made[name]} AS {name}" for name in columns
    )
    table = f"{TABLES[grain]} WHERE {where}"
    if grain is Grain.TICK:
        # In a subquery, so that the engine analyzes each weight once and not where it is used.
        table = f"(SELECT *, {WEIGHTS} FROM {table})"  # noqa: S608 - our own names
    return f"SELECT {listed} FROM {table}"  # noqa: S608 - our own names
