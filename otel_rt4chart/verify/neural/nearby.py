"""Which sentences a claim is read beside: the same choice in training and at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from otel_rt4chart.verify.link import Linker
from otel_rt4chart.verify.model import Sentence

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
