"""How atomic is the decomposition, and does it lose words?

    python -m benchmarks.judge.decomposition DIR [--units DIR] [--list N]

DIR has RAGTruth's two-file layout; its marked spans are what an atomic claim should isolate.
`--units` is such a folder with REALSumm: content units that people wrote, each of them an answer,
and the summary that says it as its passage. The summaries are decomposed, and each unit is looked
for in the claims. `--list` prints the claims of so many sentences that are split.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.judge.tables import Cell, Table, as_markdown, as_text
from otel_rt4chart.bench.dataset import LabelledAnswer, choose_split, read_rows
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, DraftClaim, Sentence
from otel_rt4chart.verify.decompose.grounding import grounding_problem, missing_content
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.text.segment import segment

UNITS = "realsumm"
# A claim isolates a span if it leaves out at least this share of its sentence's content words.
LEFT_OUT = 0.25
# A claim says a unit if it has this share of the unit's words that its sentence has.
SAID = 0.8

Decomposer = Callable[[Sequence[Sentence]], Sequence[DraftClaim]]


class DecomposedSentence(NamedTuple):
    """A sentence, its claims, and its marked spans."""

    sentence: Sentence
    claims: Sequence[DraftClaim]
    spans: Sequence[AnswerRange] = ()


class FoundUnit(NamedTuple):
    """A content unit in the claims of the sentence that says most of it.

    `share` is the share of the unit's words there that its best claim has, `extra` the share of
    that claim's words that are not the unit's, `whole` the same for the sentence.
    """

    share: float
    extra: float
    whole: float


def decompose_answers(
    rows: Iterable[LabelledAnswer], decomposer: Decomposer = decompose
) -> list[DecomposedSentence]:
    """All sentences of the answers that claim something."""
    return [
        one
        for row in rows
        for one in _sentences(
            row.exchange.answer, decomposer, [span.range for span in row.spans or ()]
        )
    ]


def _sentences(
    text: str, decomposer: Decomposer, spans: Sequence[AnswerRange] = ()
) -> Iterator[DecomposedSentence]:
    sentences = segment(text)
    drafts = [draft for draft in decomposer(sentences) if draft.is_claim]
    for sentence in sentences:
        claims = [draft for draft in drafts if draft.sentence == sentence.index]
        inside = [span for span in spans if _shared(span, sentence)]
        if claims:
            yield DecomposedSentence(sentence, claims, inside)


def _shared(span: AnswerRange, other: Sentence | AnswerRange) -> bool:
    return span.start < other.end and other.start < span.end


def find_units(
    rows: Iterable[LabelledAnswer], decomposer: Decomposer = decompose
) -> list[FoundUnit]:
    """Each content unit that its summary says, in the claims of that summary."""
    return [
        found
        for row in rows
        if row.dataset == UNITS and row.label is AnswerLabel.ENTAILED
        for found in _find_unit(row, decomposer)
    ]


def _find_unit(row: LabelledAnswer, decomposer: Decomposer) -> Iterator[FoundUnit]:
    unit = content(row.exchange.answer).keys()
    summary = "\n".join(passage.text for passage in row.exchange.passages)
    every = list(_sentences(summary, decomposer))
    words = [(unit & content(one.sentence.text).keys(), one) for one in every]
    known, best = max(words, key=lambda pair: len(pair[0]), default=(set(), None))
    if best is None or len(known) < 2:
        return
    claims = [content(claim.text).keys() for claim in best.claims]
    closest = max(claims, key=lambda said: (len(said & known), -len(said)))
    whole = content(best.sentence.text).keys()
    if closest:
        yield FoundUnit(
            len(closest & known) / len(known),
            len(closest - unit) / len(closest),
            len(whole - unit) / len(whole),
        )


def sentence_figures(name: str, every: Sequence[DecomposedSentence]) -> Sequence[Cell]:
    """Claims a sentence, words a claim, and what no claim of a sentence has."""
    lost = [_lost(one) for one in every]
    claims = [claim for one in every for claim in one.claims]
    grounded = [
        grounding_problem(claim.text, one.sentence.text) is None
        for one in every
        for claim in one.claims
    ]
    kept = [
        not missing_content(one.sentence.text, [claim.text for claim in one.claims])
        for one in every
    ]
    return (
        name,
        len(every),
        len(claims) / len(every),
        fmean(len(one.claims) > 1 for one in every),
        fmean(len(claim.text.split()) for claim in claims),
        fmean(lost),
        fmean(grounded),
        fmean(kept),
    )


def _lost(one: DecomposedSentence) -> float:
    """The share of the sentence's content words that no claim has."""
    words = content(one.sentence.text).keys()
    said = {stem for claim in one.claims for stem in content(claim.text)}
    return len(words - said) / len(words) if words else 0.0


