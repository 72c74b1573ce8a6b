"""Where failures lie among those of other patterns and routes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.findings.classify import ClaimDifference, MeaningChange
from otel_rt4chart.verify.findings.failure_kinds import FailureKind
from rt4chart_clustering.description.embedding import HashingEmbedder, Matrix
from rt4chart_clustering.description.joint_vector import Place, joint_vectors

TEXTS = HashingEmbedder().embed(["the rent is due", "copper cables rust"])
PLACE = ("support", "refunds")
NUMBER = ClaimDifference(MeaningChange(FailureKind.NUMBER), frozenset({FailureKind.NUMBER}))


def one(kind: FailureKind, *others: FailureKind) -> ClaimDifference:
    """A difference of that primary kind."""
    return ClaimDifference(MeaningChange(kind), frozenset({kind, *others}))


def rows_of(
    found: list[ClaimDifference], texts: Matrix, *, places: list[Place] | None = None
) -> Matrix:
    """The joint vectors of failures that are about what their descriptions say."""
    return joint_vectors(found, places or [PLACE] * len(found), texts, texts)


def test_what_went_wrong_weighs_more_than_texts() -> None:
    """A pattern about two things is nearer than two patterns of two families about one thing."""
    rows = rows_of(
        [NUMBER, NUMBER, one(FailureKind.DATE), one(FailureKind.POLARITY)], TEXTS[[0, 1, 0, 0]]
    )

    same, family, other = (float(rows[0] @ rows[at]) for at in (1, 2, 3))

    assert min(same, family) > other + 0.1


def test_what_went_wrong_weighs_more_than_the_route() -> None:
    """A pattern on two routes is nearer than two patterns of two families on one route."""
    rows = rows_of(
        [NUMBER, NUMBER, one(FailureKind.POLARITY)],
        TEXTS[[0, 0, 0]],
        places=[PLACE, ("support", "plans"), PLACE],
    )

    assert float(rows[0] @ rows[1]) > float(rows[0] @ rows[2])


def test_another_route_is_a_little_away() -> None:
    """The same failure of two routes is not the same point."""
    rows = rows_of([NUMBER, NUMBER], TEXTS[[0, 0]], places=[PLACE, ("support", "plans")])

    assert 0.7 < float(rows[0] @ rows[1]) < 0.99


def test_what_else_fired_tells_rows_of_a_pattern_apart() -> None:
    """A little."""
    rows = rows_of([NUMBER, one(FailureKind.NUMBER, FailureKind.SCOPE)], TEXTS[[0, 0]])

    assert 0.9 < float(rows[0] @ rows[1]) < 0.999


@given(st.lists(st.tuples(st.sampled_from(FailureKind), st.text(), st.text()), max_size=4))
def test_rows_have_length_one(found: list[tuple[FailureKind, str, str]]) -> None:
    """As clusters need it, whatever a route is called and whether there are words or not."""
    texts = np.zeros((len(found), 5), dtype=np.float32)

    rows = rows_of([one(kind) for kind, _, _ in found], texts, places=[row[1:] for row in found])

    assert len(rows) == len(found)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
