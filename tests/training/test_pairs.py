"""Training pairs: claims beside their evidence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import Context, changed, inference, made, natural

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify.text.segment import segment

ROOT = Path(__file__).parents[2]
WORDS = st.lists(st.sampled_from(["the", "trial", "lasts", "14", "30", "days"]), max_size=9)


@pytest.fixture(scope="module")
def rows() -> list[LabelledAnswer]:
    """The labelled answers that the demo bundles."""
    return list(read_rows(ROOT / "collector/rt4chart_collector/demo/data"))[:60]


def test_a_claim_that_meets_a_marked_span_is_unfaithful(rows: list[LabelledAnswer]) -> None:
    """And the marks are the claim's own characters."""
    found = list(natural(rows))

    assert {pair.unfaithful for _, pair in found} == {True, False}
    for row, pair in found:
        assert pair.unfaithful <= row.is_hallucinated
        for start, end in pair.marks or ():
            assert 0 <= start < end <= len(pair.claim)
            assert any(pair.claim[start:end] in row.exchange.answer[s.range.start : s.range.end]
                       for s in row.spans)  # fmt: skip


def test_evidence_is_in_the_order_of_the_document() -> None:
    """As the judge will read it; a sentence can be left out."""
    context = Context(segment("The trial lasts 14 days. Dogs are welcome. A trial is free."))

    assert context.evidence("The free trial lasts") == "The trial lasts 14 days. A trial is free."
    assert context.evidence("The free trial lasts", without=0) == "A trial is free."


def test_made_pairs_know_their_label_and_their_twins(rows: list[LabelledAnswer]) -> None:
    """Edits of one sentence are ranked against its grounded copy; the seed decides all of it."""
    once, again = (list(made(rows[::6], 1, 7)) for _ in range(2))

    assert once == again
    assert {pair.kind for pair in once} == {"entailed", "contradicted", "baseless"}
    grounded = {pair.twin for pair in once if not pair.unfaithful}
    assert all(pair.twin in grounded for pair in once if pair.twin)


def test_inference_pairs_are_read_with_their_labels(tmp_path: Path) -> None:
    """What is not entailed is unfaithful; the premise is the group."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"id": "a", "dataset": "d", "premise": "P", "hypothesis": "H", "label": "baseless"}\n'
    )

    (pair,) = inference(path)

    assert (pair.evidence, pair.claim, pair.kind, pair.unfaithful) == ("P", "H", "baseless", True)
    assert pair.group == "P"


@given(WORDS, WORDS)
def test_changed_words_are_whole_words_of_the_new_text(before: list[str], after: list[str]) -> None:
    """And what is left of it is in the old one, in order."""
    source, text = " ".join(before), " ".join(after)
    spans = changed(source, text)

    left = list(text)
    for start, end in spans:
        assert set(text[start:end].split()) <= set(after)
        left[start:end] = " " * (end - start)
    kept = iter(before)
    assert all(word in kept for word in "".join(left).split())
