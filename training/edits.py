"""Sentences of the training contexts, kept or edited, so that clashes are seen in plain copies.

People's labels tell whole summaries; short claims that copy a sentence but for one value are rare
among them. An edit knows its own label. Deterministic for a given seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from exchanges import Exchanges

from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.thesaurus import opposites

FEWEST_WORDS, MOST_WORDS = 5, 22
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|would|can|could|should|must|has|have|had)\b")
_NARROW = re.compile(r"\b(some|most|many|several|a few|only)\b")
_NEGATION = re.compile(r"\b(is|are|was|were|will|would|could|should|must|has|have|had) not\b")
_HEDGE = re.compile(r"\b(may|might|could|is expected to|are expected to|plans to|plan to)\b")
_UNIT = re.compile(r"\b(thousand|million|billion|minutes|hours|days|weeks|months|years)\b")
_UNITS = (
    ("thousand", "million", "billion"),
    ("minutes", "hours", "days", "weeks", "months", "years"),
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A made claim, the sentence it was made from, and its label."""

    source: str
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Source:
    """What an edit may take from: the document itself, another one, and words in general."""

    own: Sequence[str]
    strange: Sequence[str]
    exchanges: Exchanges | None = None


Change = Callable[[Slots, random.Random, Source], str | None]


def edits(source: Source, chance: random.Random) -> list[Edit]:
    """For two sentences of a context: copies in other words, each edit that fits, a strange one."""
    fitting = [one for one in source.own if _is_fit(one)]
    strange = [one for one in source.strange if _is_fit(one)]
    fit = Source(fitting, strange, source.exchanges)
    made: list[Edit] = []
    for text in chance.sample(fitting, min(2, len(fitting))):
        slots = read_slots(text)
        for label, changes in _CHANGES.items():
            texts = [change(slots, chance, fit) for change in changes]
            known = dict.fromkeys(one for one in texts if one is not None and one != text)
            made += [Edit(text, one, label) for one in known]
    return made


def _is_fit(text: str) -> bool:
    words = text.split()
    return FEWEST_WORDS <= len(words) <= MOST_WORDS and text[-1] in ".!" and text[0].isupper()


def _replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _shortened(slots: Slots, chance: random.Random, source: Source) -> str | None:
    """A sentence without one word that carries no value, without its last words, or its start."""
    if chance.random() < 0.3 and len(slots.tokens) > 7:
        return slots.text[: slots.tokens[chance.randint(5, 7)].start].rstrip(" ,;:-") + "."
    if chance.random() < 0.5 and len(slots.tokens) > 9:
        return slots.text[: slots.tokens[-chance.randint(2, 3)].start].rstrip(" ,;:-") + "."
    plain = [
        token
        for token in slots.tokens[1:]
        if token.norm in ("the", "a", "very", "also", "just", "really", "that", "now", "still")
    ]
    if not plain:
        return slots.text.rstrip(".!") + " ."
    token = chance.choice(plain)
    return _replaced(slots.text, token.start, token.end + 1, "")


def _number(slots: Slots, chance: random.Random, source: Source) -> str | None:
    plain = [one for one in slots.tokens if one.text.isdigit() and len(one.text) <= 4]
    if not plain:
        return None
    token = chance.choice(plain)
    value = int(token.text)
    new = value + chance.choice([-3, -2, -1, 1, 2, 3, 5, 10]) * max(1, 10 ** (len(token.text) - 2))
    return None if new <= 0 else _replaced(slots.text, token.start, token.end, str(new))


def _name(slots: Slots, chance: random.Random, source: Source) -> str | None:
    return _renamed(slots, chance, source.strange)


def _own_name(slots: Slots, chance: random.Random, source: Source) -> str | None:
    """A name that the document knows, where it does not say it of that one."""
    return _renamed(slots, chance, source.own)


def _renamed(slots: Slots, chance: random.Random, texts: Sequence[str]) -> str | None:
    said = slots.text.casefold()
    names = [
        name
        for text in texts
        for one in read_slots(text).names[1:]
        if (name := text[one.start : one.end]).casefold() not in said
    ]
    own = [name for name in slots.names if slots.tokens[name.tokens[0]].is_capital]
    if not own or not names:
        return None
    name = chance.choice(own)
    return _replaced(slots.text, name.start, name.end, chance.choice(names))


