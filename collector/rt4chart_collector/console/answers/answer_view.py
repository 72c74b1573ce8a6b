"""The page of an answer as values: what is marked where, and what belongs to each claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Evidence, Finding, Label, Passage
from rt4chart_collector.console.answers.segments import (
    Segment,
    TextMark,
    fitting,
    segments,
    widened,
    windows,
)
from rt4chart_collector.console.answers.wording import stages_in_words, visible
from rt4chart_collector.store.answers.claims import ClaimOutline, ClaimRow
from rt4chart_collector.store.answers.feedback import Feedback
from rt4chart_collector.store.answers.verifications import SeenPassage, Verification
from rt4chart_collector.store.issues.issues import ClaimIssue

# What became of a passage, in the order in which passages are shown.
ROLES = ("contradicts", "used", "unused", "lost")


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text as it is shown; `label` is empty where nothing is marked.

    `claims` are the numbers of all claims here, joined by spaces; `anchors` the ids that lie here;
    `describes` the id of what says more, where it is on the page.
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
class Part:
    """Words after `skipped` characters that are not shown."""

    skipped: int
    words: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class ClaimLink:
    """A claim by its number."""

    index: int
    label: str
    href: str


@dataclass(frozen=True, slots=True)
class NamedPassage:
    """A passage without its text: `role` is one of `ROLES`."""

    number: int
    id: str
    role: str
    stages: str


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage beside the answer: `role` is one of `ROLES`.

    `parts` is empty where the text is gone. `more` claims concern it beside those named; `left`
    characters follow that are not shown; `unfit` pieces of evidence lie outside of the text.
    """

    number: int
    id: str
    role: str
    stages: str
    supports: tuple[ClaimLink, ...]
    contradicts: tuple[ClaimLink, ...]
    more: int
    parts: tuple[Part, ...]
    has_text: bool
    left: int
    unfit: int
    score: float | None


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """A piece of evidence, and where it stands on the page ("" where it does not)."""

    evidence: Evidence
    anchor: str


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim of the page with all that belongs to it."""

    index: int
    numbered: ClaimRow
    evidence: tuple[ShownEvidence, ...]
    kind_of_failure: str
    issues: tuple[ClaimIssue, ...]
    feedback: tuple[Feedback, ...]
    fits: bool


WEIGHTS = {
    Label.CONTRADICTED: 4,
    Label.BASELESS: 3,
    Label.UNDECIDED: 2,
    Label.ENTAILED: 1,
    Label.NOT_A_CLAIM: 0,
}
# A page has no more marks, however many claims there are: a browser lays them out at once.
MAX_MARKS = 500
ANSWER_LENGTH = 500_000
# Of all passages together, of one that is used, and of one that is not.
ALL_PASSAGES, USED_LENGTH, UNUSED_LENGTH = 200_000, 20_000, 3_000
AROUND = 400
NAMED = 12
MAX_PASSAGES = 200


class View:
    """What is shown of one verdict; `page` are the claims that are listed."""

    def __init__(
        self,
        verdict: Verification,
        outline: Sequence[ClaimOutline],
        page: Sequence[ClaimRow],
        texts: Mapping[str, Passage] | None,
    ) -> None:
        """`texts` are the passages from the spans, None where these are gone."""
        self.verdict = verdict
        self.outline = outline
        self._page = page
        self._listed = {one.index for one in page}
        self._labels = {one.index: one.label for one in outline}
        self._texts = texts
        self._anchors: dict[tuple[int, int], str] = {}
        answer = verdict.answer[:ANSWER_LENGTH]
        fits, unfit = fitting(answer, self._answer_marks())
        self.unfit = tuple(sorted(one.claim for one in unfit))
        heaviest = widened(answer, _heaviest(fits, self._listed))
        self.marked, self.markable = len(heaviest), len(fits)
        self.words = tuple(self._words(one) for one in segments(answer, heaviest))
        self.hidden = len(verdict.answer) - len(answer)
        self._resting = self._rests()
        self.named = tuple(self._named())
        self.passages = tuple(self._passages())

    def claims(
        self, issues: Sequence[ClaimIssue], feedback: Sequence[Feedback]
    ) -> tuple[ShownClaim, ...]:
        """The listed claims with their evidence, issues and opinions."""
        kinds = {one.claim: one.detail for one in self.verdict.findings if _is_kind(one)}
        unfit = set(self.unfit)
        return tuple(
            ShownClaim(
                index=one.index,
                numbered=one,
                evidence=tuple(
                    ShownEvidence(found, self._anchors.get((one.index, place), ""))
                    for place, found in enumerate(one.claim.evidence)
                ),
                kind_of_failure=kinds.get(one.index, ""),
                issues=tuple(held for held in issues if held.claim == one.index),
                feedback=tuple(given for given in feedback if given.claim == one.index),
                fits=one.index not in unfit,
            )
            for one in self._page
        )

    def link(self, index: int) -> ClaimLink:
        """A claim's place, on another page of the list where it is there."""
        here = "" if index in self._listed else f"?claim={index}"
        label = self._labels.get(index, Label.UNDECIDED)
        return ClaimLink(index, label.value, f"{here}#claim-{index}")

    def _answer_marks(self) -> Iterable[TextMark]:
        for one in self.outline:
            if one.label is not Label.NOT_A_CLAIM:
                yield TextMark(*one.answer_range, one.index, WEIGHTS[one.label])

    def _words(self, one: Segment) -> Words:
        if not one.claims:
            return Words(visible(one.text))
        first = self.link(one.claims[0])
        others = len(one.claims) + one.more - 1
        return Words(
            text=visible(one.text),
            label=first.label,
            claims=" ".join(map(str, one.claims)),
            href=first.href,
            describes=f"says-{first.index}" if first.index in self._listed else "",
            title=f"{first.label}: claim {first.index}" + (f" and {others} more" if others else ""),
            ends=one.ends,
        )

    def _passages(self) -> Iterable[ShownPassage]:
        rests, room = self._resting, ALL_PASSAGES
        for one in self.named[:MAX_PASSAGES]:
            shown = self._passage(one, rests.get(one.id, ()), room)
            room -= sum(len(words.text) for part in shown.parts for words in part.words)
            yield shown

    def _named(self) -> Iterable[NamedPassage]:
        """All passages, those against the answer first, with their places on the way to it."""
        seen = {one.id: one for one in self.verdict.passages}
        found = [
            NamedPassage(
                place,
                name,
                self._role(name, seen.get(name)),
                stages_in_words(seen[name].stages) if name in seen else "",
            )
            for place, name in enumerate(dict.fromkeys([*seen, *self._resting]), 1)
        ]
        return sorted(found, key=lambda one: ROLES.index(one.role))

    def _role(self, name: str, seen: SeenPassage | None) -> str:
        rests = self._resting.get(name, ())
        if any(relation == "contradicts" for *_, relation in rests):
            return "contradicts"
        if rests:
            return "used"
        return "unused" if seen is None or seen.is_context else "lost"

    def _rests(self) -> Mapping[str, Sequence[tuple[int, int, int, int, str]]]:
        """By passage: claim, place among its evidence, start, end, relation."""
        found: defaultdict[str, list[tuple[int, int, int, int, str]]] = defaultdict(list)
        for one in self.outline:
            for place, cited in enumerate(one.places):
                found[cited.passage].append(
                    (one.index, place, cited.start, cited.end, cited.relation)
                )
        return found

    def _passage(
        self,
        named: NamedPassage,
        rests: Sequence[tuple[int, int, int, int, str]],
        room: int,
    ) -> ShownPassage:
        passage = self._texts.get(named.id) if self._texts is not None else None
        text = passage.text if passage else ""
        # A mark's number is the place in `rests`, for a claim may have several here.
        marks = [
            TextMark(start, end, place, WEIGHTS[self._labels[index]])
            for place, (index, _, start, end, _) in enumerate(rests)
        ]
        fits, unfit = fitting(text, marks)
        listed = {place for place, rest in enumerate(rests) if rest[0] in self._listed}
        longest = min(USED_LENGTH if rests else UNUSED_LENGTH, max(room, 0))
        found = windows(
            text, widened(text, _heaviest(fits, listed)), longest=longest, around=AROUND
        )
        parts = tuple(
            Part(one.skipped, tuple(self._quoted(piece, rests) for piece in one.segments))
            for one in found
        )
        shown = sum(one.skipped + sum(len(piece.text) for piece in one.segments) for one in found)
        supports, contradicts = (
            list(dict.fromkeys(index for index, *_, how in rests if how == relation))
            for relation in ("supports", "contradicts")
        )
        return ShownPassage(
            number=named.number,
            id=named.id,
            role=named.role,
            stages=named.stages,
            supports=tuple(map(self.link, supports[:NAMED])),
            contradicts=tuple(map(self.link, contradicts[:NAMED])),
            more=sum(max(len(one) - NAMED, 0) for one in (supports, contradicts)),
            parts=parts,
            has_text=passage is not None,
            left=len(text) - shown,
            unfit=len(unfit) if passage else 0,
            score=passage.score if passage else None,
        )

    def _quoted(self, one: Segment, rests: Sequence[tuple[int, int, int, int, str]]) -> Words:
        if not one.claims:
            return Words(visible(one.text))
        anchors: list[str] = []
        for place in one.starts:
            index, nth, *_ = rests[place]
            if index in self._listed and (index, nth) not in self._anchors:
                self._anchors[index, nth] = f"evidence-{index}-{nth}"
                anchors.append(f"evidence-{index}-{nth}")
        claims = list(dict.fromkeys(rests[place][0] for place in one.claims))
        relation = rests[one.claims[0]][-1]
        first = self.link(claims[0])
        others = len(claims) + one.more - 1
        return Words(
            text=visible(one.text),
            label=relation,
            claims=" ".join(map(str, claims)),
            href=first.href,
            describes=f"says-{first.index}" if first.index in self._listed else "",
            title=f"{relation} claim {first.index}" + (f" and {others} more" if others else ""),
            anchors=tuple(anchors),
        )


def _heaviest(marks: Sequence[TextMark], listed: set[int]) -> list[TextMark]:
    """As many marks as a page may have: those of listed claims first, then the heaviest."""
    if len(marks) <= MAX_MARKS:
        return list(marks)
    ranked = sorted(marks, key=lambda one: (one.claim not in listed, -one.weight, one.claim))
    return ranked[:MAX_MARKS]


def _is_kind(one: Finding) -> bool:
    return one.name == "failure_kind" and one.claim is not None
