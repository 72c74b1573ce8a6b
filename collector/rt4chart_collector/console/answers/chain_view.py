"""The chain of an answer as values: its steps, their texts, and where failed claims entered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.spans.graph.chain import TraceChain
from otel_rt4chart.spans.model.blame import ChainPlace, RetrievalBlame
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.console.answers.answer_view import (
    Excerpt,
    TextRun,
)
from rt4chart_collector.console.answers.segments import (
    Segment,
    TextMark,
    fitting,
    widened,
    windows,
)
from rt4chart_collector.console.view.filters import visible
from rt4chart_collector.store.answers.trails import TrailRow

# A chain may have thousands of texts; those on the way of a claim are listed first.
MAX_STEPS, MAX_READS = 40, 12
TEXT_LENGTH, SOURCE_LENGTH, AROUND = 6_000, 1_500, 300
SAYS, EXCLUDES = "supports", "contradicts"
# How they are marked: that a step says a claim that failed is nothing in its favour.
MARKS = {SAYS: "baseless", EXCLUDES: "contradicts"}
RETRIEVALS: Mapping[str, str] = {
    RetrievalBlame.NEVER_RETRIEVED: "no retrieved passage says it, or anything against it",
    RetrievalBlame.DROPPED_BY_RERANKER: "the reranker left out a passage that decides it",
    RetrievalBlame.CUT_FROM_PROMPT: "a passage that decides it was found, and is not in the prompt",
    RetrievalBlame.IGNORED_BY_GENERATOR: "the step had read what contradicts it",
    RetrievalBlame.LIMIT_LEFT_OUT: "the step had read what limits it, and left that out",
}
# The same in a table, of many claims.
RETRIEVAL_KINDS: Mapping[str, str] = {
    RetrievalBlame.NEVER_RETRIEVED: "never retrieved",
    RetrievalBlame.DROPPED_BY_RERANKER: "dropped by the reranker",
    RetrievalBlame.CUT_FROM_PROMPT: "cut from the prompt",
    RetrievalBlame.IGNORED_BY_GENERATOR: "ignored by the step that had read it",
    RetrievalBlame.LIMIT_LEFT_OUT: "left out by the step that had read it",
    RetrievalBlame.NONE: "not known",
}


@dataclass(frozen=True, slots=True)
class StepLink:
    """A link to a step of the picture; `number` is 0 for one that is not in it."""

    number: int
    title: str


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the chain: what it is, what it has read, and what claims have to do with it.

    `added` are the claims that entered here, `maybe` those that may have, `left_out` those whose
    limit it left out, `says` those that its text says, `excludes` those that it contradicts.
    `parts` is empty if the text was deleted.
    """

    number: int
    title: str
    name: str
    kind: str
    reads: tuple[StepLink, ...]
    more_reads: int
    added: tuple[int, ...]
    maybe: tuple[int, ...]
    left_out: tuple[int, ...]
    says: tuple[int, ...]
    excludes: tuple[int, ...]
    parts: tuple[Excerpt, ...]
    is_answer: bool

    @property
    def role(self) -> str:
        """How the step is drawn."""
        if self.added or self.left_out:
            return "guilty"
        return "maybe" if self.maybe else EXCLUDES if self.excludes else SAYS if self.says else ""


@dataclass(frozen=True, slots=True)
class ClaimTrailView:
    """Where a claim entered: the `step`, or steps of one `stage`, or the `problem`.

    `retrieval` says in words where the passage got lost that would have prevented it. Of a
    misleading claim, the step is the one that left out what limits it.
    """

    claim: int
    step: StepLink | None
    stage: str
    problem: str
    retrieval: str
    lost: tuple[tuple[str, str], ...]
    is_misleading: bool = False


