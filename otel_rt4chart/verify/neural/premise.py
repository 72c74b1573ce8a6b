"""What a model reads of the context for one claim: which sentences, and how many fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.link.link import Linker

NEARBY = 5
_LINKERS = 16


def nearby(claim: str, sentences: Sequence[Sentence], linker: Linker) -> list[Sentence]:
    """The sentences with most of the claim's words, best first; the first ones where none has any.

    `linker` is over these sentences.
    """
    known = {sentence.index: sentence for sentence in sentences}
    links = linker.candidates(claim, limit=NEARBY)
    return [known[link.sentence] for link in links] or list(sentences[:NEARBY])


def together(near: Sequence[Sentence], fits: Callable[[str], bool] = lambda _: True) -> str:
    """As many as fit, the best first, in the order of the document: "it" refers backwards.

    Where not even the best one fits, its words up to where they do: the rest is not read.
    """
    if fits(everything := _joined(near)):  # nearly always: it is measured once
        return everything
    held: list[Sentence] = []
    for sentence in near:
        if fits(_joined([*held, sentence])):
            held.append(sentence)
    return _joined(held) if held or not near else _beginning(near[0].reading, fits)


@lru_cache(maxsize=_LINKERS)
def linker_of(sentences: tuple[Sentence, ...]) -> Linker:
    """An answer's claims are judged in several calls over the same context."""
    return Linker(sentences)


def _joined(held: Sequence[Sentence]) -> str:
    return " ".join(one.reading for one in sorted(held, key=lambda one: one.index))


def _beginning(text: str, fits: Callable[[str], bool]) -> str:
    """The most whole words that fit, found by halving."""
    words = text.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(" ".join(words[:middle])) else (low, middle - 1)
    return " ".join(words[:low])


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
        if held and not fits(_joined_pieces([*held, sentence])):
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
    for piece in pieces(_joined_pieces(held), fits):
        yield Reading(piece, indices)


def _together(near: Sequence[Sentence], fits: Fits) -> Reading:
    """In the order of the document: what "it" is stands in an earlier sentence."""
    held: list[Sentence] = []
    for sentence in near:
        if fits(_joined_pieces([*held, sentence])):
            held.append(sentence)
    return Reading(_joined_pieces(held), tuple(sorted(sentence.index for sentence in held)))


def _joined_pieces(held: Sequence[Sentence]) -> str:
    ordered = sorted(held, key=lambda sentence: sentence.index)
    return " ".join(sentence.reading.strip() for sentence in ordered)
