"""The quantities of a text, with their units, bounds and periods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from otel_rt4chart.verify.language.tokens import Token, token_range
from otel_rt4chart.verify.language.units import (
    CURRENCY,
    UNITS,
    read_currency,
    read_signed_unit,
    read_unit,
)

Bound = Literal["exact", "about", "at_least", "at_most"]

_ONE_TO_NINETEEN = """one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen"""
_ONES = {word: value for value, word in enumerate(_ONE_TO_NINETEEN.split(), start=1)} | {"zero": 0}
_TENTHS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: value * 10 for value, word in enumerate(_TENTHS.split(), start=2)}
_FIRST_TO_TENTH = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINALS = {word: value for value, word in enumerate(_FIRST_TO_TENTH.split(), start=1)}
_MULTIPLES = {"half": 0.5, "dozen": 12.0, "once": 1.0, "twice": 2.0, "double": 2.0, "triple": 3.0}
_SCALES = {
    "k": 1e3,
    "thousand": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mln": 1e6,
    "million": 1e6,
    "bn": 1e9,
    "billion": 1e9,
    "trillion": 1e12,
}
_WORDS = "|".join((*_ONES, *_TENS))
_WORD_NUMBER = (
    rf"(?:(?:{'|'.join(_TENS)})[-\s](?:{'|'.join(list(_ONES)[:9])})|{_WORDS})(?:\s+hundred)?"
)
_DIGITS = r"\d{1,40}"  # more are no number that a text counts with
_SEPARATORS = ",\u00a0\u2009\u202f"  # of thousands
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")
# "one" counts only with a scale, a unit or a hyphen: "one of them" is no quantity.
_QUANTITY = re.compile(
    rf"(?:(?P<currency>{CURRENCY})|(?<![\w.]))"
    rf"(?:(?P<digits>{_DIGITS}(?!\d)(?:[{_SEPARATORS}]\d{{3}}(?!\d)){{0,12}}(?:\.{_DIGITS})?|\.{_DIGITS})(?P<ordinal>st|nd|rd|th)?"
    rf"|(?P<word>\b(?:{_WORD_NUMBER}|{'|'.join(_ORDINALS)}|{'|'.join(_MULTIPLES)}|hundred)\b))"
    rf"(?P<and_half>\s+and\s+a\s+half\b)?"
    rf"(?P<scale>(?:[-\s]?(?:thousand|million|billion|trillion|mln|mn|bn)|[km])\b)?"
    rf"(?P<percent>\s?(?:%|percentage\s+points?\b|per\s?cent\b|percent\b))?",
    re.IGNORECASE,
)
# "once it is paid" counts nothing; "once a day" and "once." do.
_CLAUSE = re.compile(r"\s+(?!(?:a|an|per|every|each|daily|weekly|monthly|or|in|and)\b)\w")
# "First, open the lid, then …" ranks nothing.
_ORDER = re.compile(
    r"\s*(?:[.,;:!?]|$|(?:and\s+)?(?:then|only\s+then)\b|before\b|after\b)", re.IGNORECASE
)
_TIMES = "tim"  # the stem of "times"
_TIME_LIKE = re.compile(r"\d{1,2}:\d{2}|\d{1,2}(?::\d{2})?\s?[ap]\.?m\b", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:about|around|approximately|roughly|nearly|almost|some|circa|close\s+to|up\s+to\s+about"
    r"|an?\s+estimated|estimated(?:\s+at)?|just\s+(?:over|under)|[~≈])\s*$",
    re.IGNORECASE,
)
_MORE = r"(?:(?:more|longer|greater)\s+than|over|above|exceed(?:s|ed|ing)?)"
_LESS = r"(?:(?:less|fewer|shorter)\s+than|under|below)"
# Signs stand behind a space: the one of "<b>14" or of a quoted line bounds nothing.
_AT_LEAST = re.compile(
    rf"(?:{_MORE}|at\s+least|a\s+minimum\s+of|(?<=[\w(]\s)(?:>=?|≥)|(?<=\()(?:>=?|≥))\s*$",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    rf"(?:{_LESS}|at\s+most|up\s+to|a\s+maximum\s+of|(?<=[\w(]\s)(?:<=?|≤)|(?<=\()(?:<=?|≤))\s*$",
    re.IGNORECASE,
)
# "No more than" and "must not exceed" are the other bound.
_DENIED = r"(?:\bno|\bnot|\bnever|\bcannot|n['’]t)\s+(?:be\s+|last\s+|cost\s+|take\s+|weigh\s+)?"
_NOT_MORE = re.compile(rf"{_DENIED}{_MORE}\s*$", re.IGNORECASE)
_NOT_LESS = re.compile(rf"{_DENIED}{_LESS}\s*$", re.IGNORECASE)
_OR_MORE = re.compile(
    r"\s*(?:[\w-]+\s+){0,2}?(?:(?:and|or)\s+(?:above|older|over|more|up|longer|higher)\b|\+)|\s?\+",
    re.IGNORECASE,
)
_OR_LESS = re.compile(
    r"\s*(?:[\w-]+\s+){0,2}?(?:and|or)\s+(?:below|younger|under|less|fewer|shorter|lower)\b",
    re.IGNORECASE,
)
# Verbs that follow an age or another bare number: "children under 12 need a helmet".
_VERBS = frozenset((
    "need", "needs", "pay", "pays", "get", "gets", "cost", "costs", "require", "requires",
    "receive", "receives", "travel", "travels", "enter", "enters", "apply", "applies", "go", "goes",
))  # fmt: skip
_BETWEEN = {"of", "the", "more", "other", "such"}


WRITTEN_OUT = 100  # the significant digits of a number in words: it is exact
_FLOAT_DIGITS = 11  # significant digits; longer values are told apart by their digits


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number in `text[start:end]`; `unit` is "" where no unit follows.

    `value` is in that unit, with the scale applied. `digits` counts the significant digits.
    `before` is the stem of the content word before it: `rose to 5 million`. The unit's word, or
    without one the number, ends at `unit_end`. A rate has a `period`, `2 days of leave a month`,
    whose word ends at `period_end`. `written` are its digits without separators, "" for words.
    """

    value: float
    unit: str
    bound: Bound
    digits: int
    start: int
    end: int
    unit_end: int
    before: str
    period: str = ""
    period_end: int = 0
    written: str = ""
    scale: float = 1.0

    @property
    def exact(self) -> Fraction | None:
        """The value with all its digits; None for a number in words."""
        return Fraction(self.written) * Fraction(self.scale) if self.written else None

    @property
    def plain(self) -> str:
        """The value in digits, the same for equal values: `2000` for `2,000` and `2 thousand`."""
        if self.digits <= _FLOAT_DIGITS or self.exact is None:
            return f"{self.value:.15g}"
        return str(self.exact)

    @property
    def base(self) -> tuple[str, float]:
        """The family of the unit, and the value in the family's base unit."""
        family, factor = UNITS.get(self.unit, (self.unit, 1.0))
        return family, self.value * factor

    @property
    def rate(self) -> tuple[str, float]:
        """For a rate the family of its period, and the base value over that family's base unit."""
        family, factor = UNITS.get(self.period, ("", 1.0))
        return family, self.base[1] / factor

    @property
    def kind(self) -> str:
        """Equal for quantities of `same_kind`; empty where none is of the same kind."""
        if self.unit:
            return f"unit {self.base[0]}"
        return f"after {self.before}" if self.before and self.digits != WRITTEN_OUT else ""

    @property
    def key(self) -> tuple[float, str, Bound, int, str, str]:
        """Equal for quantities that no comparison tells apart."""
        return (self.value, self.unit, self.bound, self.digits, self.before, self.period)

    @property
    def measure(self) -> str:
        """A key that equal values share, however they are written: `2 hours`, `120 minutes`."""
        family, value = self.base
        if self.digits <= _FLOAT_DIGITS or self.exact is None:
            return f"~{family} {value:.12g}"
        return f"~{family} {self.exact * Fraction(UNITS.get(self.unit, ('', 1.0))[1])}"

    @property
    def rate_measure(self) -> str:
        """A key that equal rates share: `$5 a month`, `$60 a year`."""
        family, value = self.rate
        return f"~{self.base[0]} per {family} {value:.12g}"


