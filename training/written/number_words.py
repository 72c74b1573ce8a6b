"""How a number, a price, a clock time and a day may be written, and cases made of templates."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
_TIMES = ("never", "once", "twice")
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
CURRENCIES = (("$", "dollar", "cent"), ("€", "euro", "cent"), ("£", "pound", "penny"))
TOWNS = [
    "Norbury",
    "Eastfield",
    "Westmere",
    "Kilbrook",
    "Tarnow",
    "Larkham",
    "Summerhill",
    "Redcliff",
    "Ashdale",
    "Fenwick",
    "Orlstad",
    "Brennock",
    "Calder",
    "Haverly",
    "Millrose",
    "Stonebeck",
]
PEOPLE = [
    "Alice",
    "Bruno",
    "Carla",
    "Daniel",
    "Elena",
    "Farid",
    "Grace",
    "Henrik",
    "Ines",
    "Jonas",
    "Kavya",
    "Liam",
    "Maya",
    "Noor",
    "Oscar",
    "Priya",
    "Rosa",
    "Samir",
    "Tessa",
    "Umar",
    "Vera",
    "Yusuf",
    "Zoe",
]
TEAMS = [
    "Falcons",
    "Lions",
    "Rovers",
    "Hornets",
    "Wolves",
    "Comets",
    "Pirates",
    "Otters",
    "Rangers",
    "Eagles",
    "Sharks",
    "Bisons",
]
# The small letter after the end of a sentence, but not after `a.m.`
_START = re.compile(r"(?<=[a-z0-9%)][.!?] )(?<!\.m\. )[a-z]")
_PREFIXES = ("Note: ", "From the FAQ: ", "Section 4.2. ", "Good to know: ", "Page 3 of 7. ", "* ")
_SUFFIXES = (
    " Please keep this for your records.",
    " Ask at the desk if anything is unclear.",
    " This page was last checked in spring.",
    " See section 5 for details.",
    " Thank you for reading.",
)


@dataclass(frozen=True, slots=True)
class NumberCase:
    """A passage with claims of each label."""

    kind: str
    passage: str
    entailed: tuple[str, ...]
    contradicted: tuple[str, ...]
    baseless: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in cents, and the place of its currency in the list."""

    cents: int
    currency: int = 0

    def __add__(self, other: Money) -> Money:
        """Of the same currency."""
        return Money(self.cents + other.cents, self.currency)

    def __sub__(self, other: Money) -> Money:
        """Of the same currency."""
        return Money(self.cents - other.cents, self.currency)

    def __mul__(self, times: int) -> Money:
        """So many of it."""
        return Money(self.cents * times, self.currency)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, in minutes since midnight."""

    minutes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of some words, drawn anew at each place."""

    words: tuple[str, ...]


Value = int | str | Money | Clock | Choice | datetime.date
Family = Callable[[random.Random], NumberCase]

_ALWAYS: Mapping[str, Choice] = {
    "over": Choice(("more than", "over", "more than", "upwards of")),
    "fewer": Choice(("fewer than", "under", "fewer than")),
    "less": Choice(("less than", "under")),
    "about": Choice(("about", "roughly", "around", "approximately", "some")),
    "atleast": Choice(("at least", "no less than", "not less than", "a minimum of")),
    "atmost": Choice(("at most", "no more than", "not more than", "a maximum of")),
    "costs": Choice(("costs", "is priced at", "sells for", "is sold at")),
}


