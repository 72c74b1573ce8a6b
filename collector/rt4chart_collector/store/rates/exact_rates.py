"""Per-route rates, exact: read from the verifications themselves, not from the rollup."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import AnswerSums
from rt4chart_collector.store.engine.connect import Client

# FINAL keeps one row for each answer, however often it was written. Long windows use the rollup.
ROUTE_SUMS = """
SELECT ServiceName, Route,
    countIf(Decision = 'verified') AS answers,
    countIf(Decision != 'verified') AS unverified,
    countIf(Label IN ('contradicted', 'baseless')) AS unfaithful_answers,
    sum(toUInt64(EntailedCount)) AS entailed,
    sum(toUInt64(ContradictedCount)) AS contradicted,
    sum(toUInt64(BaselessCount)) AS baseless,
    sum(toUInt64(UndecidedCount)) AS undecided,
    sum(w * m) AS wm, sum(w * x) AS wx, sum(w * w * m) AS wwm,
    sum(w * w * x * x) AS wwxx, sum(w * w * x * m) AS wwxm, sum(w * w * m * m) AS wwmm
FROM (
    SELECT *, if(SampleRate > 0, 1 / SampleRate, 0) AS w,
        toFloat64(ContradictedCount) + BaselessCount AS x,
        toFloat64(EntailedCount) + ContradictedCount + BaselessCount AS m
    FROM rt4chart_verifications FINAL
    WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND IsDeleted = 0
      AND ({verifier:String} = '' OR VerifierId = {verifier:String})
)
GROUP BY ServiceName, Route ORDER BY ServiceName, Route
"""

# The day of an answer's time is in its key: no key lies in two partitions.
EACH_DAY_ALONE = {"do_not_merge_across_partitions_select_final": 1}


@dataclass(frozen=True, slots=True)
class RouteSums:
    """One route's counts since a time; `sums` gives the rate through `rates.claim_rate`.

    `answers` were verified, `unverified` were decided otherwise (not sampled, no context, …).
    """

    service: str
    route: str
    answers: int
    unverified: int
    unfaithful_answers: int
    entailed: int
    contradicted: int
    baseless: int
    undecided: int
    sums: AnswerSums

    @property
    def claims(self) -> int:
        """The decided claims: what the rate is a share of."""
        return self.entailed + self.contradicted + self.baseless


def route_sums(client: Client, *, since_ns: int = 0, verifier: str = "") -> list[RouteSums]:
    """Every route with a candidate answer since then; an empty `verifier` takes all of them."""
    given = {"since": since_ns, "verifier": verifier}
    rows = client.query(ROUTE_SUMS, given, settings=EACH_DAY_ALONE)
    return [_route_from_row(row) for row in rows.named_results()]


def _route_from_row(row: dict[str, object]) -> RouteSums:
    number = {key: value for key, value in row.items() if isinstance(value, int | float)}
    claims = int(number["entailed"] + number["contradicted"] + number["baseless"])
    moments = {key: float(number[key]) for key in ("wm", "wx", "wwm", "wwxx", "wwxm", "wwmm")}
    return RouteSums(
        service=str(row["ServiceName"]),
        route=str(row["Route"]),
        answers=int(number["answers"]),
        unverified=int(number["unverified"]),
        unfaithful_answers=int(number["unfaithful_answers"]),
        entailed=int(number["entailed"]),
        contradicted=int(number["contradicted"]),
        baseless=int(number["baseless"]),
        undecided=int(number["undecided"]),
        sums=AnswerSums(answers=int(number["answers"]), claims=claims, **moments),
    )