def _swapped(slots: Slots, chance: random.Random, source: Source) -> str | None:
    """Two names or two numbers in each other's place; "A and B" would stay true."""
    numbers = [(one.start, one.end) for one in slots.tokens if one.text.isdigit()]
    names = [(one.start, one.end) for one in slots.names]
    pairs = [
        (left, right)
        for places in (numbers, names)
        for left, right in pairwise(places)
        if len(slots.text[left[1] : right[0]].split()) > 1
        and slots.text[slice(*left)] != slots.text[slice(*right)]
    ]
    if not pairs:
        return None
    left, right = chance.choice(pairs)
    later = _replaced(slots.text, *right, slots.text[slice(*left)])
    return _replaced(later, *left, slots.text[slice(*right)])


def _firm(slots: Slots, chance: random.Random, source: Source) -> str | None:
    """What may be, stated as what will."""
    hedge = _HEDGE.search(slots.text)
    return hedge and _replaced(slots.text, hedge.start(), hedge.end(), "will")


def _unit(slots: Slots, chance: random.Random, source: Source) -> str | None:
    found = _UNIT.search(slots.text)
    if found is None:
        return None
    family = next(units for units in _UNITS if found[1] in units)
    other = chance.choice([unit for unit in family if unit != found[1]])
    return _replaced(slots.text, found.start(), found.end(), other)


def _exchanged(slots: Slots, chance: random.Random, source: Source) -> str | None:
    return _reworded(slots, chance, source, 1, keeps=False)


def _paraphrased(slots: Slots, chance: random.Random, source: Source) -> str | None:
    """One word by a synonym, every other time: WordNet's synonym may be one of another sense."""
    return _reworded(slots, chance, source, 1, keeps=True) if chance.random() < 0.5 else None


def _reworded(
    slots: Slots, chance: random.Random, source: Source, most: int, *, keeps: bool
) -> str | None:
    """Up to so many content words by others, by WordNet."""
    if source.exchanges is None:
        return None
    found = [
        (token, forms)
        for token in slots.tokens
        if token.is_content
        and not (keeps and token.is_capital)  # a name has no synonym
        and (forms := source.exchanges.of(token.norm, keeps=keeps))
    ]
    if not found:
        return None
    text = slots.text
    chosen = chance.sample(found, min(most, len(found)))
    for token, forms in sorted(chosen, key=lambda one: -one[0].start):
        form = chance.choice(forms)
        text = _replaced(text, token.start, token.end, form.title() if token.is_capital else form)
    return text


def _negation(slots: Slots, chance: random.Random, source: Source) -> str | None:
    denied = _NEGATION.search(slots.text)
    if denied is not None:
        return _replaced(slots.text, denied.start(), denied.end(), denied[1])
    plain = _AUXILIARY.search(slots.text)
    if plain is None or slots.denials:
        return None
    return _replaced(slots.text, plain.start(), plain.end(), f"{plain[1]} not")


def _opposite(slots: Slots, chance: random.Random, source: Source) -> str | None:
    swaps = [
        (token, word)
        for token in slots.tokens
        if token.is_content
        for word in sorted(opposites(token.stem))
        if not word.endswith(token.stem) and not token.stem.endswith(word)
    ]
    if not swaps:
        return None
    token, word = chance.choice(swaps)
    return _replaced(slots.text, token.start, token.end, word)


def _wider(slots: Slots, chance: random.Random, source: Source) -> str | None:
    narrow = _NARROW.search(slots.text)
    return narrow and _replaced(slots.text, narrow.start(), narrow.end(), "all")


def _tail(slots: Slots, chance: random.Random, source: Source) -> str | None:
    """The beginning of the sentence with the end of a strange one, short every other time."""
    if not source.strange:
        return None
    words, strange = slots.text.split(), chance.choice(source.strange).split()
    kept = words[: max(2, len(words) // 3)]
    end = strange[len(strange) // 2 :]
    return " ".join([*kept[:3], *end[-4:]] if chance.random() < 0.5 else [*kept, *end])


def _stranger(slots: Slots, chance: random.Random, source: Source) -> str | None:
    return chance.choice(source.strange) if source.strange else None


_CHANGES: dict[str, tuple[Change, ...]] = {
    "entailed": (_shortened, _paraphrased),
    "contradicted": (
        _number, _name, _own_name, _swapped, _negation, _opposite, _exchanged, _wider, _firm, _unit,
    ),
    "baseless": (_tail, _stranger),
}  # fmt: skip
