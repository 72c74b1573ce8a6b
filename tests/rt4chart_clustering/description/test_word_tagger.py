"""Words that look wrong beside the evidence, by the embedded network."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Clash
from otel_rt4chart.verify.neural.cross_encoder import WordMark, marked_runs
from rt4chart_clustering.description.enrichers import CrossEncoderTagger

SOURCE = "An open pit mine collapsed on Wednesday, killing at least two people, state media said."
CLAIM = "An open pit mine collapsed on Friday, killing at least two people, state media said."


@pytest.fixture(scope="module")
def tagger() -> CrossEncoderTagger:
    """The embedded network."""
    return CrossEncoderTagger()


def test_the_changed_word_is_tagged(tagger: CrossEncoderTagger) -> None:
    """Of all words of the claim, the one that the source has otherwise."""
    assert tagger.tag(CLAIM, [SOURCE])[0] == Clash("term", "Friday")


def test_nothing_is_tagged_without_evidence_or_room(tagger: CrossEncoderTagger) -> None:
    """The network reads a pair, and nothing is cut from the claim."""
    assert tagger.tag(CLAIM, []) == ()
    assert tagger.tag("the mine collapsed and " * 100, [SOURCE]) == ()


def test_evidence_that_does_not_fit_is_left_out(tagger: CrossEncoderTagger) -> None:
    """The other sentences are read."""
    assert tagger.tag(CLAIM, ["rocks and " * 400, SOURCE]) == tagger.tag(CLAIM, [SOURCE])


def test_neighbouring_words_are_one_run_and_the_surest_is_first() -> None:
    """Runs below the given probability are left out."""
    text = "the gold mine shut down late"
    marks = [
        WordMark(0, 3, 0.1),
        WordMark(4, 8, 0.8),
        WordMark(14, 18, 0.85),
        WordMark(19, 23, 0.9),
    ]

    assert marked_runs(text, marks, 0.72) == ["shut down", "gold"]
    assert marked_runs(text, [], 0.0) == []
