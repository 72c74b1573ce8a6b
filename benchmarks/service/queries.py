"""The hallucination rate of each route every five minutes of a day, over ten million claims.

    python -m benchmarks.service.queries [--claims 10000000] [--runs 7]

The engine makes the rows itself, in a temporary embedded database, through the tables and views
that the migrations make: five claims an answer, twenty routes, one verifier, spread over the last
24 hours. Each statement is run several times, as the parts lie after the inserts and once more
when they are merged; medians in milliseconds, as the client sees them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.claim_rates import rates_by, route_sums
from rt4chart_collector.store.schema.migrate import migrate

ROUTES, CLAIMS_EACH, CHUNK = 20, 5, 200_000
DAY_NS = 24 * 3600 * 10**9
ANSWER = f"""
    fromUnixTimestamp64Nano(toInt64({{start:Int64}} + n * {{step:Int64}})) AS Timestamp,
    lower(hex(sipHash128(n))) AS TraceId, lower(hex(sipHash64(n))) AS SpanId,
    'shop' AS ServiceName, concat('route-', toString(n % {ROUTES})) AS Route,
    'local/1' AS VerifierId, 'prod' AS Environment, 'model' AS Model
"""
VERIFICATIONS = f"""
INSERT INTO rt4chart_verifications (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Environment, Model, Decision, Label, SampleRate, ClaimCount, EntailedCount, ContradictedCount,
    BaselessCount, UndecidedCount, Version, IsDeleted)
SELECT * FROM (
    SELECT {ANSWER}, 'verified',
        multiIf(n % 7 = 0, 'contradicted', n % 11 = 0, 'baseless', 'entailed'), 1.0,
        {CLAIMS_EACH}, {CLAIMS_EACH} - (n % 7 = 0) - (n % 11 = 0), n % 7 = 0, n % 11 = 0, 0, 1, 0
    FROM (SELECT number + {{first:UInt64}} AS n FROM numbers({{count:UInt64}}))
)
"""  # noqa: S608 - our own names alone
CLAIMS = f"""
INSERT INTO rt4chart_claims (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Environment, Model, ClaimIndex, Claim, Label, LocalLabel, Kind, Confidence, DecidedBy, Version,
    IsDeleted)
SELECT * FROM (
    SELECT {ANSWER}, at,
        concat('The trial of plan ', toString(cityHash64(n, at) % 60000), ' lasts 14 days.'),
        multiIf(at = 0 AND n % 7 = 0, 'contradicted', at = 1 AND n % 11 = 0, 'baseless', 'entailed')
        AS label, label, 'plain', 0.9, 'local', 1, 0
    FROM (SELECT intDiv(number, {CLAIMS_EACH}) + {{first:UInt64}} AS n, number % {CLAIMS_EACH} AS at
          FROM numbers({{count:UInt64}} * {CLAIMS_EACH}))
)
"""  # noqa: S608 - our own names alone
SINCE = "fromUnixTimestamp64Nano({since:Int64})"
ROLLUP = f"""
SELECT Route, toStartOfFiveMinutes(Minute) AS at,
    sum(Contradicted) + sum(Baseless) AS bad, bad + sum(Entailed) AS decided
FROM rt4chart_route_1m WHERE Minute >= {SINCE} GROUP BY Route, at ORDER BY Route, at
"""  # noqa: S608 - our own names alone
ANSWERS = f"""
SELECT Route, toStartOfFiveMinutes(Timestamp) AS at,
    sum(ContradictedCount) + sum(BaselessCount) AS bad, bad + sum(EntailedCount) AS decided
FROM rt4chart_verifications FINAL
WHERE Timestamp >= {SINCE} AND Decision = 'verified' GROUP BY Route, at ORDER BY Route, at
"""  # noqa: S608 - our own names alone
EACH_CLAIM = f"""
SELECT Route, toStartOfFiveMinutes(Timestamp) AS at,
    countIf(Label IN ('contradicted', 'baseless')) AS bad,
    bad + countIf(Label = 'entailed') AS decided
FROM rt4chart_claims FINAL WHERE Timestamp >= {SINCE} GROUP BY Route, at ORDER BY Route, at
"""  # noqa: S608 - our own names alone


def main() -> None:
    """Make the rows, run the statements on them, and print both states beside each other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--claims", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{Path(folder) / 'db'}") as client,
    ):
        migrate(client)
        start_ns = time.time_ns() - DAY_NS
        fill(client, options.claims // CLAIMS_EACH, start_ns)
        first, parts = timed(client, start_ns, options.runs), parts_of(client)
        for table in ("verifications", "claims", "route_1m", "route_5m"):
            client.command(f"OPTIMIZE TABLE rt4chart_{table} FINAL")
        merged = timed(client, start_ns, options.runs)
        print(
            f"{options.claims:,} claims, {options.claims // CLAIMS_EACH:,} answers, {ROUTES} routes"
        )
        print(f"{'median of ' + str(options.runs) + ' runs, ms':58}{parts:>12}{'merged':>10}")
        for name, took in first.items():
            print(f"{name:58}{took:12.0f}{merged[name]:10.0f}")


def fill(client: Client, answers: int, start_ns: int) -> None:
    """The rows of so many answers, in batches; the views fill the sums."""
    for first in range(0, answers, CHUNK):
        given = {"start": start_ns, "step": DAY_NS // answers, "first": first}
        given["count"] = min(CHUNK, answers - first)
        for statement in (CLAIMS, VERIFICATIONS):
            client.command(statement, given)


def timed(client: Client, start_ns: int, runs: int) -> dict[str, float]:
    """The median milliseconds of each statement; those that count the same must agree."""
    given = {"since": start_ns // (60 * 10**9) * 60 * 10**9}

    def asked(sql: str, settings: Mapping[str, object] | None = None) -> Callable[[], object]:
        return lambda: [tuple(r) for r in client.query(sql, given, settings=settings).result_rows]

    statements = {
        "sums per minute (rt4chart_route_1m)": asked(ROLLUP),
        "exact, by answer (rt4chart_verifications FINAL)": asked(ANSWERS),
        "  each day alone": asked(ANSWERS, FINAL_PER_PARTITION),
        "exact, by claim (rt4chart_claims FINAL)": asked(EACH_CLAIM),
        "  each day alone ": asked(EACH_CLAIM, FINAL_PER_PARTITION),
    }
    found = {name: statement() for name, statement in statements.items()}
    if any(rows != found["sums per minute (rt4chart_route_1m)"] for rows in found.values()):
        raise SystemExit("expected the same rates from every statement, got others")
    statements["every route's sums, exact (store/rates/claim_rates.py, the whole day)"] = lambda: (
        route_sums(client, since_ns=start_ns)
    )
    statements["every route's rates per five minutes (store/rates/claim_rates.py)"] = lambda: (
        rates_by(client, "route", QueryScope(start_ns, start_ns + DAY_NS, "local/1"))
    )
    return {name: timing(statement, runs) for name, statement in statements.items()}


def timing(statement: Callable[[], object], runs: int) -> float:
    """The median milliseconds of some runs."""
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        statement()
        took.append((time.perf_counter() - began) * 1000)
    return median(took)


def parts_of(client: Client) -> str:
    """How many parts the claims lie in."""
    found = client.query(
        "SELECT count() FROM system.parts WHERE active AND table = 'rt4chart_claims' "
        "AND database = currentDatabase()"
    )
    return f"{found.result_rows[0][0]} parts"


if __name__ == "__main__":
    main()
