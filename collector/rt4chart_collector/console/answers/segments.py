"""Text split where marks begin and end, so that overlapping ranges can be displayed."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.verify.core.model import AnswerRange
from otel_rt4chart.verify.text.sentences import whole_graphemes

# Of more claims on the same text, only these are listed; the others are counted.
MAX_CLAIMS = 8


class TextMark(NamedTuple):
    """A half-open character range of a claim; where marks overlap, the heaviest is displayed."""

    start: int
    end: int
    claim: int
    weight: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the text under the same marks throughout.

    `claims` are the claims of these marks, the heaviest first, then the shortest, at most eight;
    `more` counts the others. `starts` are all whose marks begin here, `ends` is True where the
    first claim's mark ends.
    """

    text: str
    claims: tuple[int, ...] = ()
    more: int = 0
    starts: tuple[int, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a long text; `skipped` characters before it are left out."""

    segments: tuple[Segment, ...]
    skipped: int


def fitting(text: str, marks: Iterable[TextMark]) -> tuple[list[TextMark], list[TextMark]]:
    """The marks within the text, and those outside it."""
    fits: list[TextMark] = []
    unfit: list[TextMark] = []
    length = len(text)
    for mark in marks:
        start, end, _, _ = mark
        (fits if 0 <= start < end <= length else unfit).append(mark)
    return fits, unfit


def widened(text: str, marks: Iterable[TextMark]) -> list[TextMark]:
    """The marks extended to whole grapheme clusters; the marks must fit the text."""
    return [
        TextMark(*whole_graphemes(text, AnswerRange(mark.start, mark.end)), mark.claim, mark.weight)
        for mark in marks
    ]


def segments(text: str, marks: Sequence[TextMark], start: int = 0, end: int = -1) -> list[Segment]:
    """`text[start:end]` split into segments; the marks must fit the text."""
    stop = len(text) if end < 0 else end
    return list(_cut(text, marks, start, stop)) if start < stop else []


def windows(
    text: str, marks: Sequence[TextMark], *, longest: int, around: int
) -> tuple[Window, ...]:
    """The whole text if it has at most `longest` characters, else the text `around` its marks.

    Of a long text without marks the start is kept. The windows have at most `longest` characters
    together; the text after the last one is left out.
    """
    if len(text) <= longest:
        return (Window(tuple(segments(text, marks)), 0),)
    found: list[Window] = []
    done = room = 0
    for start, end in _neighbourhoods(text, marks, around) or [(0, longest)]:
        room = longest - sum(len(piece.text) for window in found for piece in window.segments)
        if room <= 0:
            break
        start, end = whole_graphemes(text, AnswerRange(start, min(end, start + room)))
        start = max(start, done)
        found.append(Window(tuple(segments(text, marks, start, end)), start - done))
        done = end
    return tuple(found)


def _neighbourhoods(text: str, marks: Sequence[TextMark], around: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        start, end = max(mark.start - around, 0), min(mark.end + around, len(text))
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _cut(text: str, marks: Sequence[TextMark], start: int, stop: int) -> Iterator[Segment]:
    opening: defaultdict[int, list[TextMark]] = defaultdict(list)
    closing: defaultdict[int, list[TextMark]] = defaultdict(list)
    for mark in marks:
        if mark.end > start and mark.start < stop:
            opening[max(mark.start, start)].append(mark)
            closing[min(mark.end, stop)].append(mark)
    active: list[tuple[int, int, int, int]] = []
    cuts = sorted({start, stop, *opening, *closing})
    for at, following in pairwise(cuts):
        for mark in closing.get(at, ()):
            active.remove(_rank(mark))
        fresh = opening.get(at, [])
        for mark in fresh:
            insort(active, _rank(mark))
        starts = tuple(mark.claim for mark in fresh if mark.start == at)
        yield _segment(text[at:following], active, following, starts)


def _rank(mark: TextMark) -> tuple[int, int, int, int]:
    """The sort key of marks on the same text: heaviest, then shortest; the start comes last."""
    return -mark.weight, mark.end - mark.start, mark.claim, mark.start


def _segment(
    text: str, active: Sequence[tuple[int, int, int, int]], end: int, starts: tuple[int, ...]
) -> Segment:
    if not active:
        return Segment(text)
    _, length, _, first = active[0]
    claims = tuple(dict.fromkeys(claim for _, _, claim, _ in active[:MAX_CLAIMS]))
    more = max(len(active) - MAX_CLAIMS, 0)
    return Segment(text, claims, more, starts, ends=end >= first + length)
