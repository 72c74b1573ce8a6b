from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.evidence import and_join, or_join
from otel_rt4chart.verify.core.model import AnswerLabel, Label

labels = st.lists(st.sampled_from(list(Label)), max_size=12)
chunk_labels = st.lists(
    st.sampled_from([Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS]), min_size=1, max_size=12
)


@given(labels, st.randoms())
def test_joins_ignore_the_order(cast: list[Label], draw: random.Random) -> None:
    """Which chunk or claim came first decides nothing."""
    shuffled = list(cast)
    draw.shuffle(shuffled)

    assert or_join(shuffled) is or_join(cast)
    assert and_join(shuffled) is and_join(cast)


@given(chunk_labels)
def test_or_join_prefers_contradiction_then_support(cast: list[Label]) -> None:
    """One contradicting chunk decides; without one, a single supporting chunk suffices."""
    joined = or_join(cast)

    if Label.CONTRADICTED in cast:
        assert joined is Label.CONTRADICTED
    elif Label.ENTAILED in cast:
        assert joined is Label.ENTAILED
    else:
        assert joined is Label.BASELESS


@given(labels)
def test_and_join_is_entailed_only_where_every_claim_is(cast: list[Label]) -> None:
    """Nothing undecided or unfaithful hides behind an entailed answer."""
    counted = [label for label in cast if label is not Label.NOT_A_CLAIM]

    assert (and_join(cast) is AnswerLabel.ENTAILED) == (set(counted) == {Label.ENTAILED})
    assert (and_join(cast) is AnswerLabel.NO_CLAIMS) == (not counted)


def test_and_join_is_undecided_beside_an_undecided_claim() -> None:
    """An undecided claim is never read as entailed."""
    assert and_join([Label.ENTAILED, Label.UNDECIDED]) is AnswerLabel.UNDECIDED


def test_an_unfaithful_claim_outweighs_an_undecided_one() -> None:
    """What is known to be wrong is said."""
    assert and_join([Label.UNDECIDED, Label.BASELESS]) is AnswerLabel.BASELESS


def test_chunks_that_could_not_be_judged_do_not_hide_support() -> None:
    """A failed call about one chunk leaves the other chunks' word."""
    assert or_join([Label.UNDECIDED, Label.ENTAILED]) is Label.ENTAILED
    assert or_join([Label.UNDECIDED]) is Label.UNDECIDED
