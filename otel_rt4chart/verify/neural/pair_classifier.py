"""A running classifier of premise and hypothesis, with labels for its logits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.neural.model_folder import LONGEST, RECORD, ModelFolder
from otel_rt4chart.verify.neural.runtime import (
    Encoded,
    ModelInput,
    ModelSource,
    RecentCache,
    Runtime,
)

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


class LabelProbabilities(NamedTuple):
    """A model's probabilities for one pair of premise and hypothesis; they sum to one."""

    entailed: float
    contradicted: float
    baseless: float


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The labels in the order of the logits; a single logit is that of entailed."""

    labels: tuple[Label, ...]

    def odds(self, probabilities: Sequence[float]) -> LabelProbabilities:
        """The probabilities by label; labels that the model does not have count as baseless."""
        sums = dict.fromkeys(Label, 0.0)
        for label, probability in zip(self.labels, probabilities, strict=True):
            sums[label] += probability
        entailed, contradicted = sums[Label.ENTAILED], sums[Label.CONTRADICTED]
        return LabelProbabilities(entailed, contradicted, max(0.0, 1.0 - entailed - contradicted))

    def __str__(self) -> str:
        """The labels as the setting writes them."""
        return ",".join(self.labels)


def read_labels(option: str, config: Mapping[str, object]) -> LabelMap:
    """The labels that the option names, else those of id2label in config.json."""
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


_OUTPUT = "logits"
_BATCH_TOKENS = 4_096  # bounds the memory that a batch takes, whatever the model
_DIGITS = 4  # further digits depend on the padding of the batch
_EXPORT_AGAIN = "export it for text classification, with dynamic axes (docs/deploy/judges.md)"

Pair = tuple[str, str]


def _read_template(folder: ModelFolder) -> tuple[str, str, str] | None:
    """The words before the premise, between the two, and after the claim; None for a pair."""
    if not folder.template:
        return None
    before, premise, rest = folder.template.partition("{premise}")
    between, claim, after = rest.partition("{claim}")
    if not (premise and claim):
        raise SettingsError(
            f"{folder.tokenizer.with_name(RECORD)}, template: expected a text with {{premise}} and "
            f"then {{claim}}, got {folder.template[:80]!r}"
        )
    return before, between, after


class PairClassifier:
    """Gives the probabilities of pairs of premise and hypothesis; threads may share it.

    `width` is the number of logits, `longest` the most tokens of a pair. The same pair always gets
    the same probabilities, whatever else is in the batch; models that scale over a batch therefore
    need `one_by_one`. A model with a template reads one text that holds both.
    """

    def __init__(self, folder: ModelFolder, *, threads: int = 0, one_by_one: bool = False) -> None:
        """Open the model and run it once; `threads` 0 stands for all cores, 4 at most."""
        pad = folder.config.get("pad_token_id")
        source = ModelSource(
            owner="an onnx judge",
            model=folder.model,
            tokenizer=folder.tokenizer,
            outputs=(_OUTPUT,),
            remedy=_EXPORT_AGAIN,
            pad=pad if isinstance(pad, int) else 0,
        )
        self._template = _read_template(folder)
        self._runtime = Runtime(source, threads=threads)
        self._one_by_one = one_by_one
        self.longest = min(LONGEST, folder.positions, self._runtime.limit or LONGEST)
        try:
            self.width = len(self.probabilities([("a", "a")])[0])
        except JudgeError as error:
            raise SettingsError(f"{error}; {_EXPORT_AGAIN}") from error

    def pair_length(self, premise: str, hypothesis: str) -> int:
        """The tokens of a pair, special tokens included."""
        return len(self._encode(premise, hypothesis))

    def _encode(self, premise: str, hypothesis: str) -> Encoded:
        if self._template is None:
            return self._runtime.encode(premise, hypothesis)
        before, between, after = self._template
        return self._runtime.encode(f"{before}{premise}{between}{hypothesis}{after}")

    def probabilities(self, pairs: Sequence[Pair]) -> list[tuple[float, ...]]:
        """For each pair the softmax of its logits, or the sigmoid of a single one.

        JudgeError where the model fails.
        """
        encoded = [self._encode(*pair) for pair in pairs]
        lengths = [len(one) for one in encoded]
        if max(lengths, default=0) > self.longest:
            raise JudgeError(f"expected pairs of {self.longest} tokens, got {max(lengths)}")
        found: dict[int, tuple[float, ...]] = {}
        for batch in self._batches(lengths):
            (logits,) = self._runtime.run(
                [ModelInput(encoded[at].ids, encoded[at].type_ids) for at in batch]
            )
            found.update(zip(batch, map(normalised, logits), strict=True))
        return [found[at] for at in range(len(pairs))]

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Batches of pairs of similar length, so that little is padded."""
        batch: list[int] = []
        for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
            is_full = self._one_by_one or (len(batch) + 1) * lengths[at] > _BATCH_TOKENS
            if batch and is_full:
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch


def normalised(logits: Sequence[float]) -> tuple[float, ...]:
    """Softmax, or the sigmoid of a single logit."""
    values = [*logits, 0.0] if len(logits) == 1 else logits
    highest = max(values)  # subtracted, so that no exponential overflows
    raised = [math.exp(value - highest) for value in values]
    total = sum(raised)
    return tuple(round(value / total, _DIGITS) for value in raised[: len(logits)])


_CACHED_PAIRS = 4_096


class CachedProbabilities:
    """The probabilities of recent pairs: a chunk's nearest sentences are often the context's too.

    Bounded; threads may share it.
    """

    def __init__(self, session: PairClassifier, labels: LabelMap) -> None:
        """An empty cache before the classifier."""
        self._session = session
        self._labels = labels
        self._known: RecentCache[Pair, LabelProbabilities] = RecentCache(_CACHED_PAIRS)

    def of(self, pairs: Iterable[Pair]) -> dict[Pair, LabelProbabilities]:
        """The probabilities of each pair; those not in the cache are computed in one call."""
        asked = list(dict.fromkeys(pairs))
        found = {pair: odds for pair in asked if (odds := self._known.get(pair)) is not None}
        missing = [pair for pair in asked if pair not in found]
        given = map(self._labels.odds, self._session.probabilities(missing))
        for pair, odds in zip(missing, given, strict=True):
            found[pair] = odds
            self._known.put(pair, odds)
        return found
