"""The tables of the benchmark: coverage, width, error, order, labels needed, thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from benchmarks.judge.tables import Cell, Table
from benchmarks.rates.comparison import (
    ALONE,
    CORRECTED,
    CORRECTED_EVEN,
    ERRORS,
    EVEN,
    PRECISION,
    RAW,
    RECALL,
    ROGAN_GLADEN,
    SIZES,
    TESTED_SIZES,
    Deployment,
    Estimate,
)
from otel_rt4chart.verify.core.rates import rank_correlation

COMPARED = (CORRECTED, CORRECTED_EVEN, ALONE, EVEN, ROGAN_GLADEN, PRECISION, RECALL)


def tables(title: str, runs: Sequence[Deployment]) -> list[Table]:
    """All tables of one judge in one world."""
    estimates = [one for run in runs for one in run.estimates]
    return [
        Table(f"{title}: intervals", INTERVALS, INTERVAL_HEAD, list(_intervals(estimates))),
        Table(f"{title}: routes", ROUTES, ROUTE_HEAD, list(_routes(estimates))),
        Table(f"{title}: order of the routes", ORDER, ORDER_HEAD, list(_order(runs))),
        Table(f"{title}: thresholds", THRESHOLDS, THRESHOLD_HEAD, list(_thresholds(runs))),
    ]


INTERVALS = (
    "95% intervals over all routes and deployments. Given: share with an interval at all. Least and"
    " most: coverage of the worst and the best covered route. Error: root mean square."
)
INTERVAL_HEAD = ("system", "labels", "given", "covers", "least", "most", "width", "error")


def _intervals(estimates: Sequence[Estimate]) -> Iterator[Sequence[Cell]]:
    for system in COMPARED:
        for size in SIZES:
            own = [one for one in estimates if one.system == system and one.labels == size]
            known = [one for one in own if one.rate.low is not None]
            if not known:
                continue
            by_route = [
                fmean(map(_covers, [one for one in known if one.route == route]))
                for route in {one.route for one in known}
            ]
            yield (
                system, size, len(known) / len(own), fmean(map(_covers, known)),
                min(by_route), max(by_route), fmean(map(_width, known)), _error(known),
            )  # fmt: skip


ROUTES = (
    "The true rate, the raw one and its error, how often the corrected interval contains the truth,"
    " and the labels that ± 5 points take (the median of what 100 labels say)."
)
ROUTE_HEAD = (
    "route", "true", "raw", "raw's error",
    "covers at 25", "covers at 50", "covers at 100", "covers at 200", "labels for ± 5 points",
)  # fmt: skip


def _routes(estimates: Sequence[Estimate]) -> Iterator[Sequence[Cell]]:
    for route in sorted({one.route for one in estimates}):
        own = [one for one in estimates if one.route == route]
        raw = [one for one in own if one.system == RAW]
        found = [one for one in own if one.system == CORRECTED]
        wanted = [one.wanted for one in found if one.labels == 100 and one.wanted is not None]
        yield (
            route, raw[0].truth, fmean(one.rate.value or 0.0 for one in raw), _error(raw),
            *(fmean(map(_covers, [one for one in found if one.labels == n])) for n in SIZES),
            median(wanted) if wanted else None,
        )  # fmt: skip


ORDER = (
    "Spearman's rank correlation of the routes with their true order, over deployments; error: the"
    " mean distance from the true rate."
)
ORDER_HEAD = ("rate", "labels a route", "mean", "5th percentile", "error")


def _order(runs: Sequence[Deployment]) -> Iterator[Sequence[Cell]]:
    for system, sizes in ((RAW, (0,)), (CORRECTED, SIZES), (EVEN, SIZES)):
        for size in sizes:
            found, distances = [], []
            for run in runs:
                own = [one for one in run.estimates if (one.system, one.labels) == (system, size)]
                pairs = [(one.rate.value or 0.0, one.truth) for one in own]
                distances += [abs(said - true) for said, true in pairs]
                found.append(rank_correlation(pairs) or 0.0)
            found.sort()
            yield system, size, fmean(found), found[len(found) // 20], fmean(distances)


THRESHOLDS = (
    "Chosen with 90% confidence from the labels of all routes. Chosen: share of deployments with a"
    " threshold; broken: with one whose real error is above the allowed one (at most .1); kept:"
    " share of claims above it; more: median of the further labels asked for otherwise."
)
THRESHOLD_HEAD = (
    "verdict", "allowed", "labels", "chosen", "broken", "real error", "kept", "more",
)  # fmt: skip


def _thresholds(runs: Sequence[Deployment]) -> Iterator[Sequence[Cell]]:
    found = [one for run in runs for one in run.thresholds]
    routes = len({one.route for one in runs[0].estimates})
    for verdict in ("flagged", "entailed"):
        for allowed in ERRORS:
            for size in TESTED_SIZES:
                asked = (verdict, allowed, size)
                own = [one for one in found if (one.verdict, one.allowed, one.labels) == asked]
                errors = [one.error for one in own if one.error is not None]
                more = [one.choice.more_labels for one in own if one.error is None]
                known = [one for one in more if one is not None]
                yield (
                    verdict, allowed, size * routes, len(errors) / len(own),
                    sum(error > allowed for error in errors) / len(own),
                    fmean(errors) if errors else None,
                    fmean(one.kept for one in own if one.error is not None) if errors else None,
                    median(known) if known else None,
                )  # fmt: skip


def _covers(one: Estimate) -> float:
    low, high = one.rate.low, one.rate.high
    return float(low is not None and high is not None and low <= one.truth <= high)


def _width(one: Estimate) -> float:
    return (one.rate.high or 0.0) - (one.rate.low or 0.0)


def _error(estimates: Sequence[Estimate]) -> float:
    known = [(one.rate.value, one.truth) for one in estimates if one.rate.value is not None]
    return float(fmean((said - true) ** 2 for said, true in known) ** 0.5) if known else 0.0
