"""SummEdits as failures: people's edits, or what the embedded judge flags, with their patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.judge.gold import kinds_of
from otel_rt4chart.bench.dataset import RESPONSES, LabelledAnswer, read_rows
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.verify.core.model import AnswerRange, Clash, Sentence
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.neural.premise import nearest_sentences
from otel_rt4chart.verify.text.segment import segment
from rt4chart_clustering.description.enrichers import CrossEncoderTagger

DATASET = "summedits"


@dataclass(frozen=True, slots=True)
class Failing:
    """A failure: `pattern` is the kind of its edit, "" where several or none are known.

    Failures of one `document` are alike: edits of the same summary.
    """

    claim: str
    label: str
    beside: tuple[str, ...]
    clashes: tuple[Clash, ...]
    pattern: str
    topic: str
    document: str = ""


def edited(folder: Path, split: str) -> list[Failing]:
    """Every sentence that people edited, beside the source's nearest sentences.

    Its label is not told, so all have one; the words that look wrong are the network's marks.
    """
    kinds, tagger = kinds_of(folder / RESPONSES), CrossEncoderTagger()
    return [
        Failing(
            sentence.text,
            "contradicted",
            beside,
            tagger.tag(sentence.text, beside),
            _pattern(kinds[row.id]),
            row.task,
            row.group,
        )
        for row in _rows(folder, split)
        if row.is_hallucinated and row.spans
        for sentence, beside in _laid(row)
    ]


def flagged(folder: Path, split: str) -> list[Failing]:
    """What the embedded judge flags of all answers, with its evidence and its clashes.

    The pattern is known of claims that meet the edit of an answer with one kind of edit.
    """
    kinds, verifier = kinds_of(folder / RESPONSES), build_verifier("local")
    return [
        Failing(
            claim.text,
            claim.label,
            tuple(one.text for one in claim.evidence) or (claim.nearest,),
            claim.clashes,
            _pattern(kinds[row.id]) if _meets(row, claim.answer_range) else "",
            row.task,
            row.group,
        )
        for row in _rows(folder, split)
        for claim in verifier.verify(row.exchange).claims
        if claim.label.is_unfaithful
    ]


def _rows(folder: Path, split: str) -> list[LabelledAnswer]:
    return [row for row in read_rows(folder) if (row.dataset, row.split) == (DATASET, split)]


def _laid(row: LabelledAnswer) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    texts = [found.text for one in row.exchange.passages for found in segment(one.text)]
    context = tuple(Sentence(at, 0, len(text), text, "p") for at, text in enumerate(texts))
    linker = Linker(context)
    for sentence in segment(row.exchange.answer):
        if _meets(row, AnswerRange(sentence.start, sentence.end)):
            near = nearest_sentences(sentence.text, context, linker)
            yield sentence, tuple(one.text for one in near)


def _meets(row: LabelledAnswer, where: AnswerRange) -> bool:
    return any(one.range.start < where.end and where.start < one.range.end for one in row.spans)


def _pattern(kinds: Sequence[str] | frozenset[str]) -> str:
    return next(iter(kinds)) if len(kinds) == 1 else ""
