from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.neural.pair_classifier import (
    LabelMap,
    LabelProbabilities,
    check_width,
    read_labels,
)


def configured(*names: str) -> dict[str, object]:
    """A config.json with these labels."""
    return {"id2label": {str(number): name for number, name in enumerate(names)}}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("entailment", "neutral", "contradiction"), "entailed,baseless,contradicted"),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), "contradicted,baseless,entailed"),
        (("Entailed", "not_entailment"), "entailed,baseless"),
        (("entailment", "Not Entailment"), "entailed,baseless"),
        (("hallucinated", "consistent"), "baseless,entailed"),
        (("unsupported", "supported"), "baseless,entailed"),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), "entailed,contradicted,baseless"),
        (("consistent",), "entailed"),
    ],
)
def test_a_models_own_names_are_understood(names: tuple[str, ...], expected: str) -> None:
    """In any case and spelling."""
    assert str(read_labels("", configured(*names))) == expected


def test_the_option_wins_over_the_config() -> None:
    """Spaces do not count."""
    found = read_labels(" entailed, baseless ,contradicted", configured("LABEL_0", "LABEL_1"))

    assert str(found) == "entailed,baseless,contradicted"


def test_labels_are_read_by_their_numbers() -> None:
    """As text 10 comes before 2."""
    config = {"id2label": {str(n): "neutral" for n in reversed(range(1, 12))} | {"0": "entailed"}}

    assert str(read_labels("", config)).startswith("entailed,baseless")


@pytest.mark.parametrize(
    ("option", "config", "told"),
    [
        ("", configured("LABEL_0", "LABEL_1"), "what 'LABEL_0, LABEL_1' means is not known"),
        ("", {}, "expected config.json to name the labels in id2label"),
        ("", {"id2label": ["entailment"]}, "expected config.json to name the labels"),
        ("", {"id2label": {"1": "entailment", "2": "neutral"}}, "from 0 on, got 1, 2"),
        ("yes,no", {}, "RT4CHART_ONNX_LABELS: what 'yes, no' means"),
        ("baseless,contradicted", {}, "expected entailed once .* got baseless, contradicted"),
        ("entailed,entailed", {}, "expected entailed once"),
        ("entailed,refutes,contradicted", {}, "contradicted at most once"),
    ],
)
def test_labels_that_say_nothing_ask_for_the_option(
    option: str, config: dict[str, object], told: str
) -> None:
    """With an example of it."""
    with pytest.raises(SettingsError, match=told) as failure:
        read_labels(option, config)
    if "from 0" not in told:
        assert "such as entailed,baseless,contradicted" in str(failure.value)


def test_a_label_for_each_logit() -> None:
    """More or fewer are refused."""
    with pytest.raises(SettingsError, match=r"the model's 3 logits, got 2 \(entailed,baseless\)"):
        check_width(read_labels("entailed,baseless", {}), 3)


@pytest.mark.parametrize(
    ("labels", "given", "expected"),
    [
        ("contradicted,baseless,entailed", (0.1, 0.2, 0.7), LabelProbabilities(0.7, 0.1, 0.2)),
        ("baseless,entailed", (0.25, 0.75), LabelProbabilities(0.75, 0.0, 0.25)),
        ("entailed", (0.75,), LabelProbabilities(0.75, 0.0, 0.25)),
    ],
)
def test_what_is_neither_for_nor_against_is_baseless(
    labels: str, given: tuple[float, ...], expected: LabelProbabilities
) -> None:
    """With three labels, two, or a single logit."""
    found: LabelMap = read_labels(labels, {})

    assert found.odds(given) == pytest.approx(expected)
