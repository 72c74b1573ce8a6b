from __future__ import annotations

from pathlib import Path

import pytest

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify import Label, OnnxSpansJudge
from otel_rt4chart.verify.neural.model_folder import find_model
from otel_rt4chart.verify.neural.pair_classifier import LabelProbabilities, read_labels
from otel_rt4chart.verify.neural.span_classifier import (
    SpanClassifier,
    TokenReading,
    best_supported,
    flagged_ranges,
)
from tests.otel_rt4chart.verify.neural.made import save_model
from tests.otel_rt4chart.verify.neural.made_spans import save_detector

ODDS = {
    Label.ENTAILED: LabelProbabilities(0.8, 0.1, 0.1),
    Label.CONTRADICTED: LabelProbabilities(0.2, 0.7, 0.1),
    Label.BASELESS: LabelProbabilities(0.3, 0.1, 0.6),
}


def token(label: Label, start: int = 0, end: int = 1) -> TokenReading:
    """A token with that label."""
    return TokenReading(start, end, label, ODDS[label])


def test_tokens_have_the_offsets_of_the_answer(detector: Path) -> None:
    """Not those of the prompt, and without the special tokens."""
    folder = find_model(detector)
    classifier = SpanClassifier(folder, read_labels("", folder.config))

    read = classifier.read("The pool is heated.", "Pool  is warm")

    assert [(one.start, one.end, one.label) for one in read] == [
        (0, 4, Label.ENTAILED),
        (6, 8, Label.ENTAILED),
        (9, 13, Label.BASELESS),
    ]
    assert classifier.length("a", "b c") == 6
    with pytest.raises(JudgeError, match="expected at most 512 tokens, got 1004"):
        classifier.read("a " * 1000, "b")


def test_runs_of_one_label_are_joined_and_stripped() -> None:
    """Neighbours with another label end a run, as a supported token does."""
    tokens = [
        token(Label.BASELESS, 0, 3),
        token(Label.BASELESS, 3, 5),
        token(Label.ENTAILED, 5, 6),
        token(Label.CONTRADICTED, 6, 8),
        token(Label.BASELESS, 8, 9),
    ]

    found = list(flagged_ranges("ab  cdef ", tokens))

    assert [tuple(one[:3]) for one in found] == [
        (0, 5, Label.BASELESS),
        (6, 8, Label.CONTRADICTED),
    ]
    assert found[1].probability == 0.8


@pytest.mark.parametrize(
    ("left", "right", "counts"),
    [
        (Label.ENTAILED, Label.CONTRADICTED, Label.ENTAILED),
        (Label.BASELESS, Label.ENTAILED, Label.ENTAILED),
        (Label.BASELESS, Label.CONTRADICTED, Label.CONTRADICTED),
        (Label.BASELESS, Label.BASELESS, Label.BASELESS),
    ],
)
def test_windows_are_joined_by_what_supports(left: Label, right: Label, counts: Label) -> None:
    """As chunks are: one that supports a word is enough."""
    assert best_supported(token(left), token(right)).label is counts
    assert best_supported(token(right), token(left)).label is counts


def test_a_model_of_pairs_is_no_detector(tmp_path: Path) -> None:
    """What was expected, what came, and what to change."""
    with pytest.raises(SettingsError) as caught:
        OnnxSpansJudge(save_model(tmp_path))

    assert "expected a row of numbers for each of 5 tokens, got the shape (1, 3)" in str(
        caught.value
    )
    assert "export it for token classification" in str(caught.value)


def test_labels_without_a_meaning_are_asked_for(tmp_path: Path) -> None:
    """LABEL_0 and LABEL_1 say nothing; the setting says it."""
    path = save_detector(tmp_path, id2label={"0": "LABEL_0", "1": "LABEL_1"})

    with pytest.raises(SettingsError, match="RT4CHART_ONNX_LABELS"):
        OnnxSpansJudge(path)
    with pytest.raises(SettingsError, match="each of the model's 2 logits, got 3"):
        OnnxSpansJudge(path, labels="entailed,baseless,contradicted")
    assert OnnxSpansJudge(path, labels="entailed,baseless").longest_input == 512


@pytest.mark.parametrize(("threshold", "threads"), [(1.5, 0), (-0.1, 0), (0.5, -1)])
def test_options_out_of_range_are_refused(detector: Path, threshold: float, threads: int) -> None:
    """As a setting that is wrong."""
    with pytest.raises(SettingsError, match="expected a threshold from 0 to 1"):
        OnnxSpansJudge(detector, threshold=threshold, threads=threads)
