"""Identifiers in a text: account and part numbers, phone numbers, addresses, versions.

One with another digit or letter is another one, however near its value is. Spaces, hyphens, case
and the like are only ways to write the same one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from itertools import pairwise
from typing import Literal, NamedTuple

from otel_rt4chart.verify.language.tokens import STOPWORDS, stem, vocabulary
from otel_rt4chart.verify.language.units import UNIT_NAMES

IdentifierKind = Literal["url", "email", "ip", "phone", "version", "code", "number"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """The identifier in `text[start:end]`; `key` is the same for all ways to write it."""

    kind: IdentifierKind
    key: str
    start: int
    end: int

    @property
    def measures(self) -> tuple[str, ...]:
        """Keys for its words, like `Quantity.measure`; of a version, also what numbers share."""
        told = (one.rstrip(".") for one in keys([self]) if self.kind == "version")
        return (f"={self.key}", *told)

    @property
    def has_letters(self) -> bool:
        """True for `AB-1234-X`, false for `10.0.12.131`."""
        return any(letter.isalpha() for letter in self.key)

    @property
    def has_one_name(self) -> bool:
        """False for a short code, for which a text may use a name: `U-235` and `uranium`."""
        return self.kind != "code" or len(self.key) >= _LONG_CODE

    def is_like(self, other: Identifier) -> bool:
        """True where the two may name a thing of one sort, so that different ones conflict."""
        sorts = [one.kind if one.kind != "number" else "code" for one in (self, other)]
        return sorts[0] == sorts[1] and (sorts[0] != "code" or len(self.key) == len(other.key))

    def is_short_for(self, other: Identifier) -> bool:
        """True for a phone number without the country code that the other one has."""
        # Asked of every pair of identifiers, so the cheapest question comes first.
        if other.key[:1] != "+" or self.key[:1] == "+":
            return False
        own = self.key.lstrip("0")
        rest = len(other.key) - 1 - len(own)
        return (
            {self.kind, other.kind} <= {"phone", "number"}
            and len(own) >= _SHORTEST_PHONE
            and other.key.endswith(own)
            and rest <= _LONGEST_COUNTRY
        )


_SHORTEST_PHONE, _LONGEST_COUNTRY = 7, 3  # digits
_LONG_CODE = 10  # letters and digits
_HEX = "[0-9a-f]"
_HOST = r"(?:[a-z0-9-]+\.)+[a-z]{2,}"
_PATH = r"[^\s<>\"'“”‘’|]"
_GAP = r"[ .\u00a0\u2009\u202f-]"  # between two digits of a phone number
# What bears a number as its name. A short number is meant as one where a word or sign says so.
_LABELS = (
    r"(?:account|order|invoice|ticket|case|reference|ref|tracking|serial|item|part|model|customer"
    r"|member|membership|policy|claim|booking|reservation|confirmation|transaction|receipt"
    r"|licen[cs]e|passport|patent|batch|lot|article|registration)"
)
_SAYS_NUMBER = r"(?:number|no\.?|nr\.?|id|code)"
_IS = r"\s*(?:is|was|[:#=])?\s*"
_LABELLED = re.compile(rf"(?:#|\b{_LABELS}\s+{_SAYS_NUMBER}{_IS})$", re.IGNORECASE)
_NAMED = re.compile(rf"\b{_LABELS}{_IS}$", re.IGNORECASE)
_LABEL_LENGTH = 40  # characters before a short number


def _squeezed(written: str) -> str:
    return "".join(letter for letter in written.casefold() if letter.isalnum())


def _hex_key(written: str) -> str:
    return _squeezed(written).removeprefix("0x")


def _url_key(written: str) -> str:
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", written.casefold())
    return bare.rstrip("/")


def _ip_key(written: str) -> str:
    parts = [int(part) for part in written.split(".")]
    # "1.2.3.400" is a version.
    return ".".join(map(str, parts)) if max(parts) < 256 else _version_key(written)


def _ip6_key(written: str) -> str:
    try:
        return str(IPv6Address(written)) if any(map(str.isdigit, written)) else ""
    except AddressValueError:  # a time, or a name in C++
        return ""


def _phone_key(written: str) -> str:
    digits = _squeezed(written.replace("(0)", ""))
    is_long = written.lstrip().startswith(("+", "00"))
    return f"+{digits.removeprefix('00')}" if is_long else digits


def _version_key(written: str) -> str:
    """Without an initial v, and without zeros behind: `v2.0.0` is `2`."""
    if _DATE_LIKE.fullmatch(written):
        return ""
    return re.sub(r"(?:\.0+)+$", "", written.casefold().lstrip("v"))


_DATE_LIKE = re.compile(r"\d{1,2}[.-]\d{1,2}[.-]\d{2,4}|\d{4}[.-]\d{1,2}[.-]\d{1,2}")
_YEAR = re.compile(r"(?:19|20)\d\d")


def _digits_key(written: str) -> str:
    """The digits of groups; "" for a date, a run of years, or scores: `71-68-75-71`."""
    groups = re.findall(r"\d+", written)
    is_date = _DATE_LIKE.fullmatch(written) or all(map(_YEAR.fullmatch, groups))
    digits = "".join(groups)
    is_short = len(digits) < _SHORTEST_NUMBER or max(map(len, groups)) <= _SCORE_DIGITS
    return "" if is_date or is_short else digits


_SHORTEST_NUMBER = 7  # digits; a number that counts something has separators, or is rounded
_SHORTEST_NAMED = 5  # digits; after "order" or the like
_SCORE_DIGITS = 2
_MIN_DIGITS = 3  # "GPT-4" and "COVID-19" are names, which a text may give in other words
_MIXED_LENGTH, _MIXED_DIGITS = 5, 2  # of a code such as "a1b2c"
_AMOUNT = re.compile(
    r"\d{1,4}[a-z]{1,4}|\d+[a-z]+(?-i:(?<=[a-z]))|\d+[cmk]?m[23]|\d{1,2}x\d+"
    rf"|\d+-\d+(?:{'|'.join(filter(str.isalpha, UNIT_NAMES))})|\d{{1,2}}-[a-z]{{3}}-\d{{2,4}}"
    r"|(?:usd|eur|gbp|chf|jpy|cad|aud|inr|us|rs)\d+|fy-?\d+|q[1-4]-?\d+|(?-i:[A-Z]?[a-z]{2,})(?:19|20)\d\d",
    re.IGNORECASE,
)


def _code_key(written: str) -> str:
    """Letters and digits of a code; "" for an amount, or words with a number."""
    if _AMOUNT.fullmatch(written):
        return ""
    key = re.sub(r"(?<=\d)s$", "", _squeezed(written))  # "A320s"
    digits = sum(map(str.isdigit, key))
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(key))
    is_mixed = len(key) >= _MIXED_LENGTH and digits >= _MIXED_DIGITS and changes > 1
    has_both = 0 < digits < len(key)
    return key if has_both and (digits >= _MIN_DIGITS or is_mixed) else ""


def _number_key(written: str) -> str:
    """The digits; "" for a number that may be rounded."""
    return "" if written.endswith("000") else written


class _Shape(NamedTuple):
    """How identifiers of a kind look, and how their key is read; "" where one is none.

    One of the `signs` is in every text that has one: most sentences need not be searched.
    """

    kind: IdentifierKind
    signs: re.Pattern[str]
    pattern: re.Pattern[str]
    key: Callable[[str], str]


def _shape(kind: IdentifierKind, signs: str, key: Callable[[str], str], *patterns: str) -> _Shape:
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    return _Shape(kind, re.compile(signs, re.IGNORECASE), pattern, key)


_NO_AMOUNT = r"(?![\w-]|[.,:/]\d|\s?%)"  # behind a short number
_SCALED = r"\s?(?:%|per\s?cent|(?:thousand|million|billion|trillion|mln|bn)\b)"
_HEX_PAIR, _HEX_FOUR = rf"{_HEX}{{2}}", rf"{_HEX}{{4}}"
# In this order: what stands in an earlier one is no part of a later one.
_SHAPES = (
    _shape(
        "url",
        r"/|www\.",
        _url_key,
        rf"(?:https?://|\bwww\.){_PATH}+",
        rf"(?<![\w@./-]){_HOST}/{_PATH}+",
    ),
    _shape("email", "@", str.casefold, rf"(?<![\w.+-])[\w.+-]+@{_HOST}"),
    _shape(
        "code",
        r"-\w{4}-",
        _squeezed,
        rf"(?<![\w-]){_HEX}{{8}}-(?:{_HEX_FOUR}-){{3}}{_HEX}{{12}}(?![\w-])",
    ),
    _shape(  # a MAC address
        "code",
        r"\w\w[:-]\w\w[:-]|\w{4}\.\w{4}\.",
        _squeezed,
        rf"(?<![\w:.-]){_HEX_PAIR}([:-])(?:{_HEX_PAIR}\1){{4}}{_HEX_PAIR}(?![\w:-])",
        rf"(?<![\w:.-])(?:{_HEX_FOUR}\.){{2}}{_HEX_FOUR}(?!\w|\.\w)",
    ),
    _shape(
        "ip", r":\w*:", _ip6_key, rf"(?<![\w:.])(?:{_HEX}{{0,4}}:){{2,7}}{_HEX}{{0,4}}(?![\w:])"
    ),
    _shape("ip", r"\d\.\d", _ip_key, r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)"),
    _shape(  # an IBAN
        "code",
        r"[a-z]\d\d",
        _squeezed,
        r"\b(?-i:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![\w-])",
        r"\b[a-z]{2}\d{2}(?: \d{4}){2,7}(?: \d{1,3})?(?![\w-])",
    ),
    _shape("code", "0x", _hex_key, rf"(?<!\w)0x{_HEX}+(?!\w)"),
    _shape(
        "phone",
        r"[+(]\s?\d|00[1-9]|\d[-. ]\d{3}[-. ]\d{4}",
        _phone_key,
        r"(?<![\w.,+])(?<!\d[ -])(?:\+\s?|00(?=[1-9]))"
        rf"\d(?:{_GAP}?(?:\(\d{{1,5}}\){_GAP}?)?\d){{6,16}}(?!\w)",
        rf"(?<![\w.])\(\d{{2,5}}\){_GAP}?\d(?:{_GAP}?\d){{4,10}}(?!\w)",
        r"(?<![\w.$€£-])(?:1-)?\d{3}([-. ])\d{3}\1\d{4}(?!\w|[-.]\d)",
    ),
    _shape(  # in groups of digits
        "number",
        r"\d[ -]\d",
        _digits_key,
        r"(?<![\w.,$€£-])(?:\d{4}(?:[ -]\d{4}){2,4}(?:[ -]\d{1,3})?|\d{4} \d{6} \d{5}"
        r"|\d+(?:-\d+){2,})(?![\w-]|[.,]\d)",
    ),
    _shape(
        "version",
        r"\d\.\d",
        _version_key,
        r"(?<![\w.,$€£-])(?:v\d+(?:\.\d+)+|\d{1,4}(?:\.\d{1,4}){2,})"
        r"(?:[-+.]?(?:rc|alpha|beta|dev|post|pre|[ab])[-.]?\d*)?(?!\w|\.\d)",
    ),
    _shape(
        "code",
        r"[a-z][-_]?\d|\d[-_]?[a-z]",
        _code_key,
        r"(?<![\w&$€£-])(?<!\d[.,])(?<!\w\.)(?=[a-z_-]*\d)[a-z0-9]+(?:[-_][a-z0-9]+)*(?!\w)",
    ),
    _shape("number", r"\d{3}", str, rf"(?<![\w.,$€£¥₹+-])\d{{3,6}}{_NO_AMOUNT}"),
    _shape(
        "number",
        r"\d{7}",
        _number_key,
        r"(?<![\w$€£¥₹])(?<!\d[.,:/-])(?<![$€£¥₹]\s)"
        rf"\d{{{_SHORTEST_NUMBER},}}(?!\w|[.,:/-]\d|{_SCALED})",
    ),
    # Nobody counts with so many digits, whatever stands beside them.
    _shape("number", r"\d{41}", str, r"(?<!\d)(?:\d+\.)?\d{41,}"),
)
_SIGN = re.compile(r"[\d@/:]")
_NEXT_WORD = re.compile(r"\s*([^\W\d_]+)")
_TRAILING = ".,;:!?)]}…"


def identifiers(text: str, dated: Collection[int] = ()) -> tuple[Identifier, ...]:
    """The identifiers of a text in order; `dated` are the character offsets that belong to dates.

    An identifier may have a date as a part of it, but is none.
    """
    if not _SIGN.search(text):
        return ()
    found: list[Identifier] = []
    taken: set[int] = set()
    for kind, signs, pattern, key_of in _SHAPES:
        for match in pattern.finditer(text) if signs.search(text) else ():
            start, end = _trimmed(text, match.start(), match.end(), kind)
            span = range(start, end)
            key = key_of(text[start:end]) if start < end else ""
            is_dated = bool(span) and all(at in dated or not text[at].isalnum() for at in span)
            is_one = kind != "number" or not _counts(text, start, end)
            if key and is_one and not is_dated and taken.isdisjoint(span):
                taken.update(span)
                found.append(Identifier(kind, key, start, end))
    return tuple(sorted(found, key=lambda one: one.start))


def _trimmed(text: str, start: int, end: int, kind: IdentifierKind) -> tuple[int, int]:
    """Without the full stop behind an address, and the words beside a code: `A320-based`."""
    if kind in ("url", "email"):
        return start, start + len(text[start:end].rstrip(_TRAILING))
    if kind != "code":
        return start, end
    parts = list(re.finditer(r"[^-_]+", text[start:end]))
    while parts and _is_word(parts[-1].group()):
        parts.pop()
    while parts and _is_word(parts[0].group()):
        parts.pop(0)
    return (start + parts[0].start(), start + parts[-1].end()) if parts else (end, end)


def _is_word(part: str) -> bool:
    """True for a word in small letters, with or without a capital: `day`, `Under`."""
    is_small = part.isalpha() and (part[1:] or part).islower()
    norm = part.lower()
    is_known = norm in _KNOWN_PARTS or vocabulary().is_common(stem(norm))
    return is_small and (is_known or len(part) > _LONGEST_LETTERS)


_LONGEST_LETTERS = 3  # of a part of a code in small letters
_KNOWN_PARTS = UNIT_NAMES | STOPWORDS | {"pre", "mid", "sub", "non", "top", "ex", "pro"}


def _counts(text: str, start: int, end: int) -> bool:
    """True for a number that counts: a long one with a unit, a short one without a label."""
    word = _NEXT_WORD.match(text, end)
    if word is not None and word[1].lower() in UNIT_NAMES:
        return True
    if end - start >= _SHORTEST_NUMBER:
        return False
    before = text[max(0, start - _LABEL_LENGTH) : start]
    is_named = end - start >= _SHORTEST_NAMED and _NAMED.search(before)
    return not is_named and not _LABELLED.search(before)


def spelling(one: Identifier) -> re.Pattern[str]:
    """What finds the identifier in a text with other separators, or beside other words."""
    if one.kind in ("url", "email", "ip", "version"):
        return re.compile(rf"(?<![\w.]){re.escape(one.key)}(?!\w|\.\d)", re.IGNORECASE)
    between = r"[\s().,\u2010-\u2015_/-]{0,3}"
    spelt = between.join(map(re.escape, one.key.lstrip("+")))
    # A code may have a part behind it, `A320-200`; of a number, all digits count.
    if one.has_letters:
        return re.compile(rf"(?<![^\W_]){spelt}(?![^\W_])", re.IGNORECASE)
    return re.compile(rf"(?<![^\W_])(?<!\d[ .-]){spelt}(?![^\W_]|[ .-]?\d)")


def keys(found: Iterable[Identifier]) -> Iterator[str]:
    """The keys, and with a dot those of the releases of versions: `2.31.` of `2.31.1`."""
    for one in found:
        yield one.key
        if one.kind == "version":
            parts = one.key.split(".")
            yield from (".".join(parts[:count]) + "." for count in range(2, len(parts)))


class LabelledCode(NamedTuple):
    """The short code in `text[start:end]` behind a word that says what it is: `seat 17C`."""

    label: str
    key: str
    start: int
    end: int


_CODED = (
    "code|coupon|voucher|reference|pin|pnr|seat|gate|platform|part|room|locker|form|plate|bus"
    "|train|tram|ticket|postcode|zip|flight|booking|version|release|firmware"
)
# Behind these, digits alone are a code as well.
_COUNTED = frozenset("pin seat gate platform room locker zip version release firmware".split())  # noqa: SIM905
_VERSIONS = frozenset(("version", "release", "firmware"))
_LABELLED_CODE = re.compile(
    rf"\b(?P<label>{_CODED})\s+(?:(?:number|no\.?|code|id|reference)\s+)?(?:is\s+|was\s+|[:#]\s*)?"
    r"(?P<code>(?=\w*(?-i:[\dA-Z]))[a-z0-9]+(?:[-.][a-z0-9]+)*(?:\s(?-i:[A-HJ-Z]|\d[A-Z]{2})(?!\w))?)(?![\w%])",
    re.IGNORECASE,
)
_DIALLED = re.compile(r"(?<![\w*#])[*#][\d*#]*\d[\d*#]*")  # "*21#"


def labelled_codes(text: str) -> tuple[LabelledCode, ...]:
    """The codes of a text that a word before them names, and those of a telephone's keys."""
    found = [
        LabelledCode("keys", match.group(), *match.span())
        for match in _DIALLED.finditer(text)
        if match.group()[0] == "*" or match.group()[-1] in "*#"
    ]
    for match in _LABELLED_CODE.finditer(text):
        label, code = match["label"].lower(), match["code"]
        has_digit = any(map(str.isdigit, code))
        has_letter = any(map(str.isalpha, code))
        is_word = not has_digit and (not code.isupper() or code.lower() in STOPWORDS)
        if is_word or (not has_letter and label not in _COUNTED):
            continue
        key = re.sub(r"(?:\.0+)+$", "", code.lower()) if label in _VERSIONS else _squeezed(code)
        found.append(LabelledCode(label, key, *match.span("code")))
    return tuple(found)


def is_code_in(code: LabelledCode, texts: Iterable[str]) -> bool:
    """True where a text has the code, however it is spaced, and not as a part of a longer one."""
    if code.label == "keys":
        spelt, behind = re.escape(code.key), r"(?![\d*#])"
    elif code.label in _VERSIONS:
        spelt, behind = re.escape(code.key), r"(?!\w)"  # "2.31" may be 2.31.1
    else:
        spelt = r"[\s.-]?".join(map(re.escape, code.key))
        behind = r"(?!\w|-\w|\s(?-i:[A-HJ-Z]|\d[A-Z]{2})(?!\w))"
    pattern = re.compile(rf"(?<![\w*#]){spelt}{behind}", re.IGNORECASE)
    return any(pattern.search(text) for text in texts)
