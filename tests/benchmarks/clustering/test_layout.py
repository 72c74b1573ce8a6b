"""Where failures lie among others."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.clustering.layout import WIDTH, layout
from otel_rt4chart.verify.findings.classify import ClaimDifference, MeaningChange
from otel_rt4chart.verify.findings.failure_kinds import FailureKind
from rt4chart_clustering.description.embedding import HashingEmbedder

TEXTS = HashingEmbedder().embed(["the rent is due", "copper cables rust"])


def one(op: FailureKind, *others: FailureKind) -> ClaimDifference:
    """A difference of that primary op."""
    return ClaimDifference(MeaningChange(op), frozenset({op, *others}))


def test_operations_weigh_more_than_texts() -> None:
    """A pattern about two things is nearer than two patterns of two families about one thing."""
    rows = layout(
        [
            one(FailureKind.NUMBER),
            one(FailureKind.NUMBER),
            one(FailureKind.DATE),
            one(FailureKind.POLARITY),
        ],
        TEXTS[[0, 1, 0, 0]],
    )

    same, family, other = (float(rows[0] @ rows[at]) for at in (1, 2, 3))

    assert min(same, family) > other + 0.2


def test_what_else_fired_tells_rows_of_a_pattern_apart() -> None:
    """A little."""
    rows = layout(
        [one(FailureKind.NUMBER), one(FailureKind.NUMBER, FailureKind.SCOPE)], TEXTS[[0, 0]]
    )

    assert 0.9 < float(rows[0] @ rows[1]) < 0.999


@given(st.lists(st.sampled_from(FailureKind), max_size=4))
def test_rows_have_length_one(ops: list[FailureKind]) -> None:
    """As clusters need it."""
    texts = np.zeros((len(ops), 5), dtype=np.float32)

    rows = layout([one(op) for op in ops], texts)

    assert rows.shape == (len(ops), WIDTH + 5)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
