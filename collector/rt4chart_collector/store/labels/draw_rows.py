"""The rows of draws: what was drawn from in each route, and the claims that were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from otel_rt4chart.verify.rates.label_queue import QueuedClaim
from otel_rt4chart.verify.rates.population import Population
from rt4chart_collector.store.engine.columns import Actor, Route, ServiceName, VerifierId
from rt4chart_collector.store.engine.rows import LOW_CARDINALITY, TIME, RowTable, StoredAs
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow
from rt4chart_collector.store.labels.populations import RouteKey, RoutePeriod


@dataclass(frozen=True, slots=True)
class DrawRow:
    """A draw in one route: `size` claims of answers that began in [since_ns, until_ns)."""

    id: Annotated[str, StoredAs("DrawId", "String")]
    service: ServiceName
    route: Route
    verifier: VerifierId
    seed: Annotated[str, StoredAs("Seed", "String")]
    size: Annotated[int, StoredAs("Size", "UInt32")]
    double_share: Annotated[float, StoredAs("DoubleShare", "Float64")]
    since_ns: Annotated[int, StoredAs("Since", TIME)]
    until_ns: Annotated[int, StoredAs("Until", TIME)]
    strata: Annotated[tuple[str, ...], StoredAs("Strata", f"Array({LOW_CARDINALITY})")]
    answers: Annotated[int, StoredAs("Answers", "UInt64")]
    claims: Annotated[int, StoredAs("Claims", "UInt64")]
    totals: Annotated[tuple[float, ...], StoredAs("Totals", "Array(Float64)")]
    squares: Annotated[tuple[float, ...], StoredAs("Squares", "Array(Float64)")]
    actor: Actor
    at_ns: Annotated[int, StoredAs("At", TIME)]

    @property
    def key(self) -> RouteKey:
        """Service and route."""
        return (self.service, self.route)

    @property
    def period(self) -> RoutePeriod:
        """Service, route, the time in which the answers began, and that of the draw."""
        return (*self.key, self.since_ns, self.until_ns, self.at_ns)

    @property
    def population(self) -> Population:
        """The claims from which was drawn, as sums."""
        size = len(self.totals)
        rows = tuple(self.squares[at : at + size] for at in range(0, size * size, size))
        return Population(self.strata, self.answers, self.claims, self.totals, rows)


@dataclass(frozen=True, slots=True)
class QueueRow(ClaimVerdictRow):
    """A drawn claim; `raters` people should label it."""

    raters: Annotated[int, StoredAs("Raters", "UInt8")]
    at_ns: Annotated[int, StoredAs("At", TIME)]

    @property
    def queued(self) -> QueuedClaim:
        """The claim for the functions of `otel_rt4chart.verify.rates.label_queue`."""
        route = f"{self.service}\0{self.route}"
        return QueuedClaim(
            self.id, route, self.stratum, self.rank, self.rate, self.probability, self.raters
        )


DRAWS = RowTable("rt4chart_label_draws", DrawRow)
QUEUE = RowTable("rt4chart_label_queue", QueueRow)
