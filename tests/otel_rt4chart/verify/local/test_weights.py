"""The shipped heads."""

from __future__ import annotations

from otel_rt4chart.verify.local.features import FEATURES
from otel_rt4chart.verify.local.verdict import rules_heads


def test_nothing_that_speaks_against_a_claim_makes_it_more_likely() -> None:
    """Every weight of the first head is positive: features are built to speak for unfaithful."""
    head = rules_heads().unfaithful

    assert len(head.weights) > 0
    assert set(head.weights) <= set(FEATURES)
    assert all(weight > 0 for weight in head.weights.values())
    assert head.slope > 0


def test_a_clash_speaks_for_contradicted_and_novelty_for_baseless() -> None:
    """The second head's signs."""
    weights = rules_heads().contradicted.weights

    assert weights["clash"] > 0
    assert weights["missing"] < 0