def quantities(
    text: str, tokens: tuple[Token, ...], taken: frozenset[int] = frozenset()
) -> tuple[Quantity, ...]:
    """The quantities of a text; `taken` are the character offsets that belong to dates."""
    if not any(token.stem[:1].isdigit() or token.norm in _NUMERIC_WORDS for token in tokens):
        return ()
    clock = {at for match in _TIME_LIKE.finditer(text) for at in range(*match.span())}
    found = list(_fractions(text, tokens))
    clock.update(at for one in found for at in range(one.start, one.end))
    for match in _QUANTITY.finditer(text):
        start = match.end("currency") if match["currency"] else match.start()
        if start in taken or start in clock:
            continue
        quantity = _quantity(text, tokens, match)
        if quantity is not None:
            found.append(quantity)
    found.sort(key=lambda one: one.start)
    return _with_periods(text, _with_elided_units(text, tokens, found))


_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_CARDINAL = "|".join((*list(_ONES)[:10], r"\d{1,3}"))
# "A quarter of the seats", "three in four", "half price"; "a quarter of an hour" is a time.
_FRACTION = re.compile(
    rf"\b(?:(?:(?P<count>an?|{_CARDINAL})[-\s])?(?P<part>(?:half|third|quarter|fourth|fifth|tenth)s?)"
    r"(?:\s+of(?!\s+an?\b)|(?<=half)\s+(?:the|price))\b"
    rf"|(?P<some>{_CARDINAL})\s+(?:in|out\s+of)\s+(?:every\s+)?(?P<all>{_CARDINAL})\b"
    r"(?!\s?(?:%|per\s?cent)|\s+(?:hours?|days?|weeks?|months?|years?|minutes?|seconds?)\b|[.,:]\d))",
    re.IGNORECASE,
)
_FRACTION_DIGITS = 6  # "33%" is a third


