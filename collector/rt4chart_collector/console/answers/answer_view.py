"""The answer page as values: which text is marked, what belongs to each claim, and the JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from heapq import nsmallest
from typing import NamedTuple

from otel_rt4chart.spans.model.verdict import Stage
from otel_rt4chart.verify.core.model import ClaimStatus, Evidence, Label, Passage
from otel_rt4chart.verify.findings.reasons import (
    differing_words,
    evidence_of_findings,
    kinds_by_claim,
    reasons_by_claim,
    shown_evidence,
)
from rt4chart_collector.console.answers.evidence_view import EvidenceView, evidence_view
from rt4chart_collector.console.answers.segments import (
    Segment,
    TextMark,
    fitting,
    segments,
    widened,
    windows,
)
from rt4chart_collector.console.answers.wording import stages_in_words
from rt4chart_collector.console.view.filters import visible
from rt4chart_collector.store.answers.claims import ClaimOutline, ClaimRow, EvidenceRange
from rt4chart_collector.store.answers.criteria import CriterionRow
from rt4chart_collector.store.answers.feedback import Feedback
from rt4chart_collector.store.answers.trace_tree import TraceTree
from rt4chart_collector.store.answers.trails import TrailRow
from rt4chart_collector.store.answers.verifications import SeenPassage, Verification
from rt4chart_collector.store.engine.rows import field_values
from rt4chart_collector.store.issues.issues import ClaimIssue

# What a passage is to the answer, in display order.
ROLES = ("contradicts", "limits", "supports", "unused", "lost")
# How a misleading claim is marked and called, in the place of its label.
MISLEADING_LABEL = "misleading"


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text; `label` is empty if it is not marked.

    `claims` are the indexes of all claims on it, joined by spaces; `anchors` are the ids placed
    before it; `describes` is the id of the element with the claim's label, if it is on the page.
    """

    text: str
    label: str = ""
    claims: str = ""
    href: str = ""
    describes: str = ""
    title: str = ""
    anchors: tuple[str, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text after `skipped` characters that are left out."""

    skipped: int
    runs: tuple[TextRun, ...]


@dataclass(frozen=True, slots=True)
class ClaimLink:
    """A link to a claim."""

    index: int
    label: str
    href: str


class PassageCitation(NamedTuple):
    """A claim's evidence in a passage: its number in the claim, and the range of its text."""

    claim: int
    number: int
    start: int
    end: int
    relation: str


@dataclass(frozen=True, slots=True)
class PassageSummary:
    """A passage without its text; `role` is one of `ROLES`."""

    number: int
    id: str
    role: str
    stages: str


@dataclass(frozen=True, slots=True)
class PassageView(PassageSummary):
    """A passage beside the answer.

    `claims` has those that it contradicts, limits and supports, by these words. `parts` is empty if
    the text was deleted. `more` counts claims beyond the listed, `left` the
    characters after the last part, and `unfit` the quotations outside the text.
    """

    claims: tuple[tuple[str, tuple[ClaimLink, ...]], ...]
    more: int
    parts: tuple[Excerpt, ...]
    has_text: bool
    left: int
    unfit: int
    score: float | None


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with its evidence, issues and feedback.

    `label` is what the page marks it as. `against` is the evidence that contradicts or limits the
    claim, if other evidence supports it; `evidence` has the rest. `reasons` say what is wrong.
    """

    index: int
    numbered: ClaimRow
    label: str
    evidence: tuple[EvidenceView, ...]
    against: tuple[EvidenceView, ...]
    reasons: tuple[str, ...]
    kind_of_failure: str
    issues: tuple[ClaimIssue, ...]
    feedback: tuple[Feedback, ...]
    fits: bool


WEIGHTS: Mapping[str, int] = {
    Label.CONTRADICTED: 5,
    Label.BASELESS: 4,
    MISLEADING_LABEL: 3,
    Label.UNDECIDED: 2,
    Label.ENTAILED: 1,
    Label.NOT_A_CLAIM: 0,
}
RELATION_WEIGHTS = {"contradicts": 30, "limits": 20, "supports": 10}
# Limits the marks on a page, because a browser lays all of them out at once.
MAX_MARKS = 500
ANSWER_LENGTH = 500_000
# Characters of all passages together, of a used one, and of an unused one.
ALL_PASSAGES, USED_LENGTH, UNUSED_LENGTH = 200_000, 20_000, 3_000
CONTEXT_LENGTH = 400
MAX_CLAIM_LINKS = 12
MAX_PASSAGES = 200


class AnswerView:
    """What the page shows of one verdict; `page` are the listed claims."""

    def __init__(
        self,
        verdict: Verification,
        outline: Sequence[ClaimOutline],
        page: Sequence[ClaimRow],
        texts: Mapping[str, Passage] | None,
    ) -> None:
        """`texts` are the passages from the spans, None if these were deleted."""
        self.verdict = verdict
        self.outline = outline
        self._page = page
        self._listed = {claim.index for claim in page}
        self._labels = {claim.index: shown_label(claim.label, claim.status) for claim in outline}
        self.shown = Counter(self._labels.values())
        self._beside = evidence_of_findings(
            verdict.findings,
            self._labels.keys(),
            [
                (claim.index, place.passage, place.start, place.end)
                for claim in outline
                for place in claim.places
                if place.relation != "supports"
            ],
        )
        self._texts = texts
        self._anchors: dict[tuple[int, int], str] = {}
        answer = verdict.answer[:ANSWER_LENGTH]
        fits, unfit = fitting(answer, self._answer_marks())
        self.unfit = tuple(sorted(mark.claim for mark in unfit))
        heaviest = widened(answer, _heaviest(fits, self._listed))
        self.marked, self.markable = len(heaviest), len(fits)
        self.runs = tuple(self._run(segment) for segment in segments(answer, heaviest))
        self.hidden = len(verdict.answer) - len(answer)
        self._citations = self._cited_by_passage()
        self.passages = tuple(self._passages())

    def claims(
        self, issues: Sequence[ClaimIssue], feedback: Sequence[Feedback]
    ) -> Iterator[ClaimView]:
        """The listed claims with their evidence, issues and feedback."""
        kinds, found = (
            kinds_by_claim(self.verdict.findings),
            reasons_by_claim(self.verdict.findings),
        )
        unfit = set(self.unfit)
        for claim in self._page:
            reasons = found.get(claim.index, ())
            evidence = list(self._evidence(claim, reasons))
            against = [one for one in evidence if one.evidence.relation != "supports"]
            is_compared = 0 < len(against) < len(evidence)
            yield ClaimView(
                index=claim.index,
                numbered=claim,
                label=self._labels[claim.index],
                evidence=tuple(one for one in evidence if not is_compared or one not in against),
                against=tuple(against) if is_compared else (),
                reasons=reasons,
                kind_of_failure=kinds.get(claim.index, ""),
                issues=tuple(issue for issue in issues if issue.claim == claim.index),
                feedback=tuple(f for f in feedback if f.claim == claim.index),
                fits=claim.index not in unfit,
            )

    def _evidence(self, claim: ClaimRow, reasons: Sequence[str]) -> Iterator[EvidenceView]:
        """The claim's evidence and that of its findings, with the words that differ marked."""
        found = shown_evidence(claim.claim.evidence, self._beside[claim.index])
        for place, one in enumerate(found):
            if one is not None:
                passage = self._texts.get(one.passage_id) if self._texts is not None else None
                anchor = self._anchors.get((claim.index, place), "")
                words = differing_words(claim.text, claim.clashes, reasons, one.relation)
                yield evidence_view(one, anchor, words, passage)

    def link(self, index: int) -> ClaimLink:
        """A link to a claim, which may be on another page of the list."""
        query = "" if index in self._listed else f"?claim={index}"
        label = self._labels.get(index, Label.UNDECIDED.value)
        return ClaimLink(index, label, f"{query}#claim-{index}")

    def _answer_marks(self) -> Iterable[TextMark]:
        labels, no_claim = self._labels, Label.NOT_A_CLAIM
        for claim in self.outline:
            if claim.label is not no_claim:
                index, (start, end) = claim.index, claim.answer_range
                yield TextMark(start, end, index, WEIGHTS[labels[index]])

    def _run(self, segment: Segment) -> TextRun:
        """A piece of the answer, labelled and linked as its first claim."""
        if not segment.claims:
            return TextRun(visible(segment.text))
        first = self.link(segment.claims[0])
        run = self._marked(segment, segment.claims, first.label, f"{first.label}: claim")
        return replace(run, ends=segment.ends)

    def _marked(
        self, segment: Segment, claims: Sequence[int], label: str, description: str
    ) -> TextRun:
        first, others = self.link(claims[0]), len(claims) + segment.more - 1
        return TextRun(
            text=visible(segment.text),
            label=label,
            claims=" ".join(map(str, claims)),
            href=first.href,
            describes=f"says-{first.index}" if first.index in self._listed else "",
            title=f"{description} {first.index}" + (f" and {others} more" if others else ""),
        )

    def _passages(self) -> Iterable[PassageView]:
        citations, room_left = self._citations, ALL_PASSAGES
        for summary in self.named(MAX_PASSAGES):
            shown = self._passage(summary, citations.get(summary.id, ()), room_left)
            room_left -= sum(len(run.text) for part in shown.parts for run in part.runs)
            yield shown

    def named(self, most: int | None = None) -> Iterator[PassageSummary]:
        """The first passages in display order, numbered in pipeline order; by default all."""
        seen = {passage.id: passage for passage in self.verdict.passages}
        found = [
            (self._role(name, seen.get(name)), place, name)
            for place, name in enumerate(dict.fromkeys([*seen, *self._citations]), 1)
        ]
        found.sort(key=lambda one: ROLES.index(one[0]))
        for role, place, name in found[:most]:
            stages = stages_in_words(seen[name].stages) if name in seen else ""
            yield PassageSummary(place, name, role, stages)

    def _role(self, name: str, seen: SeenPassage | None) -> str:
        if cited := self._citations.get(name):
            relations = {one.relation for one in cited}
            for role in ROLES:
                if role in relations:
                    return role
        is_lost = seen is not None and not (seen.is_context or Stage.EARLIER in seen.stages)
        return "lost" if is_lost else "unused"

    def _cited_by_passage(self) -> Mapping[str, Sequence[PassageCitation]]:
        found: defaultdict[str, list[PassageCitation]] = defaultdict(list)
        for claim in self.outline:
            index, places = claim.index, claim.places
            if beside := self._beside.get(index):
                places = (*places, *map(_range_of, beside))
            against = {one[:3] for one in places if one.relation != "supports"}
            for number, (passage, start, end, relation) in enumerate(places):
                if relation != "supports" or (passage, start, end) not in against:
                    found[passage].append(PassageCitation(index, number, start, end, relation))
        return found

    def _passage(
        self,
        summary: PassageSummary,
        citations: Sequence[PassageCitation],
        room_left: int,
    ) -> PassageView:
        passage = self._texts.get(summary.id) if self._texts is not None else None
        text = passage.text if passage else ""
        # A mark carries its index in `citations`, because a claim may cite a passage several times.
        marks = [
            TextMark(cited.start, cited.end, place, self._weight(cited))
            for place, cited in enumerate(citations)
        ]
        fits, unfit = fitting(text, marks)
        listed = {place for place, cited in enumerate(citations) if cited.claim in self._listed}
        longest = min(USED_LENGTH if citations else UNUSED_LENGTH, max(room_left, 0))
        found = windows(
            text, widened(text, _heaviest(fits, listed)), longest=longest, around=CONTEXT_LENGTH
        )
        parts = tuple(
            Excerpt(
                window.skipped, tuple(self._quoted(piece, citations) for piece in window.segments)
            )
            for window in found
        )
        shown = sum(
            window.skipped + sum(len(piece.text) for piece in window.segments) for window in found
        )
        relations = {
            role: list(dict.fromkeys(one.claim for one in citations if one.relation == role))
            for role in ROLES
        }
        return PassageView(
            **field_values(summary),
            claims=tuple(
                (role, tuple(map(self.link, indexes[:MAX_CLAIM_LINKS])))
                for role, indexes in relations.items()
                if indexes
            ),
            more=sum(max(len(indexes) - MAX_CLAIM_LINKS, 0) for indexes in relations.values()),
            parts=parts,
            has_text=passage is not None,
            left=len(text) - shown,
            unfit=len(unfit) if passage else 0,
            score=passage.score if passage else None,
        )

    def _weight(self, cited: PassageCitation) -> int:
        """What is against a claim covers what supports it, then the heavier claim the lighter."""
        return RELATION_WEIGHTS.get(cited.relation, 0) + WEIGHTS[self._labels[cited.claim]]

    def _quoted(self, segment: Segment, citations: Sequence[PassageCitation]) -> TextRun:
        """A piece of a passage; the first piece of each listed evidence gets its anchor."""
        if not segment.claims:
            return TextRun(visible(segment.text))
        anchors: list[str] = []
        for place in segment.starts:
            cited = citations[place]
            evidence = (cited.claim, cited.number)
            if cited.claim in self._listed and evidence not in self._anchors:
                self._anchors[evidence] = f"evidence-{cited.claim}-{cited.number}"
                anchors.append(self._anchors[evidence])
        claims = list(dict.fromkeys(citations[place].claim for place in segment.claims))
        relation = citations[segment.claims[0]].relation
        run = self._marked(segment, claims, relation, f"{relation} claim")
        return replace(run, anchors=tuple(anchors))


@cache
def shown_label(label: Label, status: ClaimStatus) -> str:
    """What the page marks a claim as: its label, or that it misleads."""
    return MISLEADING_LABEL if status.misleads(label) else label.value


def _heaviest(marks: Sequence[TextMark], listed: set[int]) -> list[TextMark]:
    """At most `MAX_MARKS` marks: those of listed claims first, then the heaviest."""
    if len(marks) <= MAX_MARKS:
        return list(marks)
    return nsmallest(
        MAX_MARKS, marks, key=lambda mark: (mark.claim not in listed, -mark.weight, mark.claim)
    )


def _range_of(evidence: Evidence) -> EvidenceRange:
    return EvidenceRange(evidence.passage_id, evidence.start, evidence.end, evidence.relation)


def answer_document(
    verification: Verification,
    claims: Sequence[ClaimRow],
    view: AnswerView,
    issues: Sequence[ClaimIssue],
    feedback: Sequence[Feedback],
    texts: Mapping[str, Passage] | None,
    trace: TraceTree | None,
    trails: Sequence[TrailRow] = (),
    criteria: Sequence[CriterionRow] = (),
) -> dict[str, object]:
    """The document; the `text` of a passage is null if its span was deleted."""
    verdict = asdict(verification)
    verdict.pop("passages")
    known = texts or {}
    return {
        **verdict,
        "claims": [{"index": claim.index, **asdict(claim.claim)} for claim in claims],
        "passages": [
            {
                "id": passage.id,
                "role": passage.role,
                "stages": passage.stages,
                "text": known[passage.id].text if passage.id in known else None,
            }
            for passage in view.named()
        ],
        "issues": [asdict(issue) for issue in issues],
        "feedback": [asdict(opinion) for opinion in feedback],
        "trails": [asdict(row.blame) for row in trails],
        "criteria": [
            {
                "name": row.name,
                "version": row.criterion_version,
                "kind": row.kind,
                "outcome": row.outcome,
                "reason": row.reason,
                "quote": row.quote,
                "judge": row.judge,
                "sample_rate": row.sample_rate,
            }
            for row in criteria
        ],
        "spans": [asdict(span) for span in trace.spans] if trace else None,
    }