def span_figures(name: str, every: Sequence[DecomposedSentence]) -> Sequence[Cell]:
    """Marked spans: how many claims hold them, and how much else those claims say."""
    held = [(one, _holding(one, span)) for one in every for span in one.spans]
    pairs = [
        (one, left, right)
        for one in every
        for at, left in enumerate(one.spans)
        for right in one.spans[at + 1 :]
    ]
    return (
        name,
        len(held),
        fmean(len(claims) == 1 and _left_out(one, claims[0]) >= LEFT_OUT for one, claims in held),
        fmean(1 - _left_out(one, claims[0]) if claims else 1.0 for one, claims in held),
        fmean(len(claims) > 1 for _, claims in held),
        fmean(not claims for _, claims in held),
        len(pairs),
        fmean(_are_apart(one, left, right) for one, left, right in pairs) if pairs else None,
    )


def _holding(one: DecomposedSentence, span: AnswerRange) -> list[DraftClaim]:
    return [claim for claim in one.claims if _shared(span, claim.range)]


def _left_out(one: DecomposedSentence, claim: DraftClaim) -> float:
    """The share of the sentence's content words that the claim does not have."""
    words = content(one.sentence.text).keys()
    return len(words - content(claim.text).keys()) / len(words) if words else 0.0


def _are_apart(one: DecomposedSentence, left: AnswerRange, right: AnswerRange) -> bool:
    both = [claim for claim in _holding(one, left) if _shared(right, claim.range)]
    return not both


def unit_figures(name: str, found: Sequence[FoundUnit]) -> Sequence[Cell]:
    """Content units: how many one claim says, and what else that claim says."""
    said = [one for one in found if one.share >= SAID]
    return (
        name,
        len(found),
        len(said) / len(found),
        fmean(one.extra for one in said),
        fmean(one.whole for one in said),
    )


def tables(
    rows: Sequence[LabelledAnswer],
    units: Sequence[LabelledAnswer],
    decomposer: Decomposer = decompose,
) -> list[Table]:
    """Sentences by data set, marked spans and content units."""
    by_set = {
        name: decompose_answers([row for row in rows if row.dataset == name], decomposer)
        for name in sorted({row.dataset for row in rows})
    }
    shown = [
        Table(
            "Sentences",
            "Split: in more than one claim. Lost: content words that no claim has. Grounded and"
            " kept: as of `rt4chart bench --stages`, by claim and by sentence.",
            ("data", "n", "claims", "split", "words", "lost", "grounded", "kept"),
            [sentence_figures(name, every) for name, every in by_set.items() if every],
        ),
        Table(
            "Marked spans",
            f"Isolated: one claim has it, without {LEFT_OUT:.0%} of its sentence or more. Share:"
            " of the sentence that its claim has. Apart: pairs of a sentence in separate claims.",
            ("data", "n", "isolated", "share", "several", "none", "pairs", "apart"),
            [
                span_figures(name, every)
                for name, every in by_set.items()
                if any(one.spans for one in every)
            ],
        ),
    ]
    if found := find_units(units, decomposer):
        note = (
            f"Said: one claim has {SAID:.0%} of the words that its sentence has of the unit. Extra:"
            " words of that claim, and of the whole sentence, that are not the unit's."
        )
        head = ("data", "n", "said", "extra", "extra of sentence")
        shown.append(Table("Content units", note, head, [unit_figures(UNITS, found)]))
    return shown


def split_sentences(every: Iterable[DecomposedSentence]) -> Iterator[str]:
    """Each sentence that is split, with its claims beneath it."""
    for one in every:
        if len(one.claims) > 1:
            yield "\n".join([one.sentence.text, *(f"    {claim.text}" for claim in one.claims)])


def main() -> None:
    """Decompose and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--units", type=Path, help="a folder with REALSumm")
    parser.add_argument("--split", help="which rows (default: dev, else test, else all)")
    parser.add_argument("--list", type=int, default=0, help="print so many split sentences")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    _, rows = choose_split(read_rows(options.folder), options.split)
    units = choose_split(read_rows(options.units), options.split)[1] if options.units else ()
    show = as_markdown if options.markdown else as_text
    print("\n".join(show(table) for table in tables(rows, units)))
    listed = list(split_sentences(decompose_answers(rows)))
    print("\n".join(listed[:: max(1, len(listed) // options.list)] if options.list else ()))


if __name__ == "__main__":
    main()
