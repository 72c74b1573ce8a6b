"""The shares of answers that fail custom criteria, by route, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_by
from rt4chart_collector.store.engine.scope import MAX_ROUTES, OF_ROUTE, QueryScope, in_time

# Whatever verifier judged the claims of an answer: a criterion judges it once. An answer is one
# claim to `AnswerSums`, with m = 1 if the criterion has decided, and x = 1 if it fails. Another
# version is another criterion, so that the newest one alone has the rate.
COUNTS = """
    Criterion AS name, CriterionVersion AS version, any(Kind) AS kind, any(Judge) AS judge,
    countIf(m) AS decided, countIf(x) AS failed,
    countIf(Outcome = 'not_applicable') AS not_applicable,
    countIf(Outcome = 'undecided') AS undecided,
    toInt64(decided) AS sums_answers, toInt64(decided) AS sums_claims,
    sumIf(w, m) AS sums_wm, sumIf(w, x) AS sums_wx,
    sumIf(w * w, m) AS sums_wwm, sumIf(w * w, x) AS sums_wwxx,
    sums_wwxx AS sums_wwxm, sums_wwm AS sums_wwmm,
    toUnixTimestamp64Nano(max(Timestamp)) AS last_ns
"""
ROWS = f"""(
    SELECT *, {SAMPLE_WEIGHT} AS w, Outcome = 'fail' AS x, Outcome = 'pass' OR x AS m
    FROM rt4chart_criteria FINAL
    WHERE IsDeleted = 0 AND {OF_ROUTE} AND {in_time()}
)"""  # noqa: S608 - our own names
# Of more routes with criteria, those with the most answers. A route may have several criteria.
MAX_GROUPS = 10 * MAX_ROUTES
OF_ROUTES = f"""
SELECT ServiceName AS service, Route AS route, {COUNTS} FROM {ROWS}
GROUP BY ServiceName, Route, Criterion, CriterionVersion
ORDER BY count() DESC, ServiceName, Route, Criterion, CriterionVersion LIMIT {MAX_GROUPS}
"""  # noqa: S608
SUMS = fields(AnswerSums)


@dataclass(frozen=True, slots=True)
class CriterionSums:
    """The answers that one version of a criterion judged, by outcome.

    `sums` are over the decided ones, whose `claims` are answers, weighted by 1 / the probability
    with which an answer was judged by the criterion.
    """

    name: str
    version: str
    kind: str
    judge: str
    decided: int
    failed: int
    not_applicable: int
    undecided: int
    sums: AnswerSums
    last_ns: int

    @property
    def rate(self) -> Rate:
        """The share of the decided answers that fail."""
        return claim_rate(self.sums)


@dataclass(frozen=True, slots=True)
class CriterionRate:
    """The newest version of a criterion; `earlier` answers were judged by others, and left out."""

    of: CriterionSums
    earlier: int = 0

    @property
    def rate(self) -> Rate:
        """The share of the decided answers that fail."""
        return self.of.rate


@dataclass(frozen=True, slots=True)
class CriteriaRates:
    """The criteria by service and route, and over all of them, in the order of their names."""

    by_route: Mapping[tuple[str, str], Sequence[CriterionRate]]
    together: Sequence[CriterionRate]


def criteria_rates(client: Client, scope: QueryScope) -> CriteriaRates:
    """The rates of the busiest routes of the scope, in one statement."""
    found: dict[tuple[str, str], list[CriterionSums]] = read_by(
        client,
        ("service", "route"),
        CriterionSums,
        OF_ROUTES,
        scope.parameters,
        settings=FINAL_PER_PARTITION,
    )
    versions: dict[tuple[str, str], list[CriterionSums]] = {}
    for rows in found.values():
        for row in rows:
            versions.setdefault((row.name, row.version), []).append(row)
    return CriteriaRates(
        {route: _newest(rows) for route, rows in found.items()},
        _newest([_added_up(rows) for rows in versions.values()]),
    )


def _added_up(rows: Sequence[CriterionSums]) -> CriterionSums:
    """One version of a criterion over several routes."""
    counts = ("decided", "failed", "not_applicable", "undecided")
    sums = {part.name: sum(getattr(row.sums, part.name) for row in rows) for part in SUMS}
    return replace(
        rows[0],
        **{name: sum(getattr(row, name) for row in rows) for name in counts},
        sums=AnswerSums(**sums),
        last_ns=max(row.last_ns for row in rows),
    )


def _newest(rows: Sequence[CriterionSums]) -> list[CriterionRate]:
    """The newest version of each criterion, by name."""
    by_name: dict[str, list[CriterionSums]] = {}
    for row in sorted(rows, key=lambda row: (row.name, -row.last_ns, row.version)):
        by_name.setdefault(row.name, []).append(row)
    return [
        CriterionRate(first, sum(_judged(one) for one in others))
        for first, *others in by_name.values()
    ]


def _judged(sums: CriterionSums) -> int:
    return sums.decided + sums.not_applicable + sums.undecided
