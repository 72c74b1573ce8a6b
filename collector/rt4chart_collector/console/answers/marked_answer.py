"""An answer beside others: its text around failed claims, with these and their words marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.text import find_words
from rt4chart_collector.console.answers.answer_view import WEIGHTS, shown_label
from rt4chart_collector.console.answers.segments import (
    Segment,
    TextMark,
    fitting,
    widened,
    windows,
)
from rt4chart_collector.console.view.filters import visible
from rt4chart_collector.store.answers.claims import ClaimRow

# Characters that are shown of one answer, and around each of its marks.
LONGEST, AROUND = 1_200, 300


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A piece of the text; `claim` is -1 and `label` empty outside the failed claims.

    `words` are those of the claim that differ from the passages, between `before` and `after`; ""
    where none are known.
    """

    before: str
    words: str = ""
    after: str = ""
    claim: int = -1
    label: str = ""
    ends: bool = False


@dataclass(frozen=True, slots=True)
class MarkedExcerpt:
    """Pieces of an answer after `skipped` characters that are left out."""

    skipped: int
    pieces: tuple[MarkedPiece, ...]


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """The parts of an answer that are shown; `left` characters follow them."""

    parts: tuple[MarkedExcerpt, ...]
    left: int


def marked_answer(answer: str, failed: Sequence[ClaimRow]) -> MarkedAnswer:
    """The answer with its failed claims marked as on its page; a long one around them alone."""
    claims = {claim.index: claim for claim in failed}
    marks = [
        TextMark(*claim.answer_range, claim.index, WEIGHTS[shown_label(claim.label, claim.status)])
        for claim in failed
    ]
    fits, _ = fitting(answer, marks)
    found = windows(answer, widened(answer, fits), longest=LONGEST, around=AROUND)
    parts = tuple(
        MarkedExcerpt(window.skipped, tuple(_pieces(window.segments, claims))) for window in found
    )
    shown = sum(part.skipped for part in found) + sum(
        len(segment.text) for part in found for segment in part.segments
    )
    return MarkedAnswer(parts, len(answer) - shown)


def _pieces(segments: Sequence[Segment], claims: Mapping[int, ClaimRow]) -> Iterator[MarkedPiece]:
    for segment in segments:
        if not segment.claims:
            yield MarkedPiece(visible(segment.text))
            continue
        claim = claims[segment.claims[0]]
        start, end = find_words(segment.text, [clash.claimed for clash in claim.claim.clashes])
        yield MarkedPiece(
            before=visible(segment.text[:start]),
            words=visible(segment.text[start:end]),
            after=visible(segment.text[end:]),
            claim=claim.index,
            label=shown_label(claim.label, claim.status),
            ends=segment.ends,
        )
