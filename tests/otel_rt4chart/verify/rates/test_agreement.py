from __future__ import annotations

import random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from otel_rt4chart.verify.rates.agreement import (
    Agreement,
    agreement_by_rater,
    cohen_kappa,
    krippendorff_alpha,
)

LABELS = ("entailed", "contradicted", "baseless")
pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=2)
# Up to four raters, of whom some are absent.
units = st.lists(
    st.lists(st.sampled_from((*LABELS, "")), min_size=4, max_size=4), min_size=2, max_size=15
)


@given(pairs)
def test_kappa_agrees_with_scikit_learn(found: list[tuple[str, str]]) -> None:
    """For any pairs; where both always say the same one label, there is none."""
    first, second = zip(*found, strict=True)
    kappa = cohen_kappa(found)

    if len({*first, *second}) == 1:
        assert kappa.value is None
    else:
        assert kappa.value == pytest.approx(cohen_kappa_score(first, second))


@given(units)
def test_alpha_agrees_with_the_library(found: list[list[str]]) -> None:
    """For any number of raters and gaps."""
    claims = [[one for one in labels if one] for labels in found]
    paired = {one for labels in claims if len(labels) > 1 for one in labels}
    alpha = krippendorff_alpha(claims)

    if len(paired) < 2:
        assert alpha.value is None
    else:
        codes = {name: float(at) for at, name in enumerate(LABELS)}
        data = np.array([[codes.get(one, np.nan) for one in labels] for labels in found]).T
        expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
        assert alpha.value == pytest.approx(float(expected))


def test_the_interval_covers_the_agreement() -> None:
    """Of two raters who agree on 90% of two classes (kappa 0.8), in 90 to 99% of 200 draws."""
    chance = random.Random(3)  # noqa: S311
    held = 0
    for _ in range(200):
        found = []
        for _ in range(80):
            label = chance.choice(LABELS[:2])
            other = label if chance.random() < 0.9 else LABELS[1 - LABELS.index(label)]
            found.append((label, other))
        kappa = cohen_kappa(found)
        assert kappa.low is not None
        assert kappa.high is not None
        held += kappa.low <= 0.8 <= kappa.high

    assert 180 <= held <= 198


def test_a_rater_who_answers_at_random_stands_out() -> None:
    """Two agree; the third is poor against both, and is named."""
    chance = random.Random(4)  # noqa: S311
    labels = {}
    for at in range(120):
        truth = chance.choice(LABELS)
        labels[str(at)] = {
            "ann": truth,
            "bob": truth if chance.random() < 0.9 else chance.choice(LABELS),
            "cho": chance.choice(LABELS),
        }
    found = agreement_by_rater(labels)

    assert {name for name, one in found.items() if one.is_poor} == {"cho"}
    assert found["cho"].claims == 240


def test_perfect_agreement_on_few_claims_leaves_doubt() -> None:
    """Twenty equal pairs may come of raters who disagree on an eighth of the claims."""
    kappa = cohen_kappa([("entailed", "entailed"), ("baseless", "baseless")] * 10)

    assert (kappa.value, kappa.high) == (1.0, 1.0)
    assert kappa.low == pytest.approx(0.7218, abs=1e-4)
    assert not kappa.is_poor


def test_without_two_labels_there_is_no_agreement() -> None:
    """No claims, single labels, and everybody alike."""
    nothing = Agreement(None, None, None, 0)

    assert cohen_kappa([]) == nothing
    assert krippendorff_alpha([["entailed"], []]) == nothing
    assert cohen_kappa([("entailed", "entailed")] * 9) == Agreement(None, None, None, 9)
    assert agreement_by_rater({"a": {"ann": "entailed"}}) == {"ann": nothing}
