"""Sums of answers per five minutes, hour and day, each range of time read from the coarsest rows.

A row per hour or day has the sums that rates follow from; a row per five minutes has one line of
the histogram of answers (store/rates/ticks.py), from which the same sums follow.
"""

from __future__ import annotations

from enum import IntEnum

from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int
from rt4chart_collector.store.engine.scope import MAX_ROUTES, OF_ROUTE, OF_VERIFIER

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
_W = f"if(Decision = 'verified', {SAMPLE_WEIGHT}, 0)"
_K = "(Checked != 'no')"
COUNTS = {
    "Answers": "Answers",
    "DecidedAnswers": "Answers * (Decided > 0)",
    "UnfaithfulAnswers": "Answers * (Unfaithful > 0)",
    "CheckedAnswers": f"Answers * {_K}",
    "CitingAnswers": "CitingAnswers",
    "MiscitingAnswers": "MiscitingAnswers",
    "Claims": "Answers * Decided",
    "UnfaithfulClaims": "Answers * Unfaithful",
    "MisleadingClaims": "Answers * Misleading",
    "CheckedClaims": f"Answers * Decided * {_K}",
    "Contradicted": "Contradicted",
    "Baseless": "Baseless",
    "Undecided": "Undecided",
}
# W is a weight, 1 / sample rate, of verified answers alone; M the decided claims of an answer, X
# the unfaithful ones, Y the weighted misleading ones; K marks answers that were checked for these.
WEIGHTED = {
    "WContradicted": f"{_W} * Contradicted",
    "WBaseless": f"{_W} * Baseless",
    "WUndecided": f"{_W} * Undecided",
    "WWUndecided": f"pow({_W}, 2) * Undecided",
    "WM": f"{_W} * Answers * Decided",
    "WX": f"{_W} * Answers * Unfaithful",
    "WWM": f"pow({_W}, 2) * Answers * Decided",
    "WWXX": f"pow({_W}, 2) * Answers * Unfaithful * Unfaithful",
    "WWXM": f"pow({_W}, 2) * Answers * Unfaithful * Decided",
    "WWMM": f"pow({_W}, 2) * Answers * Decided * Decided",
    "WDecidedAnswers": f"{_W} * Answers * (Decided > 0)",
    "WUnfaithfulAnswers": f"{_W} * Answers * (Unfaithful > 0)",
    "WWDecidedAnswers": f"pow({_W}, 2) * Answers * (Decided > 0)",
    "WWUnfaithfulAnswers": f"pow({_W}, 2) * Answers * (Unfaithful > 0)",
    "KWM": f"{_W} * {_K} * Answers * Decided",
    "KWX": f"{_W} * {_K} * Answers * Unfaithful",
    "KWY": f"{_W} * {_K} * Answers * MisleadingWeight",
    "KWWM": f"pow({_W}, 2) * {_K} * Answers * Decided",
    "KWWMM": f"pow({_W}, 2) * {_K} * Answers * Decided * Decided",
    "KWWXX": f"pow({_W}, 2) * {_K} * Answers * Unfaithful * Unfaithful",
    "KWWXY": f"pow({_W}, 2) * {_K} * Answers * Unfaithful * MisleadingWeight",
    "KWWYY": f"pow({_W}, 2) * {_K} * Answers * MisleadingWeight * MisleadingWeight",
    "KWWXM": f"pow({_W}, 2) * {_K} * Answers * Unfaithful * Decided",
    "KWWYM": f"pow({_W}, 2) * {_K} * Answers * MisleadingWeight * Decided",
}
MAPS = {"WStatuses": f"mapApply((status, claims) -> (status, {_W} * claims), Statuses)"}
SUMS = {**COUNTS, **WEIGHTED, **MAPS}
# The first and the last five minutes with an answer.
TIMES = {"FirstTick": "min", "LastTick": "max"}

