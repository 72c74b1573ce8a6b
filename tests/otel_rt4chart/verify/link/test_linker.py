from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.text.segment import segment


def test_the_sentence_with_the_claims_words_comes_first() -> None:
    """Inflected forms meet, and function words do not count."""
    context = segment("The pool is heated. The free trial lasts for 14 days. Dogs are welcome.")

    links = Linker(context).candidates("Free trials last 14 days")

    assert links[0].sentence == 1
    assert links[0].score > 0.9


def test_a_claim_without_a_common_word_has_no_candidate() -> None:
    """Nothing shared means nothing to judge."""
    assert Linker(segment("The pool is heated.")).candidates("Bananas grow on Mars.") == ()


@given(st.text(max_size=120), st.text(max_size=120))
def test_scores_are_shares_in_descending_order(context: str, claim: str) -> None:
    """A score says how much of the claim a sentence holds, and the best comes first."""
    links = Linker(segment(context)).candidates(claim)

    assert all(0 < link.score <= 1 + 1e-9 for link in links)
    assert [link.score for link in links] == sorted((x.score for x in links), reverse=True)
