"""Metrics of each stage of verification: extraction, linking, classification, localisation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import prod
from statistics import fmean, median
from typing import NamedTuple

from otel_rt4chart.bench.dataset import GoldSpan, LabelledAnswer
from otel_rt4chart.bench.metrics import ConfusionCounts, shared_characters
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.evidence import drop_unknown_sentences, has_required_evidence
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import AnswerRange, Claim, DraftClaim, Label, Report, Sentence
from otel_rt4chart.verify.decompose.grounding import (
    SENTENCES_BEFORE,
    grounding_problem,
    locate_claim,
    missing_content,
    repair_drafts,
    split_claim,
)
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.text.segment import segment, segment_passages


class Figure(NamedTuple):
    """A mean or a median over `n` items; None for no items."""

    value: float | None
    n: int


class JudgedClaim(NamedTuple):
    """A claim with its range before localisation, and its gold label.

    `is_wrong` is None if annotators only labelled the answer as a whole.
    """

    claim: Claim
    range: AnswerRange
    is_wrong: bool | None

    @property
    def is_linked(self) -> bool:
        """False if the claim had no candidate sentence, so that no judge was called."""
        return self.claim.decided_by != "link"

    @property
    def is_flagged(self) -> bool:
        """True if the claim was called unfaithful; undecided claims are not flagged."""
        return self.claim.label.is_unfaithful


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """One labelled answer and its claims.

    `stable` says for each claim whether its candidates alone give the same label. `has_links` is
    False for a judge that receives everything in one call.
    """

    row: LabelledAnswer
    report: Report
    sentences: tuple[Sentence, ...]
    claims: tuple[JudgedClaim, ...]
    stable: tuple[bool, ...]
    has_links: bool


class StageFigures(NamedTuple):
    """The metrics of each stage over some answers; `overlap` and `length` cover the hits."""

    name: str
    recall: Figure
    grounded: Figure
    atomic: Figure
    kept: Figure
    linked: Figure
    agreement: Figure
    claims: ConfusionCounts
    hit: Figure
    overlap: Figure
    length: Figure
    answers: ConfusionCounts

    @property
    def stages(self) -> dict[str, float | None]:
        """The main metric of each stage by name."""
        return {
            "extraction": product((self.recall.value, self.grounded.value)),
            "linking": self.linked.value,
            "classification": self.claims.balanced_accuracy,
            "localisation": self.hit.value,
        }


def check_answer(row: LabelledAnswer, report: Report, judge: Judge | BatchJudge) -> CheckedAnswer:
    """Compare a report with its labels; a plain judge is called again on its candidates."""
    sentences = segment(row.exchange.answer)
    drafts = _drafts(report.claims, sentences, judge)
    paired = zip(report.claims, drafts, strict=True)
    pairs = [pair for pair in paired if pair[0].label is not Label.NOT_A_CLAIM]
    return CheckedAnswer(
        row=row,
        report=report,
        sentences=sentences,
        claims=tuple(
            JudgedClaim(claim, draft.range, _is_marked(row, draft.range)) for claim, draft in pairs
        ),
        stable=() if isinstance(judge, BatchJudge) else tuple(_stable_labels(row, pairs, judge)),
        has_links=not (isinstance(judge, BatchJudge) and judge.one_call),
    )


def measure_stages(name: str, checked: Sequence[CheckedAnswer]) -> StageFigures:
    """The metrics of each stage over some answers."""
    claims_with_answers = [(answer, placed) for answer in checked for placed in answer.claims]
    hits = list(_flagged_rightly(checked))
    fits = [
        max(_overlap_and_length(printed, span) for span in spans)
        for printed, spans in hits
        if spans
    ]
    return StageFigures(
        name=name,
        recall=mean(_is_covered(answer, span) for answer in checked for span in answer.row.spans),
        grounded=mean(_is_grounded(answer, placed.claim) for answer, placed in claims_with_answers),
        atomic=mean(len(split_claim(placed.claim.text)) == 1 for _, placed in claims_with_answers),
        kept=mean(chain.from_iterable(map(_kept_sentences, checked))),
        linked=mean(chain.from_iterable(map(_linked_claims, checked))),
        agreement=mean(chain.from_iterable(answer.stable for answer in checked)),
        claims=_counts((p.is_wrong, p.is_flagged) for _, p in claims_with_answers if p.is_linked),
        hit=mean(bool(spans) for _, spans in hits),
        overlap=mean(fit for fit, _ in fits),
        length=Figure(median(ratio for _, ratio in fits) if fits else None, len(fits)),
        answers=_counts(
            (answer.row.is_hallucinated, answer.report.label.is_unfaithful) for answer in checked
        ),
    )


def measure_datasets(checked: Iterable[CheckedAnswer]) -> tuple[StageFigures, ...]:
    """Metrics for each data set, sorted by name."""
    groups: dict[str, list[CheckedAnswer]] = {}
    for answer in checked:
        groups.setdefault(answer.row.dataset or "(none)", []).append(answer)
    return tuple(measure_stages(name, groups[name]) for name in sorted(groups))


def mean(values: Iterable[float]) -> Figure:
    """The mean of numbers, or the share of true values."""
    known = list(values)
    return Figure(fmean(known) if known else None, len(known))


def product(values: Iterable[float | None]) -> float | None:
    """The product; None if a factor is None."""
    known = tuple(values)
    defined = [value for value in known if value is not None]
    return prod(defined) if len(defined) == len(known) else None


def _drafts(
    claims: Sequence[Claim], sentences: tuple[Sentence, ...], judge: Judge | BatchJudge
) -> Sequence[DraftClaim]:
    """The drafts of the claims, which a report does not keep; a plain judge recreates them."""
    if not isinstance(judge, BatchJudge) and sentences:
        with suppress(JudgeError):
            drafts = repair_drafts(judge.decompose(sentences), sentences)
            if [draft.text for draft in drafts] == [claim.text for claim in claims]:
                return drafts
    return [_draft_from_claim(claim, sentences) for claim in claims]


def _draft_from_claim(claim: Claim, sentences: Sequence[Sentence]) -> DraftClaim:
    answer_range = claim.answer_range
    if claim.label.is_unfaithful and claim.sentence >= 0:
        answer_range = locate_claim(claim.text, sentences[claim.sentence])
    return DraftClaim(claim.text, claim.sentence, answer_range, claim.kind)


def _stable_labels(
    row: LabelledAnswer, pairs: Iterable[tuple[Claim, DraftClaim]], judge: Judge
) -> Iterator[bool]:
    """Label stability of the claims that this judge decided; a cascade itself decides none."""
    context = segment_passages(row.exchange.passages)
    linker = Linker(context)
    for claim, draft in pairs:
        found = sorted(link.sentence for link in linker.candidates(draft.text))
        if not found or not claim.label.is_decided or claim.decided_by != judge.id:
            continue
        candidates = [context[index] for index in found]
        with suppress(JudgeError):
            judgements = judge.resolve(
                [draft], candidates, hint=None, question=row.exchange.question
            )
            for judgement in judgements:
                is_supported = has_required_evidence(drop_unknown_sentences(judgement, found))
                yield claim.label is (judgement.label if is_supported else Label.BASELESS)


def _is_covered(answer: CheckedAnswer, span: GoldSpan) -> bool:
    return any(shared_characters(placed.range, span.range) for placed in answer.claims)


def _is_grounded(answer: CheckedAnswer, claim: Claim) -> bool:
    at = max(0, claim.sentence)
    before = [sentence.text for sentence in answer.sentences[max(0, at - SENTENCES_BEFORE) : at]]
    return grounding_problem(claim.text, _own_sentence(answer, claim.sentence), before) is None


def _kept_sentences(answer: CheckedAnswer) -> Iterator[bool]:
    texts: dict[int, list[str]] = {}
    for placed in answer.claims:
        texts.setdefault(placed.claim.sentence, []).append(placed.claim.text)
    return (
        not missing_content(_own_sentence(answer, sentence), claims)
        for sentence, claims in texts.items()
    )


def _own_sentence(answer: CheckedAnswer, sentence: int) -> str:
    """The sentence of a claim; a holistic claim has none, so it is the whole answer."""
    return answer.sentences[sentence].text if sentence >= 0 else answer.row.exchange.answer


def _linked_claims(answer: CheckedAnswer) -> Iterator[bool]:
    """Only for faithful answers with passages, where a candidate sentence must exist."""
    if answer.has_links and answer.row.exchange.passages and not answer.row.is_hallucinated:
        yield from (placed.is_linked for placed in answer.claims)


def _flagged_rightly(
    checked: Iterable[CheckedAnswer],
) -> Iterator[tuple[AnswerRange, list[AnswerRange]]]:
    """The printed range of each correctly flagged claim, with the marked spans that it overlaps."""
    for answer in checked:
        for placed in answer.claims:
            if placed.is_linked and placed.is_wrong and placed.is_flagged:
                yield (
                    placed.claim.answer_range,
                    _overlapping_spans(answer.row, placed.claim.answer_range),
                )


def _is_marked(row: LabelledAnswer, printed: AnswerRange) -> bool | None:
    return bool(_overlapping_spans(row, printed)) if row.has_spans else None


def _overlapping_spans(row: LabelledAnswer, printed: AnswerRange) -> list[AnswerRange]:
    return [span.range for span in row.spans if shared_characters(printed, span.range)]


def _overlap_and_length(printed: AnswerRange, marked: AnswerRange) -> tuple[float, float]:
    """Intersection over union of the characters, and the ratio of the lengths."""
    length, marked_length = printed.end - printed.start, marked.end - marked.start
    shared = shared_characters(printed, marked)
    return shared / (length + marked_length - shared), length / marked_length


def _counts(pairs: Iterable[tuple[bool | None, bool]]) -> ConfusionCounts:
    """Count pairs (is unfaithful, was flagged); pairs without a gold label are not counted."""
    found = Counter(pairs)
    return ConfusionCounts(
        found[True, True], found[False, True], found[False, False], found[True, False]
    )
