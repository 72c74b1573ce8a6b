"""The gate on the corrected rates of production traffic."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import CorrectedRate, LimitVerdict
from rt4chart_collector.report.gate import RateGate
from rt4chart_collector.store.labels.corrected_rates import LabelCounts, RouteRate

CORRECTED = CorrectedRate(
    Rate(0.10, 0.06, 0.15), 60, 0, label_variance=0.0005, traffic_variance=0.00001, left=9_940
)
HIGH = RouteRate(
    service="shop",
    route="support",
    verifier="local/1",
    raw=0.08,
    corrected=CORRECTED,
    quality=None,
    quality_on_labels=None,
    counts=LabelCounts(sample=60),
    covered=1.0,
)
LOW = replace(HIGH, route="billing", corrected=replace(CORRECTED, rate=Rate(0.02, 0.01, 0.05)))
NEAR = replace(HIGH, route="sales", corrected=replace(CORRECTED, rate=Rate(0.06, 0.03, 0.11)))
FEW = replace(HIGH, route="new", corrected=CorrectedRate(Rate(None, None, None), 8, 12))
STALE = replace(HIGH, route="old", covered=0.3)


def decided(*routes: RouteRate, limit: float = 0.05) -> tuple[LimitVerdict, int, list[str]]:
    """The decision on these routes, its exit status, and its lines."""
    found = RateGate(limit, routes)
    return found.verdict, found.exit_status, list(found.lines())


def test_a_rate_whose_interval_is_above_the_limit_closes() -> None:
    """One route suffices, whatever is known of the others."""
    assert decided(LOW, HIGH, FEW) == (
        LimitVerdict.ABOVE,
        1,
        [
            "support: closed: 10.0% [6.0–15.0] is above 5% with 95% confidence",
            "new: cannot tell: 12 more labels",
            "billing: open: 2.0% [1.0–5.0] is not above 5% with 95% confidence",
        ],
    )


def test_a_limit_inside_the_interval_says_how_many_labels_would_tell() -> None:
    """With labels that are drawn like those at hand."""
    assert decided(LOW, NEAR) == (
        LimitVerdict.CANNOT_TELL,
        3,
        [
            "sales: cannot tell: 1,812 more labels; 6.0% [3.0–11.0]",
            "billing: open: 2.0% [1.0–5.0] is not above 5% with 95% confidence",
        ],
    )


def test_routes_that_are_all_below_the_limit_open() -> None:
    """The upper end may be the limit itself."""
    assert decided(LOW)[:2] == (LimitVerdict.NOT_ABOVE, 0)


def test_labels_of_few_of_the_claims_decide_nothing() -> None:
    """The rate is of those claims, and the limit is for the period."""
    assert decided(STALE) == (
        LimitVerdict.CANNOT_TELL,
        3,
        ["old: cannot tell: labels were drawn from 30% of the claims: rt4chart label --draw"],
    )
    assert decided(replace(STALE, pending=40))[2] == [
        "old: cannot tell: labels were drawn from 30% of the claims: label more of the drawn ones"
    ]


def test_a_route_with_too_few_claims_asks_for_answers() -> None:
    """Labels on all of them would give no rate."""
    few = replace(FEW, corrected=replace(FEW.corrected, left=3, is_too_small=True))

    assert decided(few)[2] == ["new: cannot tell: more answers are needed, labels do not suffice"]


def test_where_labels_do_not_suffice_it_says_so() -> None:
    """The traffic itself is too small for an interval that excludes the limit."""
    found = replace(NEAR, corrected=replace(NEAR.corrected, traffic_variance=0.1))

    assert decided(found)[2] == [
        "sales: cannot tell: more answers are needed, labels do not suffice; 6.0% [3.0–11.0]"
    ]


def test_the_lines_are_limited() -> None:
    """Routes whose names were made up do not hide the one that is closed."""
    lines = decided(*[replace(FEW, route=f"r{number}") for number in range(60)], HIGH)[2]

    assert len(lines) == 51
    assert lines[0].startswith("support: closed")
    assert lines[-1] == "and 11 more routes"


def test_without_a_draw_nothing_is_known() -> None:
    """A period without labels never opens the gate."""
    assert decided() == (
        LimitVerdict.CANNOT_TELL,
        3,
        ["cannot tell: no claims of this period were drawn for labels: rt4chart label"],
    )


def test_the_figures_name_each_route_with_its_verdict() -> None:
    """For machines."""
    assert RateGate(0.05, [HIGH, FEW]).figures() == {
        "limit": 0.05,
        "verdict": "above",
        "routes": [
            {"service": "shop", "route": "support", "verdict": "above", "more_labels": None},
            {"service": "shop", "route": "new", "verdict": "cannot_tell", "more_labels": 12},
        ],
    }
