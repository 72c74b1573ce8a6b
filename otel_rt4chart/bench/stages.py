"""Where verification loses, by the stages of "Claim Extraction and Source-Span Verification"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from math import prod
from statistics import fmean, median
from typing import NamedTuple

from otel_rt4chart.bench.dataset import GoldSpan, Row
from otel_rt4chart.bench.metrics import Counts
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.evidence import drop_unknown_sentences, has_required_evidence
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import AnswerRange, Claim, DraftClaim, Label, Report, Sentence
from otel_rt4chart.verify.decompose.answer_range import locate_claim
from otel_rt4chart.verify.decompose.guards import (
    SENTENCES_BEFORE,
    grounding_problem,
    missing_content,
    repair_drafts,
    split_claim,
)
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.text.segment import segment, segment_passages


class Figure(NamedTuple):
    """A mean or a median over `n` things; None where there are none."""

    value: float | None
    n: int


class Placed(NamedTuple):
    """A claim with the range it had before it was localised, and what people say of it.

    `is_wrong` is None where people marked the answer as a whole only.
    """

    claim: Claim
    range: AnswerRange
    is_wrong: bool | None

    @property
    def is_linked(self) -> bool:
        """False where the claim was settled without any judge."""
        return self.claim.decided_by != "link"

    @property
    def is_flagged(self) -> bool:
        """What is undecided is not."""
        return self.claim.label.is_unfaithful


@dataclass(frozen=True, slots=True)
class Checked:
    """One labelled answer and its claims.

    `steady` tells of each claim whether its candidates alone give it the same label. `has_links`
    is False for a judge that is given everything in one call.
    """

    row: Row
    report: Report
    sentences: tuple[Sentence, ...]
    claims: tuple[Placed, ...]
    steady: tuple[bool, ...]
    has_links: bool


class Stages(NamedTuple):
    """The figures of some answers, stage by stage; `overlap` and `length` are of the hits."""

    name: str
    recall: Figure
    grounded: Figure
    atomic: Figure
    kept: Figure
    linked: Figure
    agreement: Figure
    claims: Counts
    hit: Figure
    overlap: Figure
    length: Figure
    answers: Counts

    @property
    def stages(self) -> dict[str, float | None]:
        """One figure a stage, by the stage's name."""
        return {
            "extraction": product((self.recall.value, self.grounded.value)),
            "linking": self.linked.value,
            "classification": self.claims.balanced_accuracy,
            "localisation": self.hit.value,
        }


def check(row: Row, report: Report, judge: Judge | BatchJudge) -> Checked:
    """A report beside its labels; a plain judge is asked again, on each claim's candidates."""
    sentences = segment(row.exchange.answer)
    drafts = _drafts(report.claims, sentences, judge)
    told = zip(report.claims, drafts, strict=True)
    pairs = [pair for pair in told if pair[0].label is not Label.NOT_A_CLAIM]
    return Checked(
        row=row,
        report=report,
        sentences=sentences,
        claims=tuple(Placed(claim, draft.range, _gold(row, draft.range)) for claim, draft in pairs),
        steady=() if isinstance(judge, BatchJudge) else tuple(_steady(row, pairs, judge)),
        has_links=not (isinstance(judge, BatchJudge) and judge.one_call),
    )


def measure(name: str, checked: Sequence[Checked]) -> Stages:
    """The figures over some answers."""
    said = [(one, placed) for one in checked for placed in one.claims]
    hits = list(_hits(checked))
    fits = [max(_fit(printed, span) for span in spans) for printed, spans in hits if spans]
    return Stages(
        name=name,
        recall=mean(_is_covered(one, span) for one in checked for span in one.row.spans),
        grounded=mean(_is_grounded(one, placed.claim) for one, placed in said),
        atomic=mean(len(split_claim(placed.claim.text)) == 1 for _, placed in said),
        kept=mean(chain.from_iterable(map(_kept, checked))),
        linked=mean(chain.from_iterable(map(_linked, checked))),
        agreement=mean(chain.from_iterable(one.steady for one in checked)),
        claims=_counts((p.is_wrong, p.is_flagged) for _, p in said if p.is_linked),
        hit=mean(bool(spans) for _, spans in hits),
        overlap=mean(fit for fit, _ in fits),
        length=Figure(median(ratio for _, ratio in fits) if fits else None, len(fits)),
        answers=_counts(
            (one.row.is_hallucinated, one.report.label.is_unfaithful) for one in checked
        ),
    )


def measure_datasets(checked: Iterable[Checked]) -> tuple[Stages, ...]:
    """One line for each data set, by name."""
    groups: dict[str, list[Checked]] = {}
    for one in checked:
        groups.setdefault(one.row.dataset or "(none)", []).append(one)
    return tuple(measure(name, groups[name]) for name in sorted(groups))


