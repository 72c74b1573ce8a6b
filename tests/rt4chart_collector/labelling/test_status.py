"""What the status says of labels that are lacking."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import CorrectedRate
from rt4chart_collector.console.view.corrected import corrected_cell
from rt4chart_collector.labelling.status import corrected_text, missing_text
from rt4chart_collector.store.labels.corrected_rates import LabelCounts, RouteRate

SMALL = RouteRate(
    service="shop",
    route="support",
    verifier="local/1",
    raw=0.4,
    corrected=CorrectedRate(
        Rate(0.5, 0.35, 0.65), 40, 0, label_variance=0.005, traffic_variance=0.001, left=51
    ),
    quality=None,
    quality_on_labels=None,
    counts=LabelCounts(sample=40),
    covered=1.0,
)


def test_a_small_route_is_not_asked_for_labels_that_it_cannot_have() -> None:
    """It has 91 claims; the width once all of them are labelled is said instead."""
    all_labelled = replace(SMALL, corrected=replace(SMALL.corrected, labels=91, left=0))

    assert missing_text(SMALL) == (
        "labels on the 51 other claims give ± 11.1 points; ± 5 points take more answers"
    )
    assert missing_text(all_labelled) == "all claims have labels; ± 5 points take more answers"


def test_a_large_route_is_asked_for_the_labels_that_it_lacks() -> None:
    """For a rate, then for five points, then for nothing."""
    none = CorrectedRate(Rate(None, None, None), 8, 12, left=992)
    large = replace(SMALL.corrected, traffic_variance=0.0, left=9_960)
    enough = replace(large, label_variance=0.0001)

    found = [missing_text(replace(SMALL, corrected=one)) for one in (none, large, enough)]

    assert found == [
        "12 more labels for a corrected rate",
        "268 more labels for ± 5 points",
        "within ± 5 points",
    ]


def test_a_route_with_too_few_answers_is_asked_for_no_label() -> None:
    """Labels on all of its claims would give no rate, in the terminal and in the console."""
    few = CorrectedRate(Rate(None, None, None), 3, 17, left=5, is_too_small=True)
    found = replace(SMALL, corrected=few)

    assert corrected_text(found) == "unknown: too few answers for a corrected rate"
    assert missing_text(found) == "too few answers for a corrected rate"
    assert "too few answers" in corrected_cell(found)
    assert found.labels_to_goal is None
