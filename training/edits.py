"""Sentences of the training contexts, kept or edited, so that clashes are seen in plain copies.

People's labels tell whole summaries; short claims that copy a sentence but for one value are rare
among them. An edit knows its own label. Deterministic for a given seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.local.antonyms import opposites
from otel_rt4chart.verify.local.slots import Slots, read_slots

FEWEST_WORDS, MOST_WORDS = 5, 22
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|would|can|could|should|must|has|have|had)\b")
_NARROW = re.compile(r"\b(some|most|many|several|a few|only)\b")
_NEGATION = re.compile(r"\b(is|are|was|were|will|would|could|should|must|has|have|had) not\b")


@dataclass(frozen=True, slots=True)
class Edit:
    """A made claim, the sentence it was made from, and its label."""

    source: str
    text: str
    label: str


Source = Sequence[str]
Change = Callable[[Slots, random.Random, Source], str | None]


def edits(sentences: Source, others: Source, chance: random.Random) -> list[Edit]:
    """For two sentences of a context: a shortened copy, each edit that fits, and a strange one.

    `others` are sentences of another document.
    """
    fitting = [one for one in sentences if _is_fit(one)]
    strange = [one for one in others if _is_fit(one)]
    made: list[Edit] = []
    for text in chance.sample(fitting, min(2, len(fitting))):
        slots = read_slots(text)
        made.append(Edit(text, _shortened(slots, chance), "entailed"))
        for change in (_number, _name, _negation, _opposite, _wider):
            changed = change(slots, chance, strange)
            if changed is not None and changed != text:
                made.append(Edit(text, changed, "contradicted"))
        for change in (_tail, _stranger):
            changed = change(slots, chance, strange)
            if changed is not None:
                made.append(Edit(text, changed, "baseless"))
    return made


def _is_fit(text: str) -> bool:
    words = text.split()
    return FEWEST_WORDS <= len(words) <= MOST_WORDS and text[-1] in ".!" and text[0].isupper()


def _replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _shortened(slots: Slots, chance: random.Random) -> str:
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


def _number(slots: Slots, chance: random.Random, others: Source) -> str | None:
    plain = [one for one in slots.tokens if one.text.isdigit() and len(one.text) <= 4]
    if not plain:
        return None
    token = chance.choice(plain)
    value = int(token.text)
    new = value + chance.choice([-3, -2, -1, 1, 2, 3, 5, 10]) * max(1, 10 ** (len(token.text) - 2))
    return None if new <= 0 else _replaced(slots.text, token.start, token.end, str(new))


def _name(slots: Slots, chance: random.Random, others: Source) -> str | None:
    strange = [
        text[name.start : name.end] for text in others for name in read_slots(text).names[1:]
    ]
    own = [name for name in slots.names if slots.tokens[name.tokens[0]].is_capital]
    if not own or not strange:
        return None
    name = chance.choice(own)
    return _replaced(slots.text, name.start, name.end, chance.choice(strange))


def _negation(slots: Slots, chance: random.Random, others: Source) -> str | None:
    denied = _NEGATION.search(slots.text)
    if denied is not None:
        return _replaced(slots.text, denied.start(), denied.end(), denied[1])
    plain = _AUXILIARY.search(slots.text)
    if plain is None or slots.denials:
        return None
    return _replaced(slots.text, plain.start(), plain.end(), f"{plain[1]} not")


def _opposite(slots: Slots, chance: random.Random, others: Source) -> str | None:
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


def _wider(slots: Slots, chance: random.Random, others: Source) -> str | None:
    narrow = _NARROW.search(slots.text)
    return narrow and _replaced(slots.text, narrow.start(), narrow.end(), "all")


def _tail(slots: Slots, chance: random.Random, others: Source) -> str | None:
    """The beginning of the sentence with the end of a strange one, short every other time."""
    if not others:
        return None
    words, strange = slots.text.split(), chance.choice(others).split()
    kept = words[: max(2, len(words) // 3)]
    end = strange[len(strange) // 2 :]
    return " ".join([*kept[:3], *end[-4:]] if chance.random() < 0.5 else [*kept, *end])


def _stranger(slots: Slots, chance: random.Random, others: Source) -> str | None:
    return chance.choice(others) if others else None