def _fractions(text: str, tokens: tuple[Token, ...]) -> Iterator[Quantity]:
    """Shares in words, as numbers of per cent."""
    for match in _FRACTION.finditer(text):
        if match["part"]:
            count = match["count"] or "a"
            some = 1.0 if count.lower() in ("a", "an") else _cardinal(count)
            whole = float(_PARTS[match["part"].lower().rstrip("s")])
        else:
            some, whole = _cardinal(match["some"]), _cardinal(match["all"])
        if 0 < some < whole:
            start, end = match.start(), match.end("part" if match["part"] else "all")
            yield Quantity(
                100 * some / whole, "%", _bound(text, start, end), _FRACTION_DIGITS,
                start, end, end, _before(tokens, start),
            )  # fmt: skip


def _cardinal(word: str) -> float:
    return float(word) if word.isdigit() else _word_value(word.lower())


_NUMERIC_WORDS = frozenset({*_PARTS, *_ONES, *_TENS, *_ORDINALS, *_MULTIPLES, "hundred"})


_JOINT = re.compile(r"[,;]|\b(?:and|but|or|while|whereas)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.:!?\n]")
_RANGE = re.compile(r"\s*(?:to|or|and|[-–—])\s*", re.IGNORECASE)
_BETWEEN_OPENS = re.compile(r"\bbetween\s+[$€£¥₹]?$", re.IGNORECASE)
_ALONE = re.compile(r"\s*(?:$|[.,;:!?)]|(?:and|but|or|while|whereas|a|an|per)\b)", re.IGNORECASE)