@dataclass(frozen=True, slots=True)
class ChainView:
    """The picture of a chain, from the sources to the answer; `hidden` texts are left out."""

    steps: tuple[StepView, ...] = ()
    claims: Mapping[int, ClaimTrailView] | None = None
    hidden: int = 0
    has_texts: bool = True

    def of_claim(self, index: int) -> ClaimTrailView | None:
        """The trail of a claim, if it has one."""
        return (self.claims or {}).get(index)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A text of the chain before it is numbered."""

    place: ChainPlace
    text: str = ""
    inputs: tuple[str, ...] = ()


def chain_view(rows: Sequence[TrailRow], chain: TraceChain | None, answer: str) -> ChainView:
    """The picture of the trails `rows`; `chain` is None where the spans were deleted.

    `answer` is the span of the answer.
    """
    if not rows:
        return ChainView()
    places = {place.node: place for place in _places(rows)}
    texts = _texts(chain, places) if chain is not None and chain.nodes else {}
    has_texts = bool(texts) or not places
    drawn = texts or {name: _Drawn(place) for name, place in reversed(places.items())}
    listed = _listed(drawn, places)
    numbers = {name: number for number, name in enumerate(listed, 1)}
    marks = _marks(rows)
    steps = tuple(
        _step(drawn[name], numbers, drawn, marks.get(name, ()), rows, answer) for name in listed
    )
    claims = {row.index: _claim(row, numbers) for row in rows}
    return ChainView(steps, claims, len(drawn) - len(listed), has_texts)


def _places(rows: Sequence[TrailRow]) -> Iterator[ChainPlace]:
    """Every step that a trail names."""
    for row in rows:
        yield from row.way.blamed
        for interim in row.way.way:
            yield from interim.read


def _texts(chain: TraceChain, places: Mapping[str, ChainPlace]) -> dict[str, _Drawn]:
    found = {}
    for node in chain.nodes:
        step = chain.steps.get(node.id)
        named = ChainPlace(node.id, stage=node.stage)
        if step is not None:
            named = ChainPlace(node.id, step.span_id, step.name, step.kind.value, step.stage)
        found[node.id] = _Drawn(places.get(node.id, named), node.text, node.inputs)
    return found


def _listed(drawn: Mapping[str, _Drawn], places: Mapping[str, ChainPlace]) -> list[str]:
    """The names to draw, in the order of the chain: those that trails name, then generated ones."""
    if len(drawn) <= MAX_STEPS:
        return list(drawn)
    ranked = sorted(drawn, key=lambda name: (name not in places, not drawn[name].inputs))
    chosen = set(ranked[:MAX_STEPS])
    return [name for name in drawn if name in chosen]


@dataclass(frozen=True, slots=True)
class _Mark:
    claim: int
    start: int
    end: int
    relation: str


def _marks(rows: Sequence[TrailRow]) -> Mapping[str, Sequence[_Mark]]:
    """What the texts say of the claims, by node: evidence of a verdict that neither says the claim
    nor excludes it is left out.
    """
    found: defaultdict[str, list[_Mark]] = defaultdict(list)
    relations = {Label.ENTAILED: SAYS, Label.CONTRADICTED: EXCLUDES}
    for row in rows:
        for interim in row.way.way:
            relation = relations.get(interim.label)
            for one in interim.evidence if relation else ():
                mark = _Mark(row.index, one.start, one.end, relation or "")
                if mark not in found[one.passage_id]:
                    found[one.passage_id].append(mark)
    return found


def _step(
    drawn: _Drawn,
    numbers: Mapping[str, int],
    all_drawn: Mapping[str, _Drawn],
    marks: Sequence[_Mark],
    rows: Sequence[TrailRow],
    answer: str,
) -> StepView:
    place = drawn.place
    named = [row for row in rows if place in row.way.blamed]
    blamed = [(row.index, len(row.way.blamed)) for row in named if row.label.is_unfaithful]
    shown = [name for name in drawn.inputs if name in all_drawn]
    return StepView(
        number=numbers[place.node],
        title=_title(place),
        name=place.name,
        kind=place.kind,
        reads=tuple(
            StepLink(numbers.get(name, 0), _title(all_drawn[name].place))
            for name in shown[:MAX_READS]
        ),
        more_reads=max(len(shown) - MAX_READS, 0),
        added=tuple(index for index, number in blamed if number == 1),
        maybe=tuple(index for index, number in blamed if number > 1),
        left_out=tuple(row.index for row in named if not row.label.is_unfaithful),
        says=_claims(marks, SAYS),
        excludes=_claims(marks, EXCLUDES),
        parts=_parts(drawn, marks),
        is_answer=place.span_id == answer,
    )


def _title(place: ChainPlace) -> str:
    """The stage of a step; the id of a passage, which its stage does not tell from others."""
    is_source = place.kind in ("RETRIEVER", "RERANKER", "TOOL", "PROMPT")
    if is_source and place.node and not place.node.startswith(place.span_id or "\0"):
        return f"{place.stage or place.name}: {place.node}"
    return place.stage or place.name or place.node


def _claims(marks: Iterable[_Mark], relation: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(mark.claim for mark in marks if mark.relation == relation))


def _parts(drawn: _Drawn, marks: Sequence[_Mark]) -> tuple[Excerpt, ...]:
    """The text with its evidence marked; of a long one what is around the marks."""
    if not drawn.text:
        return ()
    weights = {EXCLUDES: 2, SAYS: 1}
    placed = [
        TextMark(mark.start, mark.end, at, weights[mark.relation]) for at, mark in enumerate(marks)
    ]
    fits, _ = fitting(drawn.text, placed)
    longest = TEXT_LENGTH if drawn.inputs or marks else SOURCE_LENGTH
    found = windows(drawn.text, widened(drawn.text, fits), longest=longest, around=AROUND)
    return tuple(
        Excerpt(window.skipped, tuple(_run(piece, marks) for piece in window.segments))
        for window in found
    )


def _run(segment: Segment, marks: Sequence[_Mark]) -> TextRun:
    if not segment.claims:
        return TextRun(visible(segment.text))
    first = marks[segment.claims[0]]
    claims = dict.fromkeys(marks[at].claim for at in segment.claims)
    return TextRun(
        text=visible(segment.text),
        label=MARKS[first.relation],
        claims=" ".join(map(str, claims)),
        href=f"?claim={first.claim}#claim-{first.claim}",
        title=f"{'says' if first.relation == SAYS else 'contradicts'} claim {first.claim}",
    )


def _claim(row: TrailRow, numbers: Mapping[str, int]) -> ClaimTrailView:
    place = row.blame.place
    step = StepLink(numbers.get(place.node, 0), _title(place)) if place is not None else None
    lost = tuple((one.passage_id, one.text) for one in row.way.lost)
    retrieval = RETRIEVALS.get(row.retrieval, "")
    is_misleading = not row.label.is_unfaithful
    return ClaimTrailView(row.index, step, row.stage, row.problem, retrieval, lost, is_misleading)
