"""The sentences of the context that a model reads with one claim, and how many fit its input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.link.linker import Linker

NEAREST = 5
_CACHED_LINKERS = 16

Fits = Callable[[str], bool]


def nearest_sentences(claim: str, sentences: Sequence[Sentence], linker: Linker) -> list[Sentence]:
    """The sentences with most of the claim's words, best first; the first ones where none has any.

    `linker` indexes these sentences.
    """
    links = linker.candidates(claim, limit=NEAREST)
    return [linker.sentence(link.sentence) for link in links] or list(sentences[:NEAREST])


def join_fitting(near: Sequence[Sentence], fits: Fits = lambda _: True) -> str:
    """The best sentences that fit, joined in the order of the document.

    Where not even the best one fits, as many of its first words as do; the rest is not read.
    """
    if fits(everything := _joined(near)):  # the usual case: it is measured once
        return everything
    chosen = _choose_fitting(near, fits)
    return _joined(chosen) if chosen or not near else _longest_beginning(near[0].reading, fits)


@lru_cache(maxsize=_CACHED_LINKERS)
def cached_linker(sentences: tuple[Sentence, ...]) -> Linker:
    """The index of these sentences; the claims of an answer are judged in several calls on it."""
    return Linker(sentences)


def _choose_fitting(near: Sequence[Sentence], fits: Fits) -> list[Sentence]:
    """Each sentence, best first, that fits together with those chosen before it."""
    chosen: list[Sentence] = []
    for sentence in near:
        if fits(_joined([*chosen, sentence])):
            chosen.append(sentence)
    return chosen


def _joined(sentences: Sequence[Sentence]) -> str:
    """In the order of the document: a pronoun refers to an earlier sentence."""
    ordered = sorted(sentences, key=lambda sentence: sentence.index)
    return " ".join(sentence.reading.strip() for sentence in ordered)


def _longest_beginning(text: str, fits: Fits) -> str:
    """The most whole words that fit, found by bisection."""
    words = text.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(" ".join(words[:middle])) else (low, middle - 1)
    return " ".join(words[:low])


class Premise(NamedTuple):
    """A text to read with a claim, and the indices of the sentences that it is made of."""

    text: str
    sentences: tuple[int, ...]


class SentenceSearch:
    """Finds the sentences most like a claim, in a context and in the part to look at first."""

    def __init__(self, sentences: tuple[Sentence, ...], focus: tuple[Sentence, ...] = ()) -> None:
        """`focus` is part of the context."""
        self._known = {sentence.index: sentence for sentence in sentences}
        self._linkers = [cached_linker(part) for part in (sentences, focus) if part]
        self._few = tuple(self._known) if len(sentences) <= NEAREST else ()

    def nearest(self, text: str) -> list[Sentence]:
        """The best of the context, then of the focus; all sentences where there are few.

        Empty where a long context has no sentence with a word of the claim.
        """
        links = (one.candidates(text, limit=NEAREST) for one in self._linkers)
        ranked = (*(link.sentence for found in links for link in found), *self._few)
        return [self._known[index] for index in dict.fromkeys(ranked) if index in self._known]


def candidate_premises(near: Sequence[Sentence], fits: Fits) -> Iterator[Premise]:
    """Each sentence alone, split where it must be, and the best that fit together as one."""
    for sentence in near:
        yield from _split_premises([sentence], fits)
    chosen = _choose_fitting(near, fits)
    if len(chosen) > 1:
        yield Premise(_joined(chosen), tuple(sorted(sentence.index for sentence in chosen)))


def premise_windows(sentences: Sequence[Sentence], fits: Fits) -> Iterator[Premise]:
    """All the sentences in order, as many in one premise as fit."""
    window: list[Sentence] = []
    for sentence in sentences:
        if window and not fits(_joined([*window, sentence])):
            yield from _split_premises(window, fits)
            window = []
        window.append(sentence)
    if window:
        yield from _split_premises(window, fits)


def split_to_fit(text: str, fits: Fits) -> Iterator[str]:
    """The text, or its halves, halved again until they fit; cut between words where possible."""
    if fits(text):
        yield text
    elif len(text) > 1:  # a single character that is too long for a model has no half
        middle = len(text) // 2
        cut = text.rfind(" ", 1, middle) + 1 or text.find(" ", middle) + 1
        cut = cut if 0 < cut < len(text) else middle
        yield from split_to_fit(text[:cut], fits)
        yield from split_to_fit(text[cut:], fits)


def _split_premises(sentences: Sequence[Sentence], fits: Fits) -> Iterator[Premise]:
    indices = tuple(sentence.index for sentence in sentences)
    for piece in split_to_fit(_joined(sentences), fits):
        yield Premise(piece, indices)
