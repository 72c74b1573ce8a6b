"""How far two judges agree on the same answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify import AnswerLabel
from rt4chart_collector.store.connect import Client

# Cohen's kappa: the agreement beyond what two judges with these shares of labels would have by
# chance, of the most there could be (Cohen 1960, A coefficient of agreement for nominal scales).
BY_CHANCE = " + ".join(
    f"countIf(a.Label = '{label}') / n * countIf(b.Label = '{label}') / n" for label in AnswerLabel
)


def _pairs(columns: str = "") -> str:
    """The query for every pair of judges, by these columns too."""
    return f"""
WITH verified AS (
    SELECT TraceId, SpanId, VerifierId, ServiceName, Route, Label
    FROM rt4chart_verifications FINAL
    WHERE Decision = 'verified' AND IsDeleted = 0
      AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
)
SELECT a.VerifierId AS first, b.VerifierId AS second, {columns}
    count() AS n, countIf(a.Label = b.Label) AS equal, {BY_CHANCE} AS chance,
    if(chance < 1, (equal / n - chance) / (1 - chance), NULL) AS kappa
FROM verified AS a INNER JOIN verified AS b ON a.TraceId = b.TraceId AND a.SpanId = b.SpanId
WHERE a.VerifierId < b.VerifierId
GROUP BY first, second{", service, route" if columns else ""}
"""  # noqa: S608 - our own names alone, values are parameters


ALL = f"{_pairs()} ORDER BY n DESC, first, second"
ROUTES = f"""
{_pairs("a.ServiceName AS service, a.Route AS route,")}
HAVING equal < n
ORDER BY first, second, n - equal DESC, service, route LIMIT {{limit:UInt32}} BY first, second
"""


@dataclass(frozen=True, slots=True)
class RouteAgreement:
    """One route: `answers` that both judged, `equal` of them with the same label."""

    service: str
    route: str
    answers: int
    equal: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges' labels on the answers that both verified; `routes` are those of most differences.

    `kappa` is None where each judge gave every answer the same label.
    """

    first: str
    second: str
    answers: int
    equal: int
    kappa: float | None
    routes: tuple[RouteAgreement, ...] = ()

    @property
    def share(self) -> float:
        """The share of answers with the same label from both."""
        return self.equal / self.answers


def agreements(client: Client, *, since_ns: int, routes: int = 3) -> list[Agreement]:
    """Every pair of judges with answers in common since then, those with most answers first."""
    given = {"since": since_ns, "limit": routes}
    by_pair: defaultdict[tuple[str, str], list[RouteAgreement]] = defaultdict(list)
    for first, second, service, route, *numbers in client.query(ROUTES, given).result_rows:
        by_pair[first, second].append(RouteAgreement(service, route, *_numbers(numbers)))
    return [
        Agreement(first, second, *_numbers(numbers), tuple(by_pair[first, second]))
        for first, second, *numbers in client.query(ALL, {"since": since_ns}).result_rows
    ]


def _numbers(row: Sequence[Any]) -> tuple[int, int, float | None]:
    answers, equal, _, kappa = row
    return int(answers), int(equal), None if kappa is None else float(kappa)
