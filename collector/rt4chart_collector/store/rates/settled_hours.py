"""Fingerprints of routes' hours: whether a verdict came, or was replaced, after they were read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import Grain, sums_of
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope

DAY_NS = 86_400 * 10**9
# Whole numbers alone: weighted sums differ in their last digits with the order of adding up.
COUNTED = (
    "Answers",
    "DecidedAnswers",
    "UnfaithfulAnswers",
    "CheckedAnswers",
    "Claims",
    "UnfaithfulClaims",
    "MisleadingClaims",
    "CheckedClaims",
)
_SUMMED = ", ".join(f"sum({one})" for one in COUNTED)
DAY_PRINTS = f"""
SELECT service, route, intDiv(Hour, 24) AS day,
    groupBitXorIf(Print, Hour < {{earlier:Int64}}) AS earlier, groupBitXor(Print) AS whole
FROM (
    SELECT ServiceName AS service, Route AS route, intDiv(toUnixTimestamp(Tick), 3600) AS Hour,
        cityHash64(Hour, Model, PromptVersion, Release, {_SUMMED}) AS Print
    FROM {{sums}} WHERE Decision = 'verified'
    GROUP BY service, route, Hour, Model, PromptVersion, Release HAVING sum(Answers) != 0
)
GROUP BY service, route, day
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class DayPrint:
    """The fingerprints of a route's day since 1970: of hours before a time, and of all hours."""

    service: str
    route: str
    day: int
    earlier: int
    whole: int


def day_prints(
    client: Client, scope: QueryScope, *, earlier_ns: int
) -> dict[tuple[str, str], list[DayPrint]]:
    """The days of each route in the scope; `earlier` is of the hours that end by `earlier_ns`."""
    columns = ("ServiceName", "Route", "Tick", "Model", "PromptVersion", "Release", "Decision")
    sums = sums_of(client, scope, (*columns, *COUNTED), coarsest=Grain.HOUR)
    parameters = {**scope.parameters, "earlier": earlier_ns // (3600 * 10**9)}
    found: defaultdict[tuple[str, str], list[DayPrint]] = defaultdict(list)
    for row in read(client, DayPrint, DAY_PRINTS.replace("{sums}", sums), parameters):
        found[row.service, row.route].append(row)
    return found