def _with_elided_units(
    text: str, tokens: tuple[Token, ...], found: list[Quantity]
) -> list[Quantity]:
    """Bare numbers with the unit of the one before: `covered for 24 months, the charger for 6`."""
    complete: list[Quantity] = []
    for one in found:
        before = complete[-1] if complete else None
        if before is not None and _is_parallel(text, tokens, before, one):
            one = replace(one, unit=before.unit)
        if complete and opens_range(text, complete[-1], one):
            complete[-1] = replace(complete[-1], unit=one.unit)
        complete.append(one)
    return complete


def opens_range(text: str, low: Quantity, high: Quantity) -> bool:
    """True for `800` in `from 800 to 880 euros`."""
    between = text[low.end : high.start]
    return (
        low.unit_end == low.end
        and low.unit in ("", high.unit)
        and high.unit not in ("", "#", _TIMES)
        and text[low.start : low.end].lower() not in _MULTIPLES
        and _RANGE.fullmatch(between) is not None
        and ("and" not in between.lower() or _BETWEEN_OPENS.search(text[: low.start]) is not None)
    )


def _is_parallel(text: str, tokens: tuple[Token, ...], before: Quantity, one: Quantity) -> bool:
    """True for a bare number in a part of the sentence that is built like the part before it.

    The same word leads up to both numbers, or a noun alone names what the second one is about.
    """
    between = text[before.unit_end : one.start]
    joints = list(_JOINT.finditer(between))
    is_cardinal = text[one.start : one.end].lower() not in _MULTIPLES and one.unit == ""
    if not joints or not is_cardinal or before.unit in ("", "#") or _SENTENCE_END.search(between):
        return False
    part = token_range(tokens, before.unit_end + joints[-1].end(), one.start)
    earlier = token_range(tokens, 0, before.start)
    if not part:  # "12 euros for adults and 7 for children"
        behind, same_behind = _SMALL_WORD.match(text, one.end), _SMALL_WORD.match(between)
        return bool(behind and same_behind and behind[1].lower() == same_behind[1].lower())
    if not earlier or not _ALONE.match(text, one.end):
        return False
    last, same = tokens[part[-1]], tokens[earlier[-1]]
    if len(part) > 1 and last.stem == same.stem:
        return True
    is_named = last.norm in _NUMBERED or any(tokens[at].is_capital for at in part)
    return last.is_content and not is_named and len(part) <= _LONGEST_TOPIC


_SMALL_WORD = re.compile(r"\s+(for|per|in|on|at|with|to|by)\b", re.IGNORECASE)
_LONGEST_TOPIC = 3  # words; more are hardly a noun alone
# What bears a number as its name.
_NUMBERED = frozenset((
    "version", "section", "chapter", "page", "step", "level", "phase", "stage", "type", "floor",
    "room", "gate", "platform", "line", "bus", "tram", "train", "article", "paragraph", "number",
    "item", "table", "figure", "part", "grade", "class", "zone",
))  # fmt: skip

_PERIOD = re.compile(
    r"(?:\s+of(?:\s+[\w-]+){1,3}?|\s+(?:per|for\s+each)\s+[\w-]+|\s+[a-z-]{4,})?"
    r"(?:\s+(?:a|an|per|each|every)\s+|\s?/\s?)(?P<noun>hour|day|week|fortnight|month|quarter|year)\b"
    r"|\s+(?P<word>hourly|daily|weekly|monthly|quarterly|yearly|annually)\b",
    re.IGNORECASE,
)
_PERIOD_WORDS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month",
                 "quarterly": "quarter", "yearly": "year", "annually": "year"}  # fmt: skip


def _with_periods(text: str, found: list[Quantity]) -> tuple[Quantity, ...]:
    """Rates with the period that stands behind them: `$5 per user per month`, `twice a day`."""
    starts = [one.start for one in found]
    complete = []
    for one in found:
        match = _PERIOD.match(text, one.unit_end)
        if match and not any(one.start < start < match.end() for start in starts):
            period = (match["noun"] or _PERIOD_WORDS[match["word"].lower()]).lower()
            one = replace(one, period=period, period_end=match.end())
        complete.append(one)
    return tuple(complete)