def mean(values: Iterable[float]) -> Figure:
    """The share of what is true, or the mean of figures."""
    known = list(values)
    return Figure(fmean(known) if known else None, len(known))


def product(values: Iterable[float | None]) -> float | None:
    """None where one of them is."""
    known = tuple(values)
    defined = [value for value in known if value is not None]
    return prod(defined) if len(defined) == len(known) else None


def _drafts(
    claims: Sequence[Claim], sentences: tuple[Sentence, ...], judge: Judge | BatchJudge
) -> Sequence[DraftClaim]:
    """A report keeps no drafts: a plain judge makes the same ones again, others cost calls."""
    if not isinstance(judge, BatchJudge) and sentences:
        with suppress(JudgeError):
            drafts = repair_drafts(judge.decompose(sentences), sentences)
            if [draft.text for draft in drafts] == [claim.text for claim in claims]:
                return drafts
    return [_draft(claim, sentences) for claim in claims]


def _draft(claim: Claim, sentences: Sequence[Sentence]) -> DraftClaim:
    where = claim.answer_range
    if claim.label.is_unfaithful and claim.sentence >= 0:
        where = locate_claim(claim.text, sentences[claim.sentence])
    return DraftClaim(claim.text, claim.sentence, where, claim.kind)


def _steady(row: Row, pairs: Iterable[tuple[Claim, DraftClaim]], judge: Judge) -> Iterator[bool]:
    """Of the claims that this very judge could decide: a cascade as such decides none."""
    context = segment_passages(row.exchange.passages)
    linker = Linker(context)
    for claim, draft in pairs:
        found = sorted(link.sentence for link in linker.candidates(draft.text))
        if not found or not claim.label.is_decided or claim.decided_by != judge.id:
            continue
        shown = [context[index] for index in found]
        with suppress(JudgeError):
            told = judge.resolve([draft], shown, hint=None, question=row.exchange.question)
            for judgement in told:
                held = has_required_evidence(drop_unknown_sentences(judgement, found))
                yield claim.label is (judgement.label if held else Label.BASELESS)


def _is_covered(one: Checked, span: GoldSpan) -> bool:
    return any(_shared(placed.range, span.range) for placed in one.claims)


def _is_grounded(one: Checked, claim: Claim) -> bool:
    at = max(0, claim.sentence)
    before = [sentence.text for sentence in one.sentences[max(0, at - SENTENCES_BEFORE) : at]]
    return grounding_problem(claim.text, _home(one, claim.sentence), before) is None


def _kept(one: Checked) -> Iterator[bool]:
    texts: dict[int, list[str]] = {}
    for placed in one.claims:
        texts.setdefault(placed.claim.sentence, []).append(placed.claim.text)
    return (not missing_content(_home(one, sentence), claims) for sentence, claims in texts.items())


def _home(one: Checked, sentence: int) -> str:
    """A holistic claim is of no sentence: the whole answer is its own."""
    return one.sentences[sentence].text if sentence >= 0 else one.row.exchange.answer


def _linked(one: Checked) -> Iterator[bool]:
    """Only where a candidate must exist: what faithful answers say stands in their passages."""
    if one.has_links and one.row.exchange.passages and not one.row.is_hallucinated:
        yield from (placed.is_linked for placed in one.claims)


def _hits(checked: Iterable[Checked]) -> Iterator[tuple[AnswerRange, list[AnswerRange]]]:
    """The printed range of each claim that is rightly flagged, and the marked spans it touches."""
    for one in checked:
        for placed in one.claims:
            if placed.is_linked and placed.is_wrong and placed.is_flagged:
                yield placed.claim.answer_range, _touched(one.row, placed.claim.answer_range)


def _gold(row: Row, said: AnswerRange) -> bool | None:
    return bool(_touched(row, said)) if row.has_spans else None


def _touched(row: Row, said: AnswerRange) -> list[AnswerRange]:
    return [span.range for span in row.spans if _shared(said, span.range)]


def _shared(one: AnswerRange, other: AnswerRange) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _fit(said: AnswerRange, marked: AnswerRange) -> tuple[float, float]:
    """Shared characters by all of both, and the length by the marked length."""
    long, wide = said.end - said.start, marked.end - marked.start
    shared = _shared(said, marked)
    return shared / (long + wide - shared), long / wide


def _counts(pairs: Iterable[tuple[bool | None, bool]]) -> Counts:
    """Of (is unfaithful, was flagged); what is not known to be either is not counted."""
    found = Counter(pairs)
    return Counts(found[True, True], found[False, True], found[False, False], found[True, False])
