"""What a model reads of the context for one claim: sentences alone, and as many as fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.model import Sentence
from otel_rt4chart.verify.neural.nearby import linker_of

NEAREST = 5

Fits = Callable[[str], bool]


class Reading(NamedTuple):
    """A premise, and the indices of the sentences that it is made of."""

    premise: str
    sentences: tuple[int, ...]


class Search:
    """Finds the sentences most like a claim, in a context and in the part to look at first."""

    def __init__(self, sentences: tuple[Sentence, ...], focus: tuple[Sentence, ...] = ()) -> None:
        """`focus` is part of the context."""
        self._known = {sentence.index: sentence for sentence in sentences}
        self._linkers = [linker_of(part) for part in (sentences, focus) if part]
        self._few = tuple(self._known) if len(sentences) <= NEAREST else ()

    def nearest(self, text: str) -> list[Sentence]:
        """Best first, at most so many of each part; all where there are few.

        Empty where a long context has no sentence with a word of the claim.
        """
        links = (one.candidates(text, limit=NEAREST) for one in self._linkers)
        ranked = (*(link.sentence for found in links for link in found), *self._few)
        return [self._known[index] for index in dict.fromkeys(ranked) if index in self._known]


def readings(near: Sequence[Sentence], fits: Fits) -> Iterator[Reading]:
    """Each sentence alone, in pieces where it must be, and the best that fit as one premise."""
    for sentence in near:
        yield from _window([sentence], fits)
    together = _together(near, fits)
    if len(together.sentences) > 1:
        yield together


def windows(sentences: Sequence[Sentence], fits: Fits) -> Iterator[Reading]:
    """All the sentences in order, as many a premise as fit."""
    held: list[Sentence] = []
    for sentence in sentences:
        if held and not fits(_joined([*held, sentence])):
            yield from _window(held, fits)
            held = []
        held.append(sentence)
    if held:
        yield from _window(held, fits)


def pieces(text: str, fits: Fits) -> Iterator[str]:
    """The text, or its halves and theirs, cut between words where there are some."""
    if fits(text):
        yield text
    elif len(text) > 1:  # a character that is too long for a model has no half
        middle = len(text) // 2
        cut = text.rfind(" ", 1, middle) + 1 or text.find(" ", middle) + 1
        cut = cut if 0 < cut < len(text) else middle
        yield from pieces(text[:cut], fits)
        yield from pieces(text[cut:], fits)


def _window(held: Sequence[Sentence], fits: Fits) -> Iterator[Reading]:
    indices = tuple(sentence.index for sentence in held)
    for piece in pieces(_joined(held), fits):
        yield Reading(piece, indices)


def _together(near: Sequence[Sentence], fits: Fits) -> Reading:
    """In the order of the document: what "it" is stands in an earlier sentence."""
    held: list[Sentence] = []
    for sentence in near:
        if fits(_joined([*held, sentence])):
            held.append(sentence)
    return Reading(_joined(held), tuple(sorted(sentence.index for sentence in held)))


def _joined(held: Sequence[Sentence]) -> str:
    ordered = sorted(held, key=lambda sentence: sentence.index)
    return " ".join(sentence.reading.strip() for sentence in ordered)
