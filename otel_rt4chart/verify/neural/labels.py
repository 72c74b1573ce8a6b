"""Which of a model's numbers says what: its own names for labels, or the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.model import Label

SETTING = "RT4CHART_ONNX_LABELS"
_SAY = (
    f"say it by {SETTING}, in the order of the model's logits, such as "
    "entailed,baseless,contradicted or baseless,entailed, or entailed for a single logit"
)
_NAMES = {
    Label.ENTAILED: """entailed entailment entail entails support supported supports consistent
        faithful grounded""",
    Label.CONTRADICTED: """contradicted contradiction contradict contradicts contradictory
        refute refuted refutes""",
    Label.BASELESS: """baseless neutral notentailed notentailment nonentailment unsupported
        notsupported hallucinated hallucination inconsistent unfaithful ungrounded
        notenoughinfo notenoughinformation nei""",
}
_KNOWN = {name: label for label, names in _NAMES.items() for name in names.split()}


class Odds(NamedTuple):
    """What a model gives for one pair of premise and hypothesis; the three sum to one."""

    entailed: float
    contradicted: float
    baseless: float


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The labels in the order of the logits; a single one is entailed or not."""

    labels: tuple[Label, ...]

    def odds(self, probabilities: Sequence[float]) -> Odds:
        """The model's probabilities by label; what it has no label for is baseless."""
        sums = dict.fromkeys(Label, 0.0)
        for label, probability in zip(self.labels, probabilities, strict=True):
            sums[label] += probability
        entailed, contradicted = sums[Label.ENTAILED], sums[Label.CONTRADICTED]
        return Odds(entailed, contradicted, max(0.0, 1.0 - entailed - contradicted))

    def __str__(self) -> str:
        """As the setting writes it."""
        return ",".join(self.labels)


def read_labels(option: str, config: Mapping[str, object]) -> LabelMap:
    """The labels that the option names, else those of config.json's id2label."""
    if option.strip():
        return _label_map([name.strip() for name in option.split(",")], SETTING)
    return _label_map(_configured(config.get("id2label")), "config.json, id2label")


def check_width(labels: LabelMap, width: int) -> None:
    """Refuse a model with more or fewer logits than labels."""
    if width != len(labels.labels):
        raise SettingsError(
            f"expected one label for each of the model's {width} logits, "
            f"got {len(labels.labels)} ({labels}); {_SAY}"
        )


def _configured(id2label: object) -> list[str]:
    if not isinstance(id2label, Mapping) or not id2label:
        raise SettingsError(f"expected config.json to name the labels in id2label; {_SAY}")
    named = {str(number): str(name) for number, name in id2label.items()}
    if set(named) != {str(number) for number in range(len(named))}:
        found = ", ".join(sorted(named))
        raise SettingsError(f"config.json, id2label: expected numbers from 0 on, got {found}")
    return [named[str(number)] for number in range(len(named))]


def _label_map(names: Sequence[str], source: str) -> LabelMap:
    found = tuple(_KNOWN.get(re.sub(r"[\W_]+", "", name.casefold())) for name in names)
    labels = tuple(label for label in found if label is not None)
    if len(labels) < len(names):
        unknown = ", ".join(n for n, label in zip(names, found, strict=True) if label is None)
        raise SettingsError(f"{source}: what {unknown!r} means is not known; {_SAY}")
    if labels.count(Label.ENTAILED) != 1 or labels.count(Label.CONTRADICTED) > 1:
        raise SettingsError(
            f"{source}: expected entailed once and contradicted at most once, "
            f"got {', '.join(names)}; {_SAY}"
        )
    return LabelMap(labels)
