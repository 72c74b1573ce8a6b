from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.judge.coverage import FLAGGED_BELOW, best_threshold, covered, verify
from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Passage

DATA = Path(__file__).parents[3] / "collector/rt4chart_collector/demo/data"
PASSAGES = [Passage("1", "The bridge opened in 1932."), Passage("2", "It is painted grey.")]


def test_words_of_any_passage_cover_a_claim() -> None:
    """What is copied has no doubt left, what is unknown nothing but doubt."""
    copied = verify(Exchange("", PASSAGES, "The grey bridge opened in 1932."))
    strange = verify(Exchange("", PASSAGES, "Engineers admire suspension cables."))

    assert (copied.label, copied.unfaithful) == (AnswerLabel.ENTAILED, 0.0)
    assert (strange.label, strange.unfaithful) == (AnswerLabel.BASELESS, 1.0)
    assert covered("", {}) == 1.0
    assert 0.0 < covered("The bridge was repainted.", {"bridg": 1.0, "bridge": 1.0}) < 1.0


def test_the_threshold_is_one_of_the_steps_and_shared_by_all_answers() -> None:
    """It is found anew by the module's command; the one that stands here is a share, too."""
    rows = read_rows(DATA)[:60]

    found = best_threshold(rows)

    assert found * 200 == pytest.approx(round(found * 200))
    assert 0.0 < FLAGGED_BELOW < 1.0