# The sums per hour and day are complete from this time on: those of before an upgrade are filled
# day by day (store/rates/rollup.py). Before, the five minutes serve.
STARTS = "rt4chart_rollup_starts"
COMPLETE_SINCE = (
    f"(SELECT if(count() = 0, 4290000000, toInt64(min(toUnixTimestamp(Since)))) FROM {STARTS})"  # noqa: S608 - our own names
)


def sums_in(
    coarsest: Grain = Grain.DAY,
    *,
    since: str = "{since:Int64}",
    until: str = "{until:Int64}",
    where: str = f"{OF_VERIFIER} AND {OF_ROUTE}",
) -> str:
    """A subquery of the sums in [since, until), of rows no coarser than `coarsest`.

    `since` and `until` are expressions in nanoseconds, `where` is a condition on `KEYS`. The
    columns are `KEYS`, `Tick` (the start of the row's time), `TIMES` and `SUMS`. Whole days and
    hours are read from their own rows, what is left at both ends from finer ones, so that every
    answer whose five minutes start in the range is in exactly one row.
    """
    since_s = f"intDiv(greatest({since}, 0) + 999999999, {SECOND_NS})"
    until_s = f"intDiv(least({until}, 4290000000000000000) + 999999999, {SECOND_NS})"
    of_time = f"Tick >= toDateTime({since_s}, 'UTC') AND Tick < toDateTime({until_s}, 'UTC')"
    rows, taken = [], ""
    for grain in (Grain.DAY, Grain.HOUR):
        if grain <= coarsest:
            whole = _whole(grain, f"greatest({since_s}, {COMPLETE_SINCE})", until_s)
            rows.append(_rows(grain, f"{whole}{taken} AND {where}"))
            taken += f" AND NOT ({whole})"
    rows.append(_rows(Grain.TICK, f"{of_time}{taken} AND {where}"))
    return f"({' UNION ALL '.join(rows)})"


def among_busiest(service: str = "ServiceName", route: str = "Route") -> str:
    """The condition that a row's route is one of the `MAX_ROUTES` with the most claims in scope."""
    return f"""({service}, {route}) IN (
        SELECT ServiceName, Route FROM {sums_in()}
        GROUP BY ServiceName, Route
        ORDER BY sum(Claims) + sum(Undecided) DESC, sum(Answers) DESC, ServiceName, Route
        LIMIT {MAX_ROUTES}
    )"""  # noqa: S608 - our own names


def coarsest_of(step_s: int) -> Grain:
    """The coarsest rows of which each is in one step, where steps are multiples of their length."""
    return next(grain for grain in (Grain.DAY, Grain.HOUR, Grain.TICK) if step_s % grain == 0)


def total(name: str) -> str:
    """The sum of a weighted column; floats leave a trace of what was taken off again."""
    return f"if(abs(sum({name})) < 0.001, 0, sum({name}))"


def complete_since_s(client: Client) -> int:
    """The time from which on the sums per hour and day are complete; far ahead if nowhere."""
    return read_int(client, f"SELECT {COMPLETE_SINCE}")


def _whole(grain: Grain, since_s: str, until_s: str) -> str:
    """The condition that a row's hour or day is in the range as a whole."""
    first = f"intDiv({since_s} + {grain - 1}, {int(grain)}) * {int(grain)}"
    end = f"intDiv({until_s}, {int(grain)}) * {int(grain)}"
    return f"Tick >= toDateTime({first}, 'UTC') AND Tick < toDateTime({end}, 'UTC')"


def _rows(grain: Grain, where: str) -> str:
    columns = SUMS if grain is Grain.TICK else {name: name for name in SUMS}
    times = {name: "Tick" if grain is Grain.TICK else name for name in TIMES}
    listed = ", ".join(
        value if value == name else f"{value} AS {name}"
        for name, value in {**times, **columns}.items()
    )
    return f"SELECT {', '.join(KEYS)}, Tick, {listed} FROM {TABLES[grain]} WHERE {where}"  # noqa: S608 - our own names
