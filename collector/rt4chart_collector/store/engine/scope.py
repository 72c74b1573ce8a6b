"""The scope of a query: a time, and optionally one verifier, service and route."""

from __future__ import annotations

from dataclasses import dataclass, replace

MAX_TIME_NS = 2**63 - 1
HOUR_NS = 3600 * 10**9
DAY_NS = 24 * HOUR_NS
# ClickHouse replaces parameters by constants before it plans a query: `0 OR Route = 'x'` is then a
# condition on the primary key like any other, and `1 OR …` is none.
OF_ROUTE = """({any_service:UInt8} OR ServiceName = {service:String})
      AND ({any_route:UInt8} OR Route = {route:String})"""
# The tenant, which is the first part of a stored service's name (otel_rt4chart.core.tenants).
TENANT_OF_ROW = "extract(toString(ServiceName), '^~([^/]*)/')"
OF_VERIFIER = "({any_verifier:UInt8} OR VerifierId = {verifier:String})"


def in_time(column: str = "Timestamp") -> str:
    """The condition that a time is in [since, until)."""
    return (
        f"{column} >= fromUnixTimestamp64Nano({{since:Int64}}) "
        f"AND {column} < fromUnixTimestamp64Nano({{until:Int64}})"
    )


def in_scope(column: str = "Timestamp") -> str:
    """The condition that a row is in a `QueryScope`; `column` is its time."""
    return f"{OF_VERIFIER} AND {OF_ROUTE} AND {in_time(column)}"


# Senders choose the names of services and routes: a flood of names must not slow what reads rates.
MAX_ROUTES = 2_000


@dataclass(frozen=True, slots=True)
class QueryScope:
    """The answers that a query covers: those that begin in [since_ns, until_ns).

    None matches any verifier, service or route; "" is an ordinary name. Without a verifier, an
    answer counts once for each verifier that judged it.
    """

    since_ns: int = 0
    until_ns: int = MAX_TIME_NS
    verifier: str | None = None
    service: str | None = None
    route: str | None = None

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of `in_scope`, `in_time`, `OF_ROUTE` and `OF_VERIFIER`."""
        return {
            "since": self.since_ns,
            "until": self.until_ns,
            "any_verifier": int(self.verifier is None),
            "verifier": self.verifier or "",
            "any_service": int(self.service is None),
            "service": self.service or "",
            "any_route": int(self.route is None),
            "route": self.route or "",
        }

    @property
    def before(self) -> QueryScope:
        """The same answers in the period of the same length before."""
        return replace(self, since_ns=2 * self.since_ns - self.until_ns, until_ns=self.since_ns)

    @property
    def whole_hours(self) -> QueryScope:
        """A day or more, with the rest of the hours at both ends: sums per hour serve all of it."""
        if self.until_ns - self.since_ns < DAY_NS:
            return self
        until_ns = -(-self.until_ns // HOUR_NS) * HOUR_NS
        return self.of_time(self.since_ns // HOUR_NS * HOUR_NS, until_ns)

    def of_route(self, service: str, route: str) -> QueryScope:
        """The same time and verifier, for one route."""
        return replace(self, service=service, route=route)

    def of_time(self, since_ns: int, until_ns: int) -> QueryScope:
        """The same answers, in another period."""
        return replace(self, since_ns=since_ns, until_ns=until_ns)