def _quantity(text: str, tokens: tuple[Token, ...], match: re.Match[str]) -> Quantity | None:
    written = _SEPARATOR.sub("", match["digits"] or "")
    word = re.sub(r"[-\s]+", " ", match["word"].lower()) if match["word"] else ""
    value = float(written) if written else _word_value(word)
    scale = (match["scale"] or "").strip(" -\n\t").lower()
    factor = _SCALES.get(scale, 1.0)
    value = (value + (0.5 if match["and_half"] else 0.0)) * factor
    unit, unit_end = _unit(text, tokens, match)
    if word in ("one", "second", "half", "double") and not scale and unit not in UNITS:
        return None
    if word == "once" and _CLAUSE.match(text, match.end()):
        return None
    if word == "first" and _ORDER.match(text, match.end()):
        return None
    if word in ("once", "twice") and not unit:
        unit = _TIMES
    return Quantity(
        value, unit, _bound(text, match.start(), match.end()),
        _significant(written), match.start(), match.end(), unit_end,
        _before(tokens, match.start()),
        written="" if match["and_half"] else written, scale=factor,
    )  # fmt: skip


def _word_value(word: str) -> float:
    if word in _ORDINALS:
        return float(_ORDINALS[word])
    if word in _MULTIPLES:
        return _MULTIPLES[word]
    if word == "zero":
        return 0.0
    parts = word.split()
    factor = 100 if parts[-1] == "hundred" else 1
    total = sum(_ONES.get(part, 0) + _TENS.get(part, 0) for part in parts)
    return float(total * factor or factor)


def _significant(written: str) -> int:
    if not written:
        return WRITTEN_OUT
    kept = written.replace(".", "").lstrip("0") if "." in written else written.strip("0")
    return max(1, len(kept))


def _before(tokens: tuple[Token, ...], start: int) -> str:
    for at in reversed(token_range(tokens, 0, start)):
        if tokens[at].is_content and tokens[at].end <= start:
            return tokens[at].stem
    return ""


def _unit(text: str, tokens: tuple[Token, ...], match: re.Match[str]) -> tuple[str, int]:
    """The unit, and the offset at which its word ends."""
    if match["percent"]:
        return "%", match.end()
    if match["currency"]:
        return read_currency(match["currency"]), match.end()
    if match["ordinal"] or (match["word"] and match["word"].lower() in _ORDINALS):
        return "#", match.end()
    unit, end = read_signed_unit(text, match.end())
    return (unit, end) if unit else _noun(text, tokens, match.end())


def _noun(text: str, tokens: tuple[Token, ...], after: int) -> tuple[str, int]:
    """What is counted: a known unit within three words, else the first content word."""
    first = ("", after)
    first_at = token_range(tokens, 0, after).stop
    for token in tokens[first_at : first_at + 3]:
        # "Plan 1 lasts 14 days": the unit is that of the second number.
        is_apart = bool(first[0] or text[after : token.start].strip())  # "4-7", not "10 737 MAX"
        is_next = is_apart and token.text[0].isdigit()
        if token.starts_clause or token.start - after > 24 or is_next:
            break
        if unit := read_unit(token, text, after):
            return unit, token.end
        if token.is_content and token.norm not in _VERBS and not first[0]:
            first = (token.stem, token.end)
        elif token.norm in _VERBS or (not token.is_content and token.norm not in _BETWEEN):
            break
    return first


def _bound(text: str, start: int, end: int) -> Bound:
    before = text[max(0, start - 32) : start]
    if _NOT_MORE.search(before):
        return "at_most"
    if _NOT_LESS.search(before) or _AT_LEAST.search(before) or _OR_MORE.match(text, end):
        return "at_least"
    if _AT_MOST.search(before) or _OR_LESS.match(text, end):
        return "at_most"
    return "about" if _ABOUT.search(before) else "exact"
