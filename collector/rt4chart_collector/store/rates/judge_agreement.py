"""How far two judges agree on the same answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from otel_rt4chart.verify import AnswerLabel
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

# Cohen's kappa: the agreement beyond chance, as a share of the most that is possible beyond chance
# (Cohen 1960, A coefficient of agreement for nominal scales).
BY_CHANCE = " + ".join(
    f"countIf(a.Label = '{label}') / answers * countIf(b.Label = '{label}') / answers"
    for label in AnswerLabel
)


def _pairs(columns: str = "") -> str:
    """The query for every pair of judges, grouped by these columns too."""
    return f"""
WITH verified AS (
    SELECT TraceId, SpanId, VerifierId, ServiceName, Route, Label
    FROM rt4chart_verifications FINAL
    WHERE Decision = 'verified' AND IsDeleted = 0
      AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
)
SELECT a.VerifierId AS first, b.VerifierId AS second, {columns}
    count() AS answers, countIf(a.Label = b.Label) AS equal, {BY_CHANCE} AS chance,
    if(chance < 1, (equal / answers - chance) / (1 - chance), NULL) AS kappa
FROM verified AS a INNER JOIN verified AS b ON a.TraceId = b.TraceId AND a.SpanId = b.SpanId
WHERE a.VerifierId < b.VerifierId
GROUP BY first, second{", service, route" if columns else ""}
"""  # noqa: S608 - our own names alone, values are parameters


ALL = f"{_pairs()} ORDER BY answers DESC, first, second"
ROUTES = f"""
{_pairs("a.ServiceName AS service, a.Route AS route,")}
HAVING equal < answers
ORDER BY first, second, answers - equal DESC, service, route LIMIT {{limit:UInt32}} BY first, second
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


@dataclass(frozen=True, slots=True)
class _PairOnRoute(RouteAgreement):
    first: str
    second: str


def agreements(client: Client, *, since_ns: int, routes: int = 3) -> list[Agreement]:
    """Every pair of judges with common answers since then, the most answers first."""
    given = {"since": since_ns, "limit": routes}
    by_pair: defaultdict[tuple[str, str], list[RouteAgreement]] = defaultdict(list)
    for one in read(client, _PairOnRoute, ROUTES, given):
        by_pair[one.first, one.second].append(
            RouteAgreement(one.service, one.route, one.answers, one.equal, one.kappa)
        )
    return [
        replace(one, routes=tuple(by_pair[one.first, one.second]))
        for one in read(client, Agreement, ALL, {"since": since_ns})
    ]
