"""SelfCheckGPT: an answer that other answers to the same question do not bear out is doubted.

Manakul, Liusie and Gales, EMNLP 2023 (arXiv 2303.08896): samples are drawn at temperature 1, and
each sentence of the answer is compared with each sample, by an inference model (section 5.4, the
probability of a contradiction against an entailment) or by a prompt (section 5.5, yes 0, no 1,
else one half). A sentence's score is the mean over the samples, the answer's that over its
sentences. Adapted to retrieved context as in RT4CHART (section 4.2): the samples answer from the
passages. Ours: the prompts' words, five samples in place of twenty, the embedded network in place
of DeBERTa, and the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp
from statistics import fmean
from typing import Protocol

from otel_rt4chart.bench.rivals.asking import (
    SEED,
    VOTE,
    VOTE_TOKENS,
    Asker,
    closed_object,
    doubts,
    passages_material,
    question,
    version,
)
from otel_rt4chart.bench.rivals.verdict import HolisticVerdict, no_verdict, verdict_of
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.link.chunks import estimate_tokens
from otel_rt4chart.verify.llm.prompt import quoted, quoted_lines
from otel_rt4chart.verify.neural.cross_encoder import NetworkReading
from otel_rt4chart.verify.text.segment import segment

SAMPLES = 5
TEMPERATURE = 1.0
THRESHOLD = 0.5
_SAMPLE = closed_object(answer={"type": "string"})
_SAMPLE_TOKENS = 120

# The doubt of each sentence by each sample, sentence by sentence.
Compare = Callable[[Sequence[str], Sequence[str], Meter], list[float]]


class SelfCheck:
    """SelfCheckGPT over an endpoint; `compare` says how much the samples doubt the sentences."""

    def __init__(self, asker: Asker, compare: Compare, name: str, budget: Budget) -> None:
        """`name` is the id's beginning: the variant with the versions that it depends on."""
        self._asker = asker
        self._compare = compare
        self._name = name
        self._budget = budget

    @property
    def id(self) -> str:
        """Variant, model, version of the samples' prompt, and number of samples."""
        return f"{self._name}/{self._asker.model}/{version('sample')}-samples{SAMPLES}"

    def verify(self, exchange: Exchange) -> HolisticVerdict:
        """Sample, compare, and join."""
        meter = Meter(self._budget)
        sentences = [one.text for one in segment(exchange.answer)]
        if not sentences:
            return no_verdict("no_claims: the answer is empty", meter.usage())
        try:
            samples = self._samples(exchange, meter)
            score = fmean(self._compare(sentences, samples, meter))
        except JudgeError as error:
            return no_verdict(error, meter.usage())
        return verdict_of(score, THRESHOLD, meter.usage())

    def _samples(self, exchange: Exchange, meter: Meter) -> list[str]:
        material = passages_material(exchange.passages, exchange.question)
        tokens = _SAMPLE_TOKENS + 2 * estimate_tokens(exchange.answer)
        prompts = [
            question("sample", material, _SAMPLE, tokens, seed=SEED + n, temperature=TEMPERATURE)
            for n in range(SAMPLES)
        ]
        return [_answer(one) for one in self._asker.objects(prompts, meter)]


def _answer(reply: object) -> str:
    if isinstance(reply, JudgeError):
        raise reply
    said = reply.get("answer") if isinstance(reply, dict) else None
    if not isinstance(said, str) or not said.strip():
        raise JudgeError("the model's reply was not usable: no answer")
    return said


def compare_by_prompt(asker: Asker) -> Compare:
    """One call for each sentence and sample."""

    def compare(sentences: Sequence[str], samples: Sequence[str], meter: Meter) -> list[float]:
        prompts = [
            question(
                "consistent",
                f"Text: {quoted_lines(sample)}\n\nSentence: {quoted(sentence)}",
                VOTE,
                VOTE_TOKENS,
            )
            for sentence in sentences
            for sample in samples
        ]
        return doubts(asker.objects(prompts, meter))

    return compare


class PairReader(Protocol):
    """The embedded network, as far as it is used here."""

    @property
    def longest(self) -> int:
        """The most tokens of a pair."""

    def length(self, claim: str, evidence: str) -> int:
        """The tokens of a pair."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NetworkReading]:
        """The logarithms of the labels' probabilities of each pair of claim and evidence."""


def compare_by_inference(network: PairReader) -> Compare:
    """The probability of a contradiction where neutral is left out of the three labels.

    A sample that is too long for the network is read in parts, of which the one that bears most on
    the sentence counts.
    """

    def compare(sentences: Sequence[str], samples: Sequence[str], meter: Meter) -> list[float]:
        return [_contradiction(network, one, sample) for one in sentences for sample in samples]

    return compare


def _contradiction(network: PairReader, sentence: str, sample: str) -> float:
    readings = network.read([(sentence, part) for part in _parts(network, sentence, sample)])
    if not readings:
        raise JudgeError("a sentence is too long for the network")
    nearest = min(readings, key=lambda one: one.baseless)
    return 1.0 / (1.0 + exp(min(nearest.entailed - nearest.contradicted, 60.0)))


def _parts(network: PairReader, sentence: str, sample: str) -> Iterator[str]:
    """Consecutive sentences of the sample, as many as fit; one that does not fit is left out."""
    part = ""
    for one in segment(sample):
        longer = f"{part} {one.text}".strip()
        if network.length(sentence, longer) <= network.longest:
            part = longer
            continue
        if part:
            yield part
        part = one.text if network.length(sentence, one.text) <= network.longest else ""
    if part:
        yield part
