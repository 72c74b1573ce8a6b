from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

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
from tests.otel_rt4chart.verify.neural.made_spans import save_detector, save_odd_detector

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


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a detector over bytes."""
    return save_odd_detector(tmp_path_factory.mktemp("models") / "odd")


def odd_characters(folder: Path, answer: str) -> set[int]:
    """The characters with a byte in an odd token, counted over the bytes of the tokens' names."""
    places = [at for at, one in enumerate(answer) for _ in one.encode()]
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(answer)
    found: set[int] = set()
    at = 0
    for name, number in zip(tokens.tokens[1:-1], tokens.ids[1:-1], strict=True):
        found |= set(places[at : at + len(name)]) if number % 2 else set()
        at += len(name)  # a token's name has one character for each byte
    assert at == len(places)
    return {at for at in found if not answer[at].isspace()}


CLASSIFIERS: dict[Path, SpanClassifier] = {}


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab 14.\n\u00a0é日本ëZ👩\u200d👧\u0301"), min_size=1, max_size=60))
def test_byte_tokens_flag_whole_characters(odd: Path, answer: str) -> None:
    """Exactly those of which a byte is flagged; between two of one run only what lies there."""
    folder = find_model(odd)
    known = CLASSIFIERS.setdefault(odd, SpanClassifier(folder, read_labels("", folder.config)))

    found = {
        at
        for one in flagged_ranges(answer, known.read("passage 1: a é", answer))
        for at in range(one.start, one.end)
    }

    assert {at for at in found if not answer[at].isspace()} == odd_characters(odd, answer)