def spelled(number: int) -> str:
    """In words, up to the millions."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            much, rest = divmod(number, size)
            joined = "" if not rest else (" and " if rest < 100 else " ") + spelled(rest)
            return f"{spelled(much)} {name}{joined}"
    raise AssertionError(number)


def ordinal(number: int) -> str:
    """As `21st`."""
    last = 0 if 10 < number % 100 < 14 else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def shown_number(number: int, chance: random.Random) -> str:
    """In one of the usual forms; all of them are exact."""
    if number < 0:
        return f"-{-number}"
    if number <= 12 and chance.random() < 0.45:
        return spelled(number)
    if number <= 100 and chance.random() < 0.12:
        return spelled(number)
    if number >= 1000 and number % 100 == 0 and chance.random() < 0.15:
        return spelled(number) if number % 1000 == 0 else f"{number / 1000:g} thousand"
    return f"{number:,}" if chance.random() < 0.75 else str(number)


def shown_money(money: Money, chance: random.Random) -> str:
    """With its sign or its name."""
    sign, name, _ = CURRENCIES[money.currency]
    whole, cents = divmod(money.cents, 100)
    if cents:
        return f"{sign}{whole:,}.{cents:02}"
    form = chance.random()
    if form < 0.55:
        return f"{sign}{whole:,}"
    if form < 0.65:
        return f"{sign}{whole:,}.00"
    return f"{shown_number(whole, chance)} {name}" + ("" if whole == 1 else "s")


def shown_clock(clock: Clock, chance: random.Random) -> str:
    """With 12 or 24 hours."""
    hour, minute = divmod(clock.minutes, 60)
    if clock.minutes == 720 and chance.random() < 0.5:
        return "noon"
    if chance.random() < 0.35:
        return f"{hour:02}:{minute:02}" if chance.random() < 0.5 else f"{hour}:{minute:02}"
    half = chance.choice(("am", "a.m.") if hour < 12 else ("pm", "p.m."))
    twelve = hour % 12 or 12
    if not minute and hour not in (0, 12) and chance.random() < 0.25:
        part = "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
        return f"{spelled(twelve)} in the {part}"
    return f"{twelve} {half}" if not minute else f"{twelve}:{minute:02} {half}"


def shown_day(day: datetime.date, chance: random.Random) -> str:
    """In any form that tells day from month."""
    month = MONTHS[day.month - 1]
    return chance.choice(
        (
            f"{day.day} {month} {day.year}",
            f"{month} {day.day}, {day.year}",
            day.isoformat(),
            f"the {ordinal(day.day)} of {month} {day.year}",
            f"{day.day} {month[:3]} {day.year}" if month != "May" else f"{day.day} May {day.year}",
        )
    )


@dataclass(frozen=True, slots=True)
class _Slot:
    """Writes its value anew at each place."""

    value: Value
    chance: random.Random

    def __format__(self, spec: str) -> str:
        value, chance = self.value, self.chance
        if isinstance(value, Choice):
            return chance.choice(value.words)
        if isinstance(value, Money):
            return shown_money(value, chance)
        if isinstance(value, Clock):
            return shown_clock(value, chance)
        if isinstance(value, datetime.date):
            return shown_day(value, chance)
        return _with_spec(value, spec, chance) if isinstance(value, int) else value


def _with_spec(number: int, spec: str, chance: random.Random) -> str:
    if spec == "d":
        return str(number)
    if spec == "w":
        return spelled(number)
    if spec == ",":
        return f"{number:,}"
    if spec == "x":
        return _TIMES[number] if number < len(_TIMES) else f"{shown_number(number, chance)} times"
    if spec == "o":
        wordy = number < len(_ORDINALS) and chance.random() < 0.7
        return _ORDINALS[number] if wordy else ordinal(number)
    if "|" in spec:
        one, _, many = spec.partition("|")
        return f"{shown_number(number, chance)} {one if number == 1 else many}"
    return shown_number(number, chance)


def build(
    chance: random.Random,
    kind: str,
    passages: Sequence[str],
    entailed: Sequence[str],
    contradicted: Sequence[str],
    baseless: Sequence[str],
    /,
    **values: Value,
) -> NumberCase:
    """One of the passages and some claims of each label, as many true as false ones."""
    slots = {name: _Slot(value, chance) for name, value in {**_ALWAYS, **values}.items()}

    def filled(template: str) -> str:
        text = template.format(**slots).replace(".m..", ".m.")
        if "\n" in text or text[:1] in "{[":
            return text
        return _START.sub(lambda found: found[0].upper(), text[:1].upper() + text[1:])

    def some(templates: Sequence[str], most: int) -> tuple[str, ...]:
        chosen = chance.sample(templates, min(most, len(templates)))
        return tuple(dict.fromkeys(filled(one) for one in chosen))

    passage = filled(chance.choice(passages))
    prose = "\n" not in passage and passage[0] not in "{["
    if prose and chance.random() < 0.15:
        passage = chance.choice(_PREFIXES) + passage
    elif prose and chance.random() < 0.15:
        passage += chance.choice(_SUFFIXES)
    most = chance.randint(2, 4)
    return NumberCase(
        kind,
        passage,
        some(entailed, most),
        some(contradicted, most),
        some(baseless, chance.randint(1, 3)),
    )


def two(chance: random.Random, low: int, high: int, step: int = 1) -> tuple[int, int]:
    """Two different numbers, the smaller one first."""
    first, second = sorted(chance.sample(range(low, high + 1, step), 2))
    return first, second


def currency(chance: random.Random) -> int:
    """The place of one in the list."""
    return chance.randrange(len(CURRENCIES))
